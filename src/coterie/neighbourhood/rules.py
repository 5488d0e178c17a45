r"""Stage 4, neighbourhood: the rules that say who may lend to whom.

Takes: `Estimates` (theta-hat, CI, counts).
Gives: a `Neighbourhood`.
Paper: Algorithm 2, line 5 (`NotSeparated`); Algorithm 1, line 5 and the gap policies (`WithinGap`).
Next: `coterie.pooling`.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from coterie.confidence import Estimates
from coterie.neighbourhood.distances import blocks
from coterie.neighbourhood.gaps import GapPolicy, global_gap, own_gaps
from coterie.neighbourhood.metric import Metric
from coterie.neighbourhood.neighbourhood import Alone, Everybody, IntArray, Neighbourhood, SameLabel
from coterie.packed import FloatArray
from coterie.progress import Progress, silent

Sharing = Literal["own", "mutual", "global"]


class EdgeRule(Protocol):
    """A rule that turns estimates into a neighbourhood."""

    def connect(self, estimates: Estimates, progress: Progress = silent) -> Neighbourhood:
        """Who lends to whom."""


@dataclass(frozen=True)
class JoinEverybody:
    """Every user lends to every user."""

    def connect(self, estimates: Estimates, progress: Progress = silent) -> Neighbourhood:  # noqa: ARG002
        """The complete graph."""
        return Everybody(len(estimates.count))


@dataclass(frozen=True)
class JoinNobody:
    """Every user is alone."""

    def connect(self, estimates: Estimates, progress: Progress = silent) -> Neighbourhood:  # noqa: ARG002
        """The graph without edges."""
        return Alone(len(estimates.count))


@dataclass(frozen=True, eq=False)
class JoinLabelled:
    """Users with one label, told from outside, lend to each other."""

    labels: IntArray

    def connect(self, estimates: Estimates, progress: Progress = silent) -> Neighbourhood:  # noqa: ARG002
        """A clique per label."""
        return SameLabel(self.labels)


@dataclass(frozen=True)
class NotSeparated:
    r"""Off-CLUB: start from all pairs, drop those provably different.

    .. math:: \text{remove } (u, v) \iff \|\hat\theta_u - \hat\theta_v\| > \alpha (CI_u + CI_v)
    """

    graph_scale: float

    def connect(self, estimates: Estimates, progress: Progress = silent) -> Neighbourhood:  # noqa: ARG002
        """Pairs that are not separated (Algorithm 2, line 5)."""
        slack = _slack(self.graph_scale, estimates)
        return Metric(_with_unseen(estimates.theta), -slack, np.zeros_like(slack), strict=False)


@dataclass(frozen=True)
class WithinGap:
    r"""Off-C2LUB: start from no pair, join those provably within the gap.

    .. math:: \|\hat\theta_u - \hat\theta_v\| < \hat\gamma - \alpha (CI_u + CI_v)
        \text{ and } \min(N_u, N_v) \ge N_{\min}

    The gap belongs to the user being served (`sharing="own"`), must suffice on both ends ("mutual"), or
    is the smallest one that any user has ("global").
    """

    gap: float | GapPolicy
    graph_scale: float
    sharing: Sharing = "own"
    min_samples: float | Literal["theory"] = "theory"

    def connect(self, estimates: Estimates, progress: Progress = silent) -> Neighbourhood:
        """Pairs that are within the gap (Algorithm 1, line 5)."""
        slack, theta = _slack(self.graph_scale, estimates), _with_unseen(estimates.theta)
        gap = self._gaps(theta, slack, progress)
        enough = estimates.min_samples if self.min_samples == "theory" else self.min_samples
        short = np.append(estimates.count, 0.0) < enough
        return Metric(
            theta, np.where(short, np.inf, slack), gap, strict=True, mutual=self.sharing == "mutual"
        )

    def _gaps(self, theta: FloatArray, slack: FloatArray, progress: Progress) -> FloatArray:
        if not isinstance(self.gap, str):
            return np.full(len(theta), float(self.gap))
        gaps = own_gaps(theta, slack, theta[:-1], slack[:-1], self.gap, progress)
        return np.full(len(theta), global_gap(gaps[:-1])) if self.sharing == "global" else gaps


def left_sides(estimates: Estimates, graph_scale: float, most: int) -> FloatArray:
    """Distances with both radii of all pairs among up to `most` users, ascending: what gaps are held against.

    Users are taken at even steps in the order of their estimates, so that their order does not matter;
    pairs with an infinite radius, which no gap joins, are infinite.
    """
    slack, order = _slack(graph_scale, estimates)[:-1], np.lexsort(estimates.theta.T[::-1])
    some = order[np.unique(np.linspace(0, len(order) - 1, min(most, len(order))).astype(np.int64))]
    sides = [
        distance + (slack[some][rows, np.newaxis] + slack[some])
        for rows, distance in blocks(estimates.theta[some], estimates.theta[some])
    ]
    return np.sort(np.concatenate(sides)[np.triu_indices(len(some), 1)])


def _with_unseen(theta: FloatArray) -> FloatArray:
    """Points of all users and of one without data, whose estimate is 0."""
    return np.vstack([theta, np.zeros((1, theta.shape[1]))])


def _slack(graph_scale: float, estimates: Estimates) -> FloatArray:
    """Alpha CI of all users and of one without data; an infinite radius stays so at alpha = 0."""
    radius = np.append(estimates.radius, estimates.empty_radius)
    return np.where(np.isinf(radius), np.inf, graph_scale * np.where(np.isinf(radius), 0.0, radius))
