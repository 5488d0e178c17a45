r"""How much each user's data can tell: counts, radii, and the counts that the theory asks for.

Takes: counts, radii and settings.
Gives: histograms and curves as plain lists.
Paper: Assumption "delta-Sufficient Dataset"; Algorithm 1, line 2.
Next: `survey`.
"""

from typing import Any

import numpy as np

from coterie import theory
from coterie.confidence import IID, Confidence, Observed, Smoothed
from coterie.packed import FloatArray, unpack
from coterie.statistics import UserStatistics

_STEPS = 60
_BINS = 40


def count_histogram(count: FloatArray) -> dict[str, Any]:
    """Users by their counts, in bins of equal width on a logarithmic axis, those without data apart.

    >>> count_histogram(np.array([0.0, 1.0, 1.0, 100.0]))["none"]
    1
    """
    some = count[count > 0]
    low, high = (float(some.min()), float(some.max())) if some.size else (1.0, 1.0)
    edges = np.geomspace(low * 0.999, max(high, low * 1.1) * 1.001, _BINS + 1)
    if high - low < _BINS and np.all(some == np.floor(some)):
        edges = np.arange(low, high + 2) - 0.5
    users, _ = np.histogram(some, edges)
    return {"edges": edges.tolist(), "users": users.tolist(), "none": int(count.size - some.size)}


def seen_regularity(stats: UserStatistics, scale: float) -> float:
    r"""Smallest eigenvalue of the mean a a' of the log, in scaled units: lambda_a as far as data show it."""
    mean = stats.packed_gram.sum(axis=0) / max(stats.n_samples, 1.0) / scale**2
    return float(max(np.linalg.eigvalsh(unpack(mean))[0], 0.0))


def told_apart(stats: UserStatistics, radius: FloatArray, confidence: Confidence, scale: float) -> Any:
    r"""Share of users that could be told from others a distance gamma away, for many gamma.

    `seen` counts the users with 2 CI_u below gamma; `theory` those whose count is delta-sufficient for
    gamma, under the regularity of the fit, or where that assumes nothing, under the one that the log shows
    (`regularity`, told by `assumed`).
    """
    finite = radius[np.isfinite(radius)]
    if not finite.size:
        return None
    given = confidence.regularity
    assumed = isinstance(given, Smoothed | IID)
    value = float(given.value) if isinstance(given, Smoothed | IID) else seen_regularity(stats, scale)
    gaps = np.geomspace(max(2 * finite.min() * 0.7, 1e-3), max(4.0, 2.2 * float(np.median(finite))), _STEPS)
    seen = [float(np.mean(2 * radius < gap)) for gap in gaps]
    shares = None
    if value > 0 and not isinstance(confidence.noise, str):
        needed = [
            theory.sufficient_samples(
                stats.n_users, stats.dim, confidence.failure_prob, value, gap / max(confidence.noise, 1e-9)
            )
            for gap in gaps.tolist()
        ]
        shares = [float(np.mean(stats.count >= least)) for least in needed]
    return {"gap": gaps.tolist(), "seen": seen, "theory": shares, "regularity": value, "assumed": assumed}


def least_counts(stats: UserStatistics, confidence: Confidence) -> list[dict[str, Any]]:
    """Counts that mean something, to be marked on the axis of counts."""
    marks = [{"at": float(stats.dim), "name": f"{stats.dim}, the dimension"}]
    if not isinstance(confidence.regularity, Observed) and isinstance(confidence.regularity, Smoothed | IID):
        least = theory.min_samples(stats.n_users, stats.dim, confidence.failure_prob, confidence.regularity)
        marks.append({"at": least, "name": f"{least:,.0f}, the least that the theory asks for"})
    return marks


def deciles(count: FloatArray, pooled: FloatArray) -> list[dict[str, float]]:
    """Mean own and borrowed samples of each tenth of the users, from the least to the most own data."""
    order = np.argsort(count, kind="stable")
    return [
        {
            "low": float(count[part].min()),
            "high": float(count[part].max()),
            "own": float(count[part].mean()),
            "borrowed": float((pooled[part] - count[part]).mean()),
            "users": len(part),
        }
        for part in np.array_split(order, min(10, len(order)))
    ]
