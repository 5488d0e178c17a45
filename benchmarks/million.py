"""A million users and twenty million rows, from Parquet files to a decision for everybody.

Two hundred groups of users with one preference each, at least 1 apart; every user saw each of 20 orthogonal
actions once, with noise 0.05. Files hold one row of every user, in random order. Off-CLUB, and Off-C2LUB,
which searches the gap of every user too. One process per algorithm; its peak memory is that of all stages.
Then a process per algorithm that does nothing but fit saved statistics, its peak against their size: also
`OffC2LUB` with under-estimated gaps, which joins hardly anybody here, so that every user has sums of her own.
"""

import json
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from benchmarks.harness import Claim, Measurement, Result, isolated

import coterie as ct

DIM, ROWS_PER_USER, NOISE, APART = 20, 20, 0.05, 1.0
_MOST_TIMES = 2.5
_FITS: dict[str, dict[str, Any]] = {"OffCLUB": {}, "OffC2LUB": {}, "OffC2LUB, under": {"gap": "under"}}
_NAMES = [f"f{k:02d}" for k in range(DIM)]


def run(*, quick: bool = False) -> Result:
    """Seconds of each stage and the peak of the process."""
    n_users, n_clusters = (5000, 10) if quick else (1_000_000, 200)
    measurements, claims, notes = list[Measurement](), list[Claim](), list[str]()
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        write_logs(folder, n_users, n_clusters)
        for name in ("OffCLUB", "OffC2LUB"):
            told = folder / f"{name}.json"
            peak = isolated(end_to_end, folder=str(folder), name=name, told=str(told))["peak_mb"]
            stages = json.loads(told.read_text())
            notes.append(f"{name}: {stages.pop('report')}")
            together = sum(stages.values())
            case = f"{name}, {n_users:,} users, {n_users * ROWS_PER_USER:,} rows"
            measurements += [Measurement(case, stage, s, s, 1, s / together) for stage, s in stages.items()]
            measurements.append(Measurement(case, "all", together, together, 1, 1.0, peak_mb=peak))
        size = isolated(save_statistics, folder=str(folder))["bytes"] / 2**20
        for name in _FITS:
            told = folder / "fit.json"
            peak = isolated(fit_alone, folder=str(folder), name=name, told=str(told))["peak_mb"]
            took = float(told.read_text())
            case = f"Fit of saved statistics of {size:,.0f} MB, {n_users:,} users"
            measurements.append(Measurement(case, name, took, took, 1, peak_mb=peak))
            if not quick:
                claims.append(Claim(f"fit, {name}: peak memory over statistics", peak / size, _MOST_TIMES))
    sizes = {"d": DIM, "clusters": n_clusters, "rows per user": ROWS_PER_USER}
    return Result("million", measurements, claims, sizes, tuple(notes))


def write_logs(folder: Path, n_users: int, n_clusters: int) -> None:
    """One file per action shown to a user, of float32 features."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(11)
    basis, _ = np.linalg.qr(rng.standard_normal((DIM, DIM)))
    theta = directions(rng, n_clusters)
    label = rng.integers(n_clusters, size=n_users)
    for shown in range(ROWS_PER_USER):
        user = rng.permutation(n_users)
        action = basis[(shown + user) % DIM]
        reward = (action * theta[label[user]]).sum(axis=1) + NOISE * rng.standard_normal(n_users)
        columns = {name: action[:, k].astype(np.float32) for k, name in enumerate(_NAMES)}
        table = pa.table({"user": user, **columns, "reward": reward.astype(np.float32)})
        parquet.write_table(
            table, folder / f"{shown:02d}.parquet", row_group_size=250_000, use_dictionary=False
        )


def directions(rng: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
    """Unit vectors of which no two are nearer than `APART`."""
    found = np.empty((0, DIM))
    while len(found) < n:
        one = rng.standard_normal(DIM)
        one /= np.linalg.norm(one)
        if not len(found) or np.linalg.norm(found - one, axis=1).min() >= APART:
            found = np.vstack([found, one])
    return found


def end_to_end(folder: str, name: str, told: str) -> None:
    """All stages in one process; seconds of each, and the report of the fit, as JSON."""
    algorithm = algorithm_of(name)
    actions = np.linalg.qr(np.random.default_rng(3).standard_normal((DIM, DIM)))[0]
    seconds = dict[str, float | str]()

    begin = time.perf_counter()
    stats = ct.summarize(logs_in(folder))
    summed = time.perf_counter()
    model = algorithm.fit(stats)
    fitted = time.perf_counter()
    model.decide_many(model.users, actions)
    seconds["Parquet to statistics"], seconds["fit"] = summed - begin, fitted - summed
    seconds["decide for everybody"] = time.perf_counter() - fitted
    seconds["report"] = str(model.report)
    Path(told).write_text(json.dumps(seconds))


def algorithm_of(name: str) -> Any:
    """An algorithm by its class and settings; graph_scale is below the paper's, which is warned about."""
    warnings.simplefilter("ignore", ct.CoterieWarning)
    confidence = ct.Confidence(noise=NOISE)
    return getattr(ct, name.partition(",")[0])(graph_scale=0.25, confidence=confidence, **_FITS[name])


def logs_in(folder: str) -> ct.Logs:
    """The files, lazily."""
    return ct.read_logs(f"{folder}/*.parquet", user="user", action=_NAMES, reward="reward")


def save_statistics(folder: str) -> dict[str, float]:
    """Size of the statistics, which go to a file."""
    stats = ct.summarize(logs_in(folder))
    stats.save(f"{folder}/statistics")
    arrays = (stats.users, stats.count, stats.moment, stats.packed_gram, stats.reward_square, stats.longest)
    return {"numbers": 1, "bytes": float(sum(array.nbytes for array in arrays))}


def fit_alone(folder: str, name: str, told: str) -> None:
    """Seconds of a fit of saved statistics, in a process that does nothing else."""
    begin = time.perf_counter()
    algorithm_of(name).fit(ct.UserStatistics.load(f"{folder}/statistics"))
    Path(told).write_text(str(time.perf_counter() - begin))
