r"""CLUB's graph: pairs that the online literature's radius does not tell apart, and its connected components.

Takes: `Estimates`, or the rows of a log in order.
Gives: a `SameLabel` neighbourhood: who can be reached from whom.
Paper: the CLUB baseline of the experiments; Gentile, Li and Zappella 2014, "Online clustering of bandits".
Next: `coterie.pooling`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.confidence import Estimates
from coterie.logs import Logs
from coterie.neighbourhood.metric import Metric
from coterie.neighbourhood.neighbourhood import IntArray, Neighbourhood, SameLabel
from coterie.neighbourhood.rules import EdgeRule
from coterie.packed import FloatArray
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics

_PAIRS_AT_A_TIME = 1 << 20


class Rows(NamedTuple):
    """Rows of a log: row of the user (B,), action (B, d) in scaled units, reward (B,), weight (B,)."""

    user: IntArray
    action: FloatArray
    reward: FloatArray
    weight: FloatArray


@dataclass(frozen=True)
class WithinOnlineRadius:
    r"""Pairs within the online literature's radius, which depends on the counts alone.

    .. math:: \text{delete } (u, v) \iff \|\hat\theta_u - \hat\theta_v\| > \alpha (f(N_u) + f(N_v))
    """

    graph_scale: float

    def connect(self, estimates: Estimates, progress: Progress = silent) -> Neighbourhood:  # noqa: ARG002
        """Pairs whose edge stays; a user never seen has estimate 0 and count 0."""
        slack = -self.graph_scale * online_radius(np.append(estimates.count, 0.0))
        theta = np.vstack([estimates.theta, np.zeros((1, estimates.theta.shape[1]))])
        return Metric(theta, slack, np.zeros_like(slack), strict=False)


@dataclass(frozen=True)
class ConnectedComponents:
    """Users between whom there is a path of another rule's edges, whatever their direction.

    Examples
    --------
    >>> at = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> chain = Estimates(at, np.full(4, 0.5), np.ones(4), 1.0, 0.0)
    >>> from coterie.neighbourhood.rules import NotSeparated
    >>> ConnectedComponents(NotSeparated(1.0)).connect(chain).labels.tolist()
    [0, 0, 0, 1]
    """

    rule: EdgeRule

    def connect(self, estimates: Estimates, progress: Progress = silent) -> SameLabel:
        """One label per component."""
        return SameLabel(component_labels(self.rule.connect(estimates, progress), progress))


@dataclass(frozen=True, eq=False)
class ReplayedDeletion:
    r"""Components of the graph that is left when edges are deleted row by row, as CLUB does online.

    After each row of user u, every edge (u, v) that is left is deleted if

    .. math:: \|\hat\theta_u - \hat\theta_v\| > \alpha (f(N_u) + f(N_v))

    with the estimates of that moment, and stays deleted. A row of weight w counts as w rows. The graph
    is kept whole: a byte per pair of users.
    """

    rows: Iterator[Rows]
    graph_scale: float
    ridge: float

    def connect(self, estimates: Estimates, progress: Progress = silent) -> SameLabel:
        """One label per component of what is left after the last row."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        from coterie.neighbourhood import _kernels

        n, dim = estimates.theta.shape
        edges = ~np.eye(n, dtype=np.bool_)
        count, moment, theta = np.zeros(n), np.zeros((n, dim)), np.zeros((n, dim))
        gram = np.zeros((n, dim, dim))
        done = 0
        for rows in self.rows:
            _kernels.delete_edges(*rows, self.graph_scale, self.ridge, count, moment, gram, theta, edges)
            done += len(rows.user)
            progress("replaying", done, None)
        return SameLabel(connected_components(csr_array(edges), directed=False)[1].astype(np.int64))


def online_radius(count: FloatArray) -> FloatArray:
    r"""Radius of an estimate from so many samples, up to the factor alpha.

    .. math:: f(N) = \sqrt{\frac{1 + \ln(1 + N)}{1 + N}}

    >>> online_radius(np.array([0.0, np.e - 1])).round(4).tolist()
    [1.0, 0.8578]
    """
    return np.asarray(np.sqrt((1 + np.log1p(count)) / (1 + count)))


def component_labels(neighbourhood: Neighbourhood, progress: Progress = silent) -> IntArray:
    """Component (U,) of each user, numbered by its first user.

    The edges of many users are gathered, then their ends get one label; nothing of the size of the
    whole graph is held.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = neighbourhood.n_users
    labels = np.arange(n)
    step = max(1, _PAIRS_AT_A_TIME // max(1, n))
    for start in range(0, n, step):
        users = np.arange(start, min(start + step, n))
        borrower, lender = np.nonzero(_lenders(neighbourhood, users))
        ends = labels[users[borrower]], labels[lender]
        graph = coo_array((np.ones(len(borrower), dtype=np.int8), ends), shape=(n, n))
        labels = connected_components(graph, directed=False)[1][labels].astype(np.int64)
        progress("finding components", int(users[-1]) + 1, n)
    first, inverse = np.unique(labels, return_index=True, return_inverse=True)[1:]
    return np.asarray(np.argsort(np.argsort(first))[inverse], dtype=np.int64)


def _lenders(neighbourhood: Neighbourhood, users: IntArray) -> NDArray[np.bool_]:
    """Who lends (b, U) to these users."""
    if isinstance(neighbourhood, Metric):
        return neighbourhood.lenders(users)
    return np.array([neighbourhood.trace(int(user)).lends for user in users])


def rows_in_order(logs: Logs, stats: UserStatistics, scale: float) -> Iterator[Rows]:
    """Rows of a log in its order, actions divided by `scale`, users by their row in the statistics."""
    for batch in logs.batches():
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        action = np.ascontiguousarray(batch.action) / scale
        yield Rows(
            stats.index.rows(batch.users),
            action,
            np.ascontiguousarray(batch.reward, dtype=np.float64),
            np.ascontiguousarray(weight, dtype=np.float64),
        )
