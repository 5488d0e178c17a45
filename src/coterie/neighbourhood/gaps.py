r"""The gap policies: how near two users must be, told from the users that are provably apart.

Takes: estimates and the slack alpha CI of every user.
Gives: one gap per user.
Paper: the definitions of Gamma, Gamma-tilde and M(u), and the two policies for gamma-hat.
Next: `rules`, which turns gaps into edges.
"""

from typing import Literal

import numpy as np

from coterie.neighbourhood.distances import DENSE_BELOW, blocks
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.neighbourhood.search.asked import Asked, everybody_in, shared_out, tiles
from coterie.neighbourhood.tree import ball_tree
from coterie.packed import FloatArray
from coterie.progress import Progress, silent

GapPolicy = Literal["under", "over"]


def own_gaps(
    queries: FloatArray,
    query_slack: FloatArray,
    points: FloatArray,
    slack: FloatArray,
    policy: GapPolicy,
    progress: Progress = silent,
    *,
    threads: int | None = None,
) -> FloatArray:
    r"""Gap of each query, 0 where nobody is provably apart from it.

    .. math::
        \Gamma(u, v) = \|\hat\theta_u - \hat\theta_v\| - \alpha (CI_u + CI_v), \quad
        \tilde\Gamma(u, v) = \|\hat\theta_u - \hat\theta_v\| + \alpha (CI_u + CI_v), \quad
        M(u) = \{v \ne u : \Gamma(u, v) > 0\}

    Under-estimation takes the least Gamma over M(u), over-estimation the least Gamma-tilde. The first
    `len(points)` queries are the points themselves; a query after them is somebody else.

    Examples
    --------
    >>> at, slack = np.array([[0.0], [1.0]]), np.array([0.1, 0.1])
    >>> own_gaps(at, slack, at, slack, "under"), own_gaps(at, slack, at, slack, "over")
    (array([0.8, 0.8]), array([1.2, 1.2]))
    """
    if len(points) >= DENSE_BELOW and not (slack == -np.inf).any():
        return _gaps_by_tree(queries, query_slack, points, slack, policy, progress, threads)
    gaps = np.zeros(len(queries))
    for rows, distance in blocks(queries, points):
        both = query_slack[rows, np.newaxis] + slack
        itself = rows[:, np.newaxis] == np.arange(len(points))
        separated = (distance - both > 0) & ~itself
        value = distance - both if policy == "under" else distance + both
        least = np.min(value, axis=1, where=separated, initial=np.inf)
        gaps[rows] = np.where(separated.any(axis=1), least, 0.0)
        progress("choosing gaps", int(rows[-1]) + 1, len(queries))
    return gaps


def _gaps_by_tree(
    queries: FloatArray,
    query_slack: FloatArray,
    points: FloatArray,
    slack: FloatArray,
    policy: GapPolicy,
    progress: Progress,
    threads: int | None,
) -> FloatArray:
    """The same numbers by branch and bound; users with an infinite radius are apart from nobody."""
    from coterie.neighbourhood.apart import _kernels

    n, gaps = len(points), np.zeros(len(queries))
    finite = np.flatnonzero(np.isfinite(slack))
    if not len(finite):
        return gaps
    tree = ball_tree(points[finite], -slack[finite], np.zeros(len(finite)), rows=finite)
    others = n + np.flatnonzero(np.isfinite(query_slack[n:]))
    groups = (
        (tree.order, everybody_in(tree), tiles(tree.start[tree.leaves], tree.stop[tree.leaves])),
        (others, Asked(queries[others], -query_slack[others], np.zeros(len(others))),
         tiles(np.arange(len(others)), np.arange(len(others)) + 1)),
    )  # fmt: skip
    for rows, asked, parts in groups:
        best = np.empty(len(rows))
        itself = np.arange(len(rows)) if rows is tree.order else np.full(len(rows), -1)

        def some(
            begin: IntArray,
            end: IntArray,
            asked: Asked = asked,
            itself: IntArray = itself,
            best: FloatArray = best,
        ) -> None:
            _kernels.nearest_apart(tree, asked, itself, begin, end, policy == "under", best)

        if len(rows):
            shared_out(some, *parts, "choosing gaps", progress, threads)
        gaps[rows] = np.where(np.isinf(best), 0.0, best)
    return gaps


def global_gap(gaps: FloatArray) -> float:
    """Smallest gap over all users that have one, 0 if none has.

    >>> global_gap(np.array([0.0, 0.7, 0.4]))
    0.4
    """
    return float(np.min(gaps, where=gaps > 0, initial=np.inf)) if np.any(gaps > 0) else 0.0
