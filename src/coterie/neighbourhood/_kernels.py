"""Compiled replays of online clustering; the twins are in `_plain.py`."""

from typing import Any

import numba as nb
import numpy as np

_SHADOWS = 4  # coordinates by which clusters are told apart before the distance is taken


@nb.njit(nogil=True, cache=True)
def delete_edges(
    user: Any, action: Any, reward: Any, weight: Any, graph_scale: float, ridge: float,
    count: Any, moment: Any, gram: Any, theta: Any, edges: Any,
) -> None:  # fmt: skip
    """Delete edges row by row; see `_plain.delete_edges`."""
    n, dim = moment.shape
    factor, radius, degree = np.empty((n, dim, dim + 1)), np.empty(n), np.empty(n, dtype=np.int64)
    for v in range(n):
        radius[v], degree[v] = _radius(count[v]), edges[v].sum()
        _factorise(gram[v], moment[v], ridge, factor[v])
    for i in range(user.shape[0]):
        u, left = user[i], weight[i]
        while left > 0.0:
            w = min(left, 1.0)
            left -= w
            _add(u, w, action[i], reward[i], count, moment, gram)
            _update(w, action[i], reward[i], factor[u])
            _sweep(factor[u], theta[u])
            radius[u] = _radius(count[u])
            if degree[u] == 0:
                continue
            for v in range(n):
                if edges[u, v] and _distance(theta[u], theta[v]) > graph_scale * (radius[u] + radius[v]):
                    edges[u, v], edges[v, u] = False, False
                    degree[u] -= 1
                    degree[v] -= 1


@nb.njit(nogil=True, cache=True)
def split_then_merge(
    count: Any, moment: Any, gram: Any, theta: Any, graph_scale: float, ridge: float, label: Any
) -> None:
    """One pass of splits, then merges until none is left; see `_plain.split_then_merge`."""
    n, dim = moment.shape
    factor = np.empty((dim, dim + 1))
    c_count, c_moment, c_gram = np.zeros(n + 1), np.zeros((n + 1, dim)), np.zeros((n + 1, dim, dim))
    c_theta, radius, alive = np.zeros((n + 1, dim)), np.zeros(n + 1), np.zeros(n + 1, dtype=np.bool_)
    for u in range(n):
        c_count[0] += count[u]
        c_moment[0] += moment[u]
        c_gram[0] += gram[u]
    _solve(c_gram[0], c_moment[0], ridge, factor, c_theta[0])
    size = n
    for u in range(n):
        limit = graph_scale * (_radius(count[u]) + _radius(c_count[0]))
        if size == 1 or _distance(theta[u], c_theta[0]) <= limit:
            label[u] = 0
            continue
        label[u], alive[u + 1] = u + 1, True
        size -= 1
        c_count[u + 1], c_moment[u + 1], c_gram[u + 1] = count[u], moment[u], gram[u]
        c_theta[u + 1], radius[u + 1] = theta[u], _radius(count[u])
        c_count[0] -= count[u]
        c_moment[0] -= moment[u]
        c_gram[0] -= gram[u]
        _solve(c_gram[0], c_moment[0], ridge, factor, c_theta[0])
    alive[0], radius[0] = True, _radius(c_count[0])
    merged = True
    while merged:
        merged = False
        for c in range(n + 1):
            for e in range(c + 1, n + 1):
                if not alive[c] or not alive[e]:
                    continue
                if not _is_within(c_theta[c], c_theta[e], graph_scale * (radius[c] + radius[e]) / 2):
                    continue
                merged, alive[e] = True, False
                c_count[c] += c_count[e]
                c_moment[c] += c_moment[e]
                c_gram[c] += c_gram[e]
                _solve(c_gram[c], c_moment[c], ridge, factor, c_theta[c])
                radius[c] = _radius(c_count[c])
                for u in range(n):
                    if label[u] == e:
                        label[u] = c


@nb.njit(nogil=True, cache=True)
def split_and_merge(
    user: Any, action: Any, reward: Any, weight: Any,
    graph_scale: float, frequency_scale: float, ridge: float, clock: Any,
    count: Any, moment: Any, gram: Any, theta: Any,
    label: Any, size: Any, checked: Any, n_checked: Any,
    c_count: Any, c_moment: Any, c_gram: Any, c_theta: Any,
) -> None:  # fmt: skip
    """Split and merge row by row; see `_plain.split_and_merge`."""
    n, dim = moment.shape
    factor, c_factor = np.empty((n, dim, dim + 1)), np.empty((n, dim, dim + 1))
    c_radius, shadow, top = np.empty(n), np.zeros((_SHADOWS, n)), 0
    for c in range(n):
        c_radius[c] = _radius(c_count[c])
        _cast(c_theta[c], shadow[:, c])
        _factorise(gram[c], moment[c], ridge, factor[c])
        _factorise(c_gram[c], c_moment[c], ridge, c_factor[c])
        top = c + 1 if size[c] > 0 else top
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
            _update(w, action[i], reward[i], factor[u])
            _sweep(factor[u], theta[u])
            _update(w, action[i], reward[i], c_factor[c])
            _sweep(c_factor[c], c_theta[c])
            c_radius[c] = _radius(c_count[c])
            _cast(c_theta[c], shadow[:, c])
            apart = frequency_scale * _radius(t)
            old = c
            far = _distance(theta[u], c_theta[c]) > graph_scale * (_radius(count[u]) + _radius(c_count[c]))
            if size[c] > 1 and (far or abs(count[u] - c_count[c] / size[c]) > apart * t):
                c = _free(size)
                top = max(top, c + 1)
                _move(u, old, c, count, moment, gram, label, size, c_count, c_moment, c_gram)
                if checked[u]:
                    n_checked[old] -= 1
                    n_checked[c] += 1
                _solve(c_gram[old], c_moment[old], ridge, c_factor[old], c_theta[old])
                c_factor[c], c_theta[c] = factor[u], theta[u]
                c_radius[old], c_radius[c] = _radius(c_count[old]), _radius(c_count[c])
                _cast(c_theta[old], shadow[:, old])
                _cast(c_theta[c], shadow[:, c])
            if not checked[u]:
                checked[u] = True
                n_checked[c] += 1
            _merge(c, top, graph_scale, apart, t, ridge, c_factor, label, size, n_checked,
                   c_count, c_moment, c_gram, c_theta, c_radius, shadow)  # fmt: skip
            if old != c:
                _merge(old, top, graph_scale, apart, t, ridge, c_factor, label, size, n_checked,
                       c_count, c_moment, c_gram, c_theta, c_radius, shadow)  # fmt: skip
            while size[top - 1] == 0:
                top -= 1


@nb.njit(nogil=True, cache=True)
def _merge(
    c: int, top: int, graph_scale: float, apart: float, t: float, ridge: float, factor: Any,
    label: Any, size: Any, n_checked: Any,
    c_count: Any, c_moment: Any, c_gram: Any, c_theta: Any, c_radius: Any, shadow: Any,
) -> None:  # fmt: skip
    """Merge cluster c, if all its users were met in this stage, with the others of which that is true.

    From number `top` on there are none.
    """
    if size[c] == 0 or n_checked[c] < size[c]:
        return
    apart_at_once = np.empty(top, dtype=np.bool_)
    _tell_apart(c, graph_scale, c_radius, shadow, apart_at_once)
    for e in range(top):
        if apart_at_once[e] or e == c or size[e] == 0 or n_checked[e] < size[e]:
            continue
        near = graph_scale * (c_radius[c] + c_radius[e]) / 2
        if not _is_within(c_theta[c], c_theta[e], near):
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
        _solve(c_gram[keep], c_moment[keep], ridge, factor[keep], c_theta[keep])
        c_radius[keep] = _radius(c_count[keep])
        _cast(c_theta[keep], shadow[:, keep])
        c = keep
        _tell_apart(c, graph_scale, c_radius, shadow, apart_at_once)


@nb.njit(nogil=True, cache=True)
def _tell_apart(c: int, graph_scale: float, radius: Any, shadow: Any, apart: Any) -> None:
    """Write which clusters' shadows are too far from that of c: no shadow is longer than the distance."""
    half, mine = graph_scale / 2, radius[c]
    s0, s1, s2, s3 = shadow[0], shadow[1], shadow[2], shadow[3]
    m0, m1, m2, m3 = shadow[0, c], shadow[1, c], shadow[2, c], shadow[3, c]
    for e in range(apart.shape[0]):
        near = half * (mine + radius[e])
        over = (m0 - s0[e]) ** 2 + (m1 - s1[e]) ** 2 + ((m2 - s2[e]) ** 2 + (m3 - s3[e]) ** 2)
        apart[e] = over > near * near * (1.0 + 1e-9)


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
    """Ridge estimate from the lower triangle of a Gram, and the factors of `_factorise`."""
    _factorise(gram, moment, ridge, factor)
    _sweep(factor, theta)


@nb.njit(nogil=True, cache=True)
def _factorise(gram: Any, moment: Any, ridge: float, factor: Any) -> None:
    """Factors U'DU = ridge I + gram and y = (U'D)^-1 moment: `factor` (d, d + 1) holds them side by side.

    D is on the diagonal, U (whose diagonal is 1) above it, y in the last column; nothing else is touched.
    """
    dim = gram.shape[0]
    for j in range(dim):
        for k in range(j, dim):
            factor[j, k] = gram[k, j]
        factor[j, dim] = moment[j]
        factor[j, j] += ridge
        for i in range(j):
            c = factor[i, j] * factor[i, i]
            for k in range(j, dim + 1):
                factor[j, k] -= c * factor[i, k]
        scaled = 1.0 / factor[j, j]
        for k in range(j + 1, dim + 1):
            factor[j, k] *= scaled


@nb.njit(nogil=True, cache=True, fastmath={"contract"})
def _update(w: float, a: Any, r: float, factor: Any) -> None:
    """Turn the factors of M and its moment into those after a row of weight w.

    Gill, Golub, Murray and Saunders 1974, method C1, the moment being one more row of the matrix: with
    t_1 = 1 and p_j what is left of coordinate j, t_j+1 = t_j + p_j^2 / D_j, and D_j becomes D_j t_j+1 / t_j.
    """
    dim = a.shape[0]
    x = np.empty(dim + 1)
    x[:dim], x[dim], t = a, r, 1.0
    x *= np.sqrt(w)
    for j in range(dim):
        p, pivot = x[j], factor[j, j]
        ratio = p / pivot
        longer = t + p * ratio
        factor[j, j] = pivot * (longer / t)
        share, t = ratio / longer, longer
        for k in range(j + 1, dim + 1):
            x[k] -= p * factor[j, k]
            factor[j, k] += share * x[k]


@nb.njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def _sweep(factor: Any, theta: Any) -> None:
    """Solve U theta = y, from the last coordinate to the first."""
    dim = theta.shape[0]
    for j in range(dim - 1, -1, -1):
        value = 0.0
        for k in range(j + 1, dim):
            value += factor[j, k] * theta[k]
        theta[j] = factor[j, dim] - value


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


@nb.njit(nogil=True, cache=True)
def _is_within(one: Any, other: Any, limit: float) -> bool:
    """Whether the distance is below the limit; most pairs are told apart by a few coordinates."""
    total, square = 0.0, limit * limit
    for j in range(one.shape[0]):
        total += (one[j] - other[j]) ** 2
        if total > square * (1.0 + 1e-9):
            return False
    return bool(np.sqrt(total) < limit)


@nb.njit(nogil=True, cache=True)
def _cast(theta: Any, shadow: Any) -> None:
    """Project on orthonormal vectors: every fourth coordinate in equal parts, from the first, second, ..."""
    dim = theta.shape[0]
    for k in range(_SHADOWS):
        total, length = 0.0, 0
        for j in range(k, dim, _SHADOWS):
            total += theta[j]
            length += 1
        shadow[k] = total / np.sqrt(max(length, 1))
