"""Fit from statistics, against the two matrix products that it cannot avoid.

The yardstick is theta @ theta.T and adjacency @ [packed Gram, moment, count], the adjacency already made
and already float64: what a fit would cost if everything but arithmetic on all pairs were free.
"""

import statistics
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.harness import Claim, Measurement, Result, Times, interleaved, measured, ratio

import coterie as ct
from coterie.confidence import estimate
from coterie.decision import PaperBeta, policy
from coterie.neighbourhood import EdgeRule, NotSeparated, WithinGap
from coterie.packed import smallest_eigenvalues
from coterie.pooling import Prior, PriorOnce, PriorPerUser, pool
from coterie.worlds import Synthetic

DIM, ROWS_PER_USER, CLUSTERS = 20, 500, 10
CLAIMED_USERS, CLAIMED_RATIO = 1000, 10
_FLOOR = "two matrix products"
_SETTINGS: dict[str, dict[str, Any]] = {
    "clusters": {"graph_scale": 0.3, "confidence": ct.Confidence(noise="estimate")},
    "printed constants": {"graph_scale": 1.0, "confidence": ct.Confidence()},
}


def run(*, quick: bool = False) -> Result:
    """Fits of both algorithms at three sizes, and their stages at the claimed one."""
    measurements: list[Measurement] = []
    claims: list[Claim] = []
    notes: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.CoterieWarning)  # the settings leave the paper's conditions
        for n_users in (100,) if quick else (300, CLAIMED_USERS, 3000):
            stats = statistics_of(n_users)
            fits = _fits(stats)
            times = interleaved({_FLOOR: floor(stats), **fits}, rounds=5 if quick else 15)
            measurements += measured(f"fit, {n_users:,} users", times, _FLOOR)
            if quick or n_users == CLAIMED_USERS:
                claims += _claims(times, n_users)
                measurements += _all_stages(stats, rounds=3 if quick else 9)
                notes.append(_groups(stats, n_users))
    sizes = {"d": DIM, "rows per user": ROWS_PER_USER, "clusters": CLUSTERS}
    return Result("fit", measurements, claims, sizes, tuple(notes))


def statistics_of(n_users: int) -> ct.UserStatistics:
    """Statistics of a synthetic log with equal clusters."""
    world = Synthetic(n_users=n_users, n_clusters=CLUSTERS, dim=DIM)
    return ct.summarize(world.draw(n_users * ROWS_PER_USER, rng=7).logs)


def floor(stats: ct.UserStatistics) -> Callable[[], object]:
    """The products alone; their time does not depend on the values."""
    n, rng = stats.n_users, np.random.default_rng(0)
    theta = rng.standard_normal((n, stats.dim))
    adjacency = (rng.random((n, n)) < 1 / CLUSTERS).astype(np.float64)
    columns = np.column_stack([stats.packed_gram, stats.moment, stats.count])
    return lambda: (theta @ theta.T, adjacency @ columns)


def _fits(stats: ct.UserStatistics) -> dict[str, Callable[[], object]]:
    fits: dict[str, Callable[[], object]] = {}
    for label, settings in _SETTINGS.items():
        for algorithm in (ct.OffCLUB(**settings), ct.OffC2LUB(**settings)):
            fits[f"{type(algorithm).__name__}, {label}"] = lambda algorithm=algorithm: algorithm.fit(stats)  # type: ignore[misc]
    return fits


def _claims(times: Times, n_users: int) -> list[Claim]:
    return [
        Claim(f"{name}, {n_users:,} users: times the two products", ratio(times, name, _FLOOR), CLAIMED_RATIO)
        for name in times
        if name != _FLOOR
    ]


def _groups(stats: ct.UserStatistics, n_users: int) -> str:
    """What the graphs look like, without which the times mean little."""
    parts = []
    for label, settings in _SETTINGS.items():
        for algorithm in (ct.OffCLUB(**settings), ct.OffC2LUB(**settings)):
            report = algorithm.fit(stats).report
            parts.append(
                f"{report.algorithm}, {label}: {report.mean_pooled_users:.4g} users pooled on average, "
                f"{report.n_groups} distinct sets of lenders"
            )
    return f"Graphs at {n_users:,} users: {'; '.join(parts)}."


def _all_stages(stats: ct.UserStatistics, rounds: int) -> list[Measurement]:
    found: list[Measurement] = []
    for label, settings in _SETTINGS.items():
        scale, confidence = settings["graph_scale"], settings["confidence"]
        found += _stages(
            f"stages of OffCLUB, {label}", stats, confidence, NotSeparated(scale), PriorOnce(), rounds
        )
        rule = WithinGap("over", scale)
        found += _stages(f"stages of OffC2LUB, {label}", stats, confidence, rule, PriorPerUser(), rounds)
    return found


def _stages(
    case: str, stats: ct.UserStatistics, given: ct.Confidence, rule: EdgeRule, prior: Prior, rounds: int
) -> list[Measurement]:
    """Seconds of each stage, made from the results of the stage before; ratios are shares of their sum."""
    confidence = given.resolved(stats)
    estimates = estimate(stats, confidence)
    neighbourhood = rule.connect(estimates)
    pooled = pool(stats, neighbourhood, 1.0)
    stages: dict[str, Callable[[], object]] = {
        "noise": lambda: given.resolved(stats),
        "estimate and radius": lambda: estimate(stats, confidence),
        "connect": lambda: rule.connect(estimates),
        "pool": lambda: pool(stats, neighbourhood, 1.0),
        "policy": lambda: policy(pooled, prior, confidence, stats.n_users, PaperBeta()),
    }
    times = interleaved(stages, rounds)
    together = sum(statistics.median(seconds) for seconds in times.values())
    eigenvalues = interleaved(
        {"(in estimate: eigenvalues)": lambda: smallest_eigenvalues(stats.packed_gram)}, rounds
    )
    return [
        Measurement(one.case, one.name, one.seconds, one.fastest, one.rounds, one.seconds / together)
        for one in measured(case, {**times, **eigenvalues})
    ]
