"""Compiled replays of online clustering; the twins are in `_plain.py`."""

from typing import Any

import numba as nb
import numpy as np


@nb.njit(nogil=True, cache=True)
def delete_edges(
    user: Any, action: Any, reward: Any, weight: Any, graph_scale: float, ridge: float,
    count: Any, moment: Any, gram: Any, theta: Any, edges: Any,
) -> None:  # fmt: skip
    """Delete edges row by row; see `_plain.delete_edges`."""
    dim = action.shape[1]
    factor, radius = np.empty((dim, dim)), np.empty(count.shape[0])
    for v in range(count.shape[0]):
        radius[v] = _radius(count[v])
    for i in range(user.shape[0]):
        u, left = user[i], weight[i]
        while left > 0.0:
            w = min(left, 1.0)
            left -= w
            _add(u, w, action[i], reward[i], count, moment, gram)
            _solve(gram[u], moment[u], ridge, factor, theta[u])
            radius[u] = _radius(count[u])
            for v in range(count.shape[0]):
                if edges[u, v] and _distance(theta[u], theta[v]) > graph_scale * (radius[u] + radius[v]):
                    edges[u, v] = False
                    edges[v, u] = False


@nb.njit(nogil=True, cache=True)
def split_and_merge(
    user: Any, action: Any, reward: Any, weight: Any,
    graph_scale: float, frequency_scale: float, ridge: float, clock: Any,
    count: Any, moment: Any, gram: Any, theta: Any,
    label: Any, size: Any, checked: Any, n_checked: Any,
    c_count: Any, c_moment: Any, c_gram: Any, c_theta: Any,
) -> None:  # fmt: skip
    """Split and merge row by row; see `_plain.split_and_merge`."""
    factor = np.empty((action.shape[1], action.shape[1]))
    for i in range(user.shape[0]):
        u, left = user[i], weight[i]
        while left > 0.0:
            w = min(left, 1.0)
            left -= w
            if clock[0] == clock[1]:
                clock[2] += 1
                clock[1] += 1 << clock[2]
                checked[:] = False
                n_checked[:] = 0
            clock[0] += 1
            t = clock[0]
            c = label[u]
            _add(u, w, action[i], reward[i], count, moment, gram)
            _add(c, w, action[i], reward[i], c_count, c_moment, c_gram)
            _solve(gram[u], moment[u], ridge, factor, theta[u])
            _solve(c_gram[c], c_moment[c], ridge, factor, c_theta[c])
            apart = frequency_scale * _radius(t)
            old = c
            far = _distance(theta[u], c_theta[c]) > graph_scale * (_radius(count[u]) + _radius(c_count[c]))
            if size[c] > 1 and (far or abs(count[u] - c_count[c] / size[c]) > apart * t):
                c = _free(size)
                _move(u, old, c, count, moment, gram, label, size, c_count, c_moment, c_gram)
                if checked[u]:
                    n_checked[old] -= 1
                    n_checked[c] += 1
                _solve(c_gram[old], c_moment[old], ridge, factor, c_theta[old])
                c_theta[c] = theta[u]
            if not checked[u]:
                checked[u] = True
                n_checked[c] += 1
            _merge(c, graph_scale, apart, t, ridge, factor, label, size, n_checked,
                   c_count, c_moment, c_gram, c_theta)  # fmt: skip
            if old != c:
                _merge(old, graph_scale, apart, t, ridge, factor, label, size, n_checked,
                       c_count, c_moment, c_gram, c_theta)  # fmt: skip


@nb.njit(nogil=True, cache=True)
def _merge(
    c: int, graph_scale: float, apart: float, t: float, ridge: float, factor: Any,
    label: Any, size: Any, n_checked: Any, c_count: Any, c_moment: Any, c_gram: Any, c_theta: Any,
) -> None:  # fmt: skip
    """Merge cluster c, if all its users were met in this stage, with the others of which that is true."""
    for e in range(size.shape[0]):
        if size[c] == 0 or n_checked[c] < size[c]:
            return
        if e == c or size[e] == 0 or n_checked[e] < size[e]:
            continue
        near = graph_scale * (_radius(c_count[c]) + _radius(c_count[e])) / 2
        if _distance(c_theta[c], c_theta[e]) >= near:
            continue
        if abs(c_count[c] / size[c] - c_count[e] / size[e]) >= apart * t / 2:
            continue
        keep, gone = min(c, e), max(c, e)
        for v in range(label.shape[0]):
            if label[v] == gone:
                label[v] = keep
        size[keep] += size[gone]
        n_checked[keep] += n_checked[gone]
        c_count[keep] += c_count[gone]
        c_moment[keep] += c_moment[gone]
        c_gram[keep] += c_gram[gone]
        size[gone] = 0
        n_checked[gone] = 0
        c_count[gone] = 0.0
        c_moment[gone] = 0.0
        c_gram[gone] = 0.0
        _solve(c_gram[keep], c_moment[keep], ridge, factor, c_theta[keep])
        c = keep


@nb.njit(nogil=True, cache=True)
def _move(
    u: int, old: int, new: int, count: Any, moment: Any, gram: Any,
    label: Any, size: Any, c_count: Any, c_moment: Any, c_gram: Any,
) -> None:  # fmt: skip
    """Take user u out of cluster `old` into the empty cluster `new`."""
    label[u] = new
    size[old] -= 1
    size[new] = 1
    c_count[old] -= count[u]
    c_moment[old] -= moment[u]
    c_gram[old] -= gram[u]
    c_count[new] = count[u]
    c_moment[new] = moment[u]
    c_gram[new] = gram[u]


@nb.njit(nogil=True, cache=True)
def _free(size: Any) -> int:
    """First number that no cluster has; one is free whenever some cluster has two users."""
    for c in range(size.shape[0]):
        if size[c] == 0:
            return c
    return -1


@nb.njit(nogil=True, cache=True)
def _add(u: int, w: float, a: Any, r: float, count: Any, moment: Any, gram: Any) -> None:
    """Add a row to the sums; of the Gram only the lower triangle."""
    count[u] += w
    for j in range(a.shape[0]):
        wa = w * a[j]
        moment[u, j] += wa * r
        for k in range(j + 1):
            gram[u, j, k] += wa * a[k]


@nb.njit(nogil=True, cache=True)
def _solve(gram: Any, moment: Any, ridge: float, factor: Any, theta: Any) -> None:
    """Ridge estimate from the lower triangle of a Gram, by a Cholesky factor and two sweeps."""
    dim = moment.shape[0]
    for j in range(dim):
        for k in range(j + 1):
            value = gram[j, k]
            for m in range(k):
                value -= factor[j, m] * factor[k, m]
            factor[j, k] = np.sqrt(value + ridge) if j == k else value / factor[k, k]
    for j in range(dim):
        value = moment[j]
        for k in range(j):
            value -= factor[j, k] * theta[k]
        theta[j] = value / factor[j, j]
    for j in range(dim - 1, -1, -1):
        theta[j] /= factor[j, j]
        for k in range(j):
            theta[k] -= factor[j, k] * theta[j]


@nb.njit(nogil=True, cache=True)
def _radius(count: float) -> Any:
    """See `components.online_radius`."""
    return np.sqrt((1.0 + np.log1p(count)) / (1.0 + count))


@nb.njit(nogil=True, cache=True)
def _distance(one: Any, other: Any) -> Any:
    """Euclidean distance."""
    total = 0.0
    for j in range(one.shape[0]):
        total += (one[j] - other[j]) ** 2
    return np.sqrt(total)
