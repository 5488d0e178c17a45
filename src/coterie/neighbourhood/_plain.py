"""The plain twin of `_kernels.py`."""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.neighbourhood.components import online_radius

Array = NDArray[Any]


def delete_edges(
    user: Array, action: Array, reward: Array, weight: Array, graph_scale: float, ridge: float,
    count: Array, moment: Array, gram: Array, theta: Array, edges: Array,
) -> None:  # fmt: skip
    """Add rows to the users' sums and, after each, delete the user's edges that are too long.

    `count` (U,), `moment` (U, d), `gram` (U, d, d), of which the kernel fills the lower triangle only,
    `theta` (U, d) and the symmetric `edges` (U, U) are updated in place. A row of weight w is taken as
    rows of weight 1, the rest last.
    """
    for u, a, r, w in _unit_rows(user, action, reward, weight):
        _add(u, a, r, w, count, moment, gram)
        theta[u] = _ridge(gram[u], moment[u], ridge)
        limit = graph_scale * (online_radius(count[u]) + online_radius(count))
        far = edges[u] & (np.linalg.norm(theta - theta[u], axis=1) > limit)
        edges[u, far] = edges[far, u] = False


def split_then_merge(
    count: Array, moment: Array, gram: Array, theta: Array, graph_scale: float, ridge: float, label: Array
) -> None:  # fmt: skip
    """Write each user's cluster into `label` (U,): users leave everybody's cluster, then clusters merge.

    Cluster 0 is what is left of everybody, at least one user; user u leaves into cluster u + 1. `gram`
    is (U, d, d).
    """
    n, left = len(count), np.zeros(len(count), dtype=bool)
    total = [count.sum(), moment.sum(axis=0), gram.sum(axis=0)]
    centre = _ridge(total[2], total[1], ridge)
    for u in range(n):
        limit = graph_scale * (online_radius(count[u]) + online_radius(total[0]))
        if np.linalg.norm(theta[u] - centre) > limit and left.sum() < n - 1:
            left[u] = True
            total = [sums - own[u] for sums, own in zip(total, (count, moment, gram), strict=True)]
            centre = _ridge(total[2], total[1], ridge)
    label[:] = np.where(left, np.arange(n) + 1, 0)
    before = n + 2
    while len(np.unique(label)) < before:
        before = len(np.unique(label))
        for c, e in combinations(range(n + 1), 2):
            if np.isin([c, e], label).all():
                one, other = (
                    [column[label == k].sum(axis=0) for column in (count, moment, gram)] for k in (c, e)
                )
                near = graph_scale * (online_radius(one[0]) + online_radius(other[0])) / 2
                apart = _ridge(one[2], one[1], ridge) - _ridge(other[2], other[1], ridge)
                label[label == e] = c if np.linalg.norm(apart) < near else e


def split_and_merge(
    user: Array, action: Array, reward: Array, weight: Array,
    graph_scale: float, frequency_scale: float, ridge: float, clock: Array,
    count: Array, moment: Array, gram: Array, theta: Array,
    label: Array, size: Array, checked: Array, n_checked: Array,
    c_count: Array, c_moment: Array, c_gram: Array, c_theta: Array,
) -> None:  # fmt: skip
    """Add rows to the sums of users and clusters; after each, test the user's split and her cluster's merges.

    `clock` holds the rounds done, the last round of the stage and the stage; `label` (U,) names each
    user's cluster, `size` (U,) counts the users of each cluster, `checked` (U,) says who was met in this
    stage and `n_checked` (U,) counts them by cluster. The `c_` arrays are the clusters' sums.
    """
    clusters = (size, n_checked, c_count, c_moment, c_gram)
    for u, a, r, w in _unit_rows(user, action, reward, weight):
        if clock[0] == clock[1]:
            clock[2] += 1
            clock[1] += 2 ** clock[2]
            checked[:], n_checked[:] = False, 0
        clock[0] += 1
        t, old = clock[0], label[u]
        _add(u, a, r, w, count, moment, gram)
        _add(old, a, r, w, c_count, c_moment, c_gram)
        theta[u] = _ridge(gram[u], moment[u], ridge)
        c_theta[old] = _ridge(c_gram[old], c_moment[old], ridge)
        apart = frequency_scale * online_radius(t) * t
        limit = graph_scale * (online_radius(count[u]) + online_radius(c_count[old]))
        far = np.linalg.norm(theta[u] - c_theta[old]) > limit
        if size[old] > 1 and (far or abs(count[u] - c_count[old] / size[old]) > apart):
            label[u] = np.flatnonzero(size == 0)[0]
            own = (1, checked[u], count[u], moment[u], gram[u])
            for sums, one in zip(clusters, own, strict=True):
                sums[label[u]] = one
                sums[old] = sums[old] - one
            c_theta[old] = _ridge(c_gram[old], c_moment[old], ridge)
            c_theta[label[u]] = theta[u]
        n_checked[label[u]] += not checked[u]
        checked[u] = True
        for c in dict.fromkeys((label[u], old)):
            _merge(c, graph_scale, apart, ridge, label, clusters, c_theta)


def _merge(
    c: int, graph_scale: float, apart: float, ridge: float,
    label: Array, clusters: tuple[Array, ...], c_theta: Array,
) -> None:  # fmt: skip
    """Merge cluster c, if all its users were met in this stage, with the others of which that is true."""
    size, n_checked, count, moment, gram = clusters
    for e in range(len(size)):
        if e == c or min(size[c], size[e]) == 0 or n_checked[c] < size[c] or n_checked[e] < size[e]:
            continue
        near = graph_scale * (online_radius(count[c]) + online_radius(count[e])) / 2
        alike = abs(count[c] / size[c] - count[e] / size[e]) < apart / 2
        if alike and np.linalg.norm(c_theta[c] - c_theta[e]) < near:
            c, gone = min(c, e), max(c, e)
            label[label == gone] = c
            for sums in clusters:
                sums[c] += sums[gone]
                sums[gone] = 0
            c_theta[c] = _ridge(gram[c], moment[c], ridge)


def _unit_rows(user: Array, action: Array, reward: Array, weight: Array) -> Any:
    """Rows with weights of at most 1."""
    for u, a, r, left in zip(user, action, reward, weight, strict=True):
        for k in range(int(np.ceil(left))):
            yield u, a, r, min(left - k, 1.0)


def _add(u: int, a: Array, r: float, w: float, count: Array, moment: Array, gram: Array) -> None:
    count[u] += w
    moment[u] += w * r * a
    gram[u] += w * np.outer(a, a)


def _ridge(gram: Array, moment: Array, ridge: float) -> Any:
    return np.linalg.solve(gram + ridge * np.eye(len(moment)), moment)
