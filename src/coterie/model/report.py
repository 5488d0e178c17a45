"""What a fit did, in a few sentences, and what it could not do.

Takes: pooled statistics, radii and settings.
Gives: a `FitReport`; among its notes the one that says when an algorithm did nothing.
Next: `model`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coterie.confidence import Confidence, multiplier
from coterie.statistics import UserStatistics

_MOST_SAMPLES = 1e15


@dataclass(frozen=True)
class FitReport:
    """What a fit did: `str(report)` is for people.

    `mean_pooled_users` averages over users; `n_groups` counts the distinct sets of lenders; `search`
    says how pairs were compared; `notes` are sentences that the reader should not miss.
    """

    algorithm: str
    n_users: int
    n_samples: float
    dim: int
    noise: float
    scale: float
    n_groups: int
    mean_pooled_users: float
    search: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """A few lines for a person."""
        first = (
            f"{self.algorithm}: {self.n_users} users, {self.n_samples:g} samples, {self.dim} coordinates, "
            f"noise {self.noise:.3g}; a user is served from {self.mean_pooled_users:.4g} on average, "
            f"{self.n_groups} distinct sets of lenders ({self.search} search)."
        )
        return "\n".join([first, *self.notes])


def nothing_done(everybody: bool, distance: float, needed: float, stats: UserStatistics) -> str:
    """The sentence for a graph that joins everybody, or nobody, most often because the radii are too wide."""
    what = (
        "No pair of users could be separated, so this equals pooling everybody"
        if everybody
        else "No pair of users could be joined, so this equals serving everybody alone"
    )
    when = f"at about {needed:,.0f} samples per user" if math.isfinite(needed) else "at no count"
    have = np.median(stats.count)
    if not everybody and have >= needed:
        return (
            f"{what}: not for the radii, which resolve the largest observed distance ({distance:.3g}) {when} "
            f"where users have {have:g} at the median, but for min_samples or the gap; explain a user to see "
            "which, and give a smaller min_samples or a larger gap as numbers."
        )
    more = "" if everybody else ", and a larger gap, given as a number, joins more users"
    return (
        f"{what}: the radii would resolve the largest observed distance ({distance:.3g}) {when}, and users "
        f'have {have:g} at the median; noise="estimate" or a smaller graph_scale narrows the radii{more}.'
    )


def count_resolving(
    distance: float, stats: UserStatistics, confidence: Confidence, graph_scale: float, scale: float
) -> float:
    r"""Samples per user N at which `2 alpha CI(N)` falls below a distance, infinity if it never does.

    Every user is taken to gather information at one rate per sample: under `Observed` that of the whole
    log, the smallest eigenvalue of sum(a a') over all users divided by the count.
    """
    total = stats.packed_gram.sum(axis=0, keepdims=True) / scale**2 / max(stats.n_samples, 1.0)

    def resolves(n: float) -> bool:
        information = confidence.regularity.information(total * n, np.array([n]), confidence.ridge)
        wide = multiplier(confidence, n, dim=stats.dim, n_users=stats.n_users)
        return bool(information[0] > 0 and 2 * graph_scale * wide < distance * math.sqrt(information[0]))

    return _least(resolves)


def _least(holds: Callable[[float], bool]) -> float:
    """Smallest whole number for which a growing condition holds, infinity beyond a limit."""
    high = 1.0
    while not holds(high):
        high *= 2
        if high > _MOST_SAMPLES:
            return math.inf
    low = high / 2
    while high - low > 1:
        middle = math.floor((low + high) / 2)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
