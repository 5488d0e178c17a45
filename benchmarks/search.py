"""Search and pooling, from estimates to pooled sums, against comparing all pairs and against scikit-learn.

Users stand in Gaussian clusters around random directions; the threshold is such that the largest distance
inside a cluster is 40 %, 95 % or 160 % of it, or there is no cluster at all and half of all pairs are joined.
The dense way takes float32 distances by one matrix product per block of 1,024 by 4,096 pairs, compares, and
multiplies with the columns, BLAS on all cores; above 20,000 users a part of its blocks is timed and the time
scaled up. scikit-learn's ball tree finds neighbours on all cores, and a sparse matrix adds up.
"""

import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from benchmarks.harness import Claim, Measurement, Result, interleaved, isolated, ratio

from coterie.neighbourhood import Metric
from coterie.neighbourhood.distances import DENSE_BELOW
from coterie.neighbourhood.neighbourhood import Groups
from coterie.progress import silent

DIM, SPREAD, PER_CLUSTER = 20, 0.01, 1000
CASES = {"40 %": 0.4, "95 %": 0.95, "160 %": 1.6, "no clusters": None}
_LEAST = {"40 %": 100.0, "95 %": 30.0, "160 %": 2.0, "no clusters": 1 / 1.2}
_WHOLE_DENSE, _BLOCKS_TIMED = 20_000, 10
_MOST_SKLEARN = 5000
_ENOUGH = 2.0  # seconds: what takes longer is run once
_CLAIMED = 100_000

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """Estimates, the threshold, and columns to add up: count, moment and packed Gram."""

    theta: Floats
    threshold: float
    columns: tuple[Floats, Floats, Floats]


def run(*, quick: bool = False) -> Result:
    """Every size and case; the million in a process of its own."""
    sizes = (1000, 2000) if quick else (1000, 5000, 20_000, _CLAIMED)
    measurements, claims, growths = list[Measurement](), list[Claim](), list[str]()
    for label in CASES:
        seconds = dict[int, float]()
        for n_users in sizes:
            found, took = _compared(label, n_users)
            measurements += found
            seconds[n_users] = took
            if n_users == (sizes[-1] if quick else _CLAIMED):
                faster = found[1].seconds / found[0].seconds
                text = f"{n_users:,} users, {label}: times faster than dense BLAS"
                claims.append(Claim(text, faster, _LEAST[label], at_least=True))
        low, high = sizes[-2], sizes[-1]
        growth = math.log(seconds[high] / seconds[low]) / math.log(high / low)
        growths.append(f"{label} {growth:.2f}")
    if not quick:
        with tempfile.TemporaryDirectory() as held:
            told = Path(held) / "seconds"
            peak = isolated(million, told=str(told))["peak_mb"]
            seconds_of_all = float(told.read_text())
        title, name = "1,000,000 users, 200 clusters, 95 %", "this search"
        measurements.append(Measurement(title, name, seconds_of_all, seconds_of_all, 1, peak_mb=peak))
        claims.append(Claim("1,000,000 users at 95 %: seconds", seconds_of_all, 30))
        claims.append(Claim("1,000,000 users at 95 %: peak GiB", peak / 1024, 6))
    note = f"Growth exponents of the search from {sizes[-2]:,} to {sizes[-1]:,} users: {', '.join(growths)}."
    notes = (note, crossover((500, 1000) if quick else (500, 1000, 1500, 2000)))
    return Result("search", measurements, claims, {"d": DIM, "users per cluster": PER_CLUSTER}, notes)


def crossover(sizes: tuple[int, ...]) -> str:
    """How much faster than comparing all pairs the tree is, below and above the size where it takes over."""
    found = [
        f"{label} {n_users:,} users {_times_faster(case_of(label, n_users)):.2g}"
        for label in ("95 %", "no clusters")
        for n_users in sizes
    ]
    return (
        f"All pairs are compared below {DENSE_BELOW:,} users. How many times faster the tree is than that: "
        f"{', '.join(found)}."
    )


def _times_faster(case: Case) -> float:
    """The library's tree against its comparing all pairs."""
    hood = hood_of(case)
    ways = {
        "all": lambda: hood._dense(case.columns, silent),
        "tree": lambda: hood._by_tree(case.columns, silent, None),
    }
    return ratio(interleaved(ways, rounds=7), "all", "tree")


def case_of(label: str, n_users: int, n_clusters: int | None = None) -> Case:
    """Clusters around random directions, or points without any; the threshold by the widest."""
    rng, ratio = np.random.default_rng(7), CASES[label]
    if ratio is None:
        theta = SPREAD * rng.standard_normal((n_users, DIM))
        threshold = SPREAD * math.sqrt(2 * DIM)
    else:
        centres = rng.standard_normal((n_clusters or max(1, n_users // PER_CLUSTER), DIM))
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        label_of = rng.integers(len(centres), size=n_users)
        theta = centres[label_of] + SPREAD * rng.standard_normal((n_users, DIM))
        threshold = max(_width(theta[label_of == c]) for c in range(len(centres))) / ratio
    columns = (rng.random(n_users), rng.random((n_users, DIM)), rng.random((n_users, DIM * (DIM + 1) // 2)))
    return Case(theta, threshold, columns)


def _width(members: Floats) -> float:
    """Largest distance inside a cluster: between those who are among its outermost."""
    away = np.linalg.norm(members - members.mean(axis=0), axis=1)
    outer = members[np.argsort(away)[-500:]]
    squares = (outer**2).sum(axis=1)
    return math.sqrt(float(np.max(squares[:, np.newaxis] + squares - 2 * outer @ outer.T)))


def hood_of(case: Case) -> Metric:
    """Every radius a quarter of the threshold, every gap one and a half."""
    n = len(case.theta)
    theta, radius = np.vstack([case.theta, np.zeros((1, DIM))]), np.full(n + 1, case.threshold / 4)
    return Metric(theta, radius, np.full(n + 1, 1.5 * case.threshold), strict=True)


def ours(case: Case) -> Groups:
    """The library's search."""
    return hood_of(case).groups(case.columns)


def dense(case: Case) -> float:
    """Seconds of all pairs in cache-sized blocks; of some blocks, scaled, where there are many."""
    n, rows, step = len(case.theta), 1024, 4096
    theta = (case.theta - case.theta.mean(axis=0)).astype(np.float32)
    squares = (theta**2).sum(axis=1)
    columns = np.column_stack(case.columns)
    starts = list(range(0, n, rows))
    timed = starts if n <= _WHOLE_DENSE else starts[:: max(1, len(starts) // _BLOCKS_TIMED)]
    begin = time.perf_counter()
    for start in timed:
        part = slice(start, start + rows)
        total, count = np.zeros((len(theta[part]), columns.shape[1])), np.zeros(len(theta[part]))
        for at in range(0, n, step):
            other = slice(at, at + step)
            square = theta[part] @ theta[other].T
            square *= -2
            square += squares[part, np.newaxis]
            square += squares[other]
            lends = (square < case.threshold**2).astype(np.float64)
            total += lends @ columns[other]
            count += lends.sum(axis=1)
    return (time.perf_counter() - begin) * len(starts) / len(timed)


def scikit(case: Case) -> object:
    """`NearestNeighbors(radius)`, then a sparse product."""
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(radius=case.threshold, algorithm="ball_tree", n_jobs=-1).fit(case.theta)
    graph = found.radius_neighbors_graph(case.theta, mode="connectivity")
    return graph @ np.column_stack(case.columns)


def million(told: str) -> None:
    """Seconds for a million users in 200 clusters, in a process whose memory is watched."""
    ours(case_of("95 %", 2000))  # loads what is compiled
    case = case_of("95 %", 1_000_000, 200)
    Path(told).write_text(str(_seconds(lambda: ours(case))))


def _compared(label: str, n_users: int) -> tuple[list[Measurement], float]:
    """The search, the dense way and, up to a size, scikit-learn; ratios are to the first."""
    case = case_of(label, n_users)
    small = case_of(label, 2000)
    for way in (ours, dense, scikit):
        way(small)  # compiled and imported before it is timed
    times = [_seconds(lambda: ours(case))]
    while sum(times) < _ENOUGH and len(times) < 5:
        times.append(_seconds(lambda: ours(case)))
    mine = min(times)
    others = {"dense BLAS": dense(case)}
    if n_users <= _MOST_SKLEARN:
        others["scikit-learn"] = _seconds(lambda: scikit(case))
    title = f"{n_users:,} users, {label}"
    found = [Measurement(title, "this search", mine, mine, len(times), 1.0)]
    found += [Measurement(title, name, took, took, 1, took / mine) for name, took in others.items()]
    return found, mine


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
