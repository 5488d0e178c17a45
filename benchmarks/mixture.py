"""How long it takes to learn a mixture: 1,000 users of the paper's worlds, and a million users.

The worlds are those of `python -m coterie.experiments.mixture`, with ratings from the folder that
COTERIE_DATA names, or a stand-in where there are none. A million users have 20 rows each of 20 coordinates,
in 200 exact clusters or each with a vector of her own, drawn from two broad groups; a process each, which
makes the statistics first, so that its peak is of these and the fit.
"""

import os
import time
import warnings
from typing import Any

import numpy as np
from benchmarks.harness import Claim, Measurement, Result, interleaved, isolated, measured

import coterie as ct
from coterie.experiments.datasets import file_of, world_of
from coterie.experiments.methods import Training
from coterie.experiments.mixture import cells

DIM, ROWS, NOISE, CLUSTERS = 20, 20, 0.05, 200
_AT_ONCE, _MINUTES, _GIB = 3.0, 5.0, 8.0
_PART = 20_000  # users whose rows are drawn at a time


def run(*, quick: bool = False) -> Result:
    """Seconds of fits, and of the million with its peak memory."""
    warnings.simplefilter("ignore")
    sizes = (5_000,) if quick else (5_000, 20_000, 60_000)
    folder = os.environ.get("COTERIE_DATA")
    measurements, claims = list[Measurement](), list[Claim]()
    rated = tuple(name for name in ("movielens", "yelp") if file_of(name, folder))
    for dataset in ("synthetic", *(rated or ("stand-in",))):
        trained = {size: training(dataset, size, folder) for size in sizes}
        fits = {f"D = {size:,}": _fit(one) for size, one in trained.items()}
        times = interleaved(fits, 1 if quick else 3)
        measurements += measured(f"Mixture, 1,000 users, {dataset}", times)
        slowest = max(sorted(seconds)[len(seconds) // 2] for seconds in times.values())
        claims.append(Claim(f"{dataset}, 1,000 users: seconds of the slowest fit", slowest, _AT_ONCE))
    n_users = 2_000 if quick else 1_000_000
    for name in ("clusters", "scattered"):
        seen = isolated(fit_many, name=name, n_users=n_users)
        case = f"Mixture, {n_users:,} users, d = {DIM}"
        measurements.append(
            Measurement(case, name, seen["numbers"], seen["numbers"], 1, peak_mb=seen["peak_mb"])
        )
        claims += [
            Claim(f"{n_users:,} users, {name}: minutes of the fit", seen["numbers"] / 60, _MINUTES),
            Claim(f"{n_users:,} users, {name}: GiB of the process", seen["peak_mb"] / 1024, _GIB),
        ]
    settings: dict[str, Any] = {
        "d": DIM,
        "rows per user of a million": ROWS,
        "clusters of a million": CLUSTERS,
    }
    settings["ratings"] = ", ".join(rated) or "a stand-in"
    return Result("mixture", measurements, claims, settings)


def training(dataset: str, size: int, folder: str | None) -> Training:
    """The log of the first seed."""
    (cell,) = cells((dataset,), (size,), 1, "equal")
    world = world_of(cell, folder)
    rng = np.random.default_rng([*cell.entropy, 0])
    probabilities = world.service.probabilities(world.truth, rng)
    found = Training(world.draw(cell.size // 2, rng, probabilities), cell.preset)
    assert found.stats.dim == DIM
    return found


def _fit(trained: Training) -> Any:
    return lambda: ct.Mixture(bonus=ct.Bonus(sign=0)).fit(trained.stats)


def fit_many(name: str, n_users: int) -> dict[str, float]:
    """Seconds of one fit."""
    warnings.simplefilter("ignore")
    stats = many(name, n_users)
    start = time.perf_counter()
    model = ct.Mixture(bonus=ct.Bonus(sign=0)).fit(stats)
    seconds = time.perf_counter() - start
    assert len(model.users) == n_users
    return {"numbers": seconds}


def many(name: str, n_users: int) -> ct.UserStatistics:
    """Statistics of that many users, a part at a time."""
    rng = np.random.default_rng(5)
    centre = rng.standard_normal((CLUSTERS if name == "clusters" else 2, DIM)) / np.sqrt(DIM)
    spread = 0.0 if name == "clusters" else 0.15
    lower = np.tril_indices(DIM)
    gram, moment = np.empty((n_users, len(lower[0]))), np.empty((n_users, DIM))
    square = np.empty(n_users)
    for start in range(0, n_users, _PART):
        part = slice(start, min(start + _PART, n_users))
        n = part.stop - start
        theta = centre[rng.integers(len(centre), size=n)] + spread * rng.standard_normal((n, DIM))
        action = rng.standard_normal((n, ROWS, DIM))
        action /= np.linalg.norm(action, axis=2, keepdims=True)
        reward = (action @ theta[:, :, np.newaxis])[:, :, 0] + NOISE * rng.standard_normal((n, ROWS))
        moment[part] = (reward[:, np.newaxis] @ action)[:, 0]
        gram[part] = (action.swapaxes(1, 2) @ action)[:, *lower]
        square[part] = (reward**2).sum(axis=1)
    count = np.full(n_users, float(ROWS))
    return ct.UserStatistics.from_arrays(
        users=np.arange(n_users), count=count, moment=moment, gram=gram, reward_square=square
    )
