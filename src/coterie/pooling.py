r"""Stage 5, pooling: the statistics that every user is served from.

Takes: `UserStatistics` and a `Neighbourhood`.
Gives: `PooledStatistics`: one row per group of users with the same lenders, in scaled units.
Paper: M-tilde, b-tilde, N-tilde and n-tilde (Algorithm 1, line 9; Algorithm 2, lines 9 and 10).
Next: `coterie.decision`.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from coterie.neighbourhood import Neighbourhood
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics


@dataclass(frozen=True, eq=False)
class PooledStatistics:
    """Sums over lenders: `group` (U + 1,) names each user's row, the last being a user never seen."""

    group: IntArray
    count: FloatArray
    moment: FloatArray
    packed_gram: FloatArray
    n_pooled: FloatArray
    largest_distance: float
    search: str


class Prior(Protocol):
    """How often the ridge prior lambda I is added to a pooled Gram."""

    def times(self, n_pooled: FloatArray) -> FloatArray:
        """Number of priors for groups of so many users."""


@dataclass(frozen=True)
class PriorOnce:
    """Once, however many users are pooled: lambda I (Algorithm 2, line 10)."""

    def times(self, n_pooled: FloatArray) -> FloatArray:
        """One."""
        return np.ones_like(n_pooled)


@dataclass(frozen=True)
class PriorPerUser:
    """Once for each user pooled: lambda n I (Algorithm 1, line 9)."""

    def times(self, n_pooled: FloatArray) -> FloatArray:
        """As many as there are users."""
        return n_pooled


def pool(
    stats: UserStatistics, neighbourhood: Neighbourhood, scale: float, progress: Progress = silent
) -> PooledStatistics:
    r"""Sums of every user's lenders, actions divided by `scale`.

    .. math:: \tilde N_u = \sum_v N_v, \quad \tilde b_u = \sum_v b_v, \quad \sum_v \sum_i a_v^i (a_v^i)'
    """
    groups = neighbourhood.groups((stats.count, stats.moment, stats.packed_gram), progress)
    count, moment, gram = groups.sums
    if scale != 1:
        moment /= scale
        gram /= scale**2
    return PooledStatistics(
        groups.group, count, moment, gram, groups.n_pooled, groups.largest_distance, groups.search
    )
