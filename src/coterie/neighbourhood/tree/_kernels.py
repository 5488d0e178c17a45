"""Compiled building of a ball tree, and distances; the twins are in `_plain.py`."""

from typing import Any

import numba as nb
import numpy as np

VECTOR = 32  # members that compiled loops take at once
_SAMPLE = 512  # points that a split is chosen by
_ROUNDS = 4  # of two means
_LOPSIDED = 32  # a split that leaves one side less than this part is made at the median instead


@nb.njit(nogil=True, cache=True)
def distance(one: Any, i: int, other: Any, j: int) -> Any:
    """Distance of two rows: the one rounding that every comparison uses, so no sums are reordered."""
    total = 0.0
    for k in range(one.shape[1]):
        gap = one[i, k] - other[j, k]
        total += gap * gap
    return np.sqrt(total)


@nb.njit(nogil=True, cache=True)
def pairwise(one: Any, across: Any, out: Any) -> None:
    """Distances of rows (b, d) to columns (d, n); see `_plain.pairwise`."""
    for i in range(one.shape[0]):
        out[i] = 0.0
        for k in range(one.shape[1]):
            at = one[i, k]
            for j in range(across.shape[1]):
                gap = at - across[k, j]
                out[i, j] += gap * gap
        for j in range(across.shape[1]):
            out[i, j] = np.sqrt(out[i, j])


@nb.njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def loose(one: Any, i: int, other: Any, j: int) -> Any:
    """Distance for bounds, which have room for rounding."""
    total = 0.0
    for k in range(one.shape[1]):
        gap = one[i, k] - other[j, k]
        total += gap * gap
    return np.sqrt(total)


@nb.njit(nogil=True, cache=True)
def build(
    points: Any, slack: Any, limit: Any, cap: Any, order: Any, cell: Any, spots: Any, largest: int
) -> Any:
    """Nodes of a tree over the rows, which are put into the order of the tree; see `BallTree`.

    Nodes with several cells, whose centres are `spots`, are split between these.
    """
    n, dim = points.shape
    start, stop = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    child, deep = np.full(2 * n, -1), np.zeros(2 * n, np.int64)
    centre, bounds = np.empty((2 * n, dim)), np.empty((2 * n, 6))
    same = np.zeros(2 * n, np.bool_)
    spare, spare_rows = np.empty((n, 3)), np.empty((n, dim))
    spare_order, value = np.empty((n, 2), np.int64), np.empty(n)
    start[0], stop[0], made, at = 0, n, min(n, 1), 0
    while at < made:
        a, b = start[at], stop[at]
        _describe(points, slack, cap, a, b, centre, bounds, same, value, at)
        whole = same[at] or b - a <= largest or _compact(slack, limit, value, a, b, bounds[at])
        if not whole and (
            _split_cells(cell, spots, a, b, value) or _split(points, slack, a, b, centre, at, value)
        ):
            left = _move(points, slack, limit, cap, order, cell, a, b, value, spare, spare_rows, spare_order)
            child[at] = made
            start[made], stop[made], start[made + 1], stop[made + 1] = a, left, left, b
            deep[made] = deep[made + 1] = deep[at] + 1
            made += 2
        at += 1
    return (
        start[:made].copy(), stop[:made].copy(), child[:made].copy(), deep[:made].max() if made else 0,
        centre[:made].copy(), bounds[:made].copy(), same[:made].copy(),
    )  # fmt: skip


@nb.njit(nogil=True, cache=True)
def _describe(
    points: Any,
    slack: Any,
    cap: Any,
    a: int,
    b: int,
    centre: Any,
    bounds: Any,
    same: Any,
    value: Any,
    at: int,
) -> None:
    """Centre, bounds and distances to the centre of one node."""
    dim = points.shape[1]
    equal = True
    for i in range(a + 1, b):
        for k in range(dim):
            equal = equal and points[i, k] == points[a, k]
        equal = equal and slack[i] == slack[a] and cap[i] == cap[a]
        if not equal:
            break
    same[at] = equal
    centre[at] = points[a]
    if not equal:
        centre[at] = 0.0
        for i in range(a, b):
            for k in range(dim):
                centre[at, k] += points[i, k]
        for k in range(dim):
            centre[at, k] /= b - a
    high, low, high_cap, low_cap, least, size = -np.inf, np.inf, -np.inf, np.inf, np.inf, 0.0
    for i in range(a, b):
        value[i] = loose(points, i, centre, at)
        high = max(high, value[i] + slack[i])
        low = min(low, slack[i] - value[i])
        high_cap = max(high_cap, value[i] + (slack[i] - cap[i]))
        low_cap = min(low_cap, (slack[i] - cap[i]) - value[i])
        least = min(least, slack[i])
        size = max(size, value[i] + abs(slack[i]) + (0.0 if np.isinf(cap[i]) else abs(cap[i])))
    bounds[at, 0], bounds[at, 1], bounds[at, 2] = high, low, high_cap
    bounds[at, 3], bounds[at, 4], bounds[at, 5] = low_cap, least, size


@nb.njit(nogil=True, cache=True)
def _compact(slack: Any, limit: Any, value: Any, a: int, b: int, bounds: Any) -> bool:
    """Whether the median member takes the whole node, so that splitting it gains nothing."""
    step = max(1, (b - a) // _SAMPLE)
    own, mutual = np.empty((b - a + step - 1) // step), np.empty((b - a + step - 1) // step)
    for i in range(len(own)):
        v = a + i * step
        own[i] = value[v] + slack[v] - limit[v]
        mutual[i] = value[v] + slack[v]
    return bounds[0] + np.median(own) < 0 and bounds[2] + np.median(mutual) < 0  # type: ignore[no-any-return]


@nb.njit(nogil=True, cache=True)
def _split(points: Any, slack: Any, a: int, b: int, centre: Any, at: int, value: Any) -> bool:
    """Mark one side of a node by values above 0; False where no plane divides it."""
    dim = points.shape[1]
    step = max(1, (b - a) // _SAMPLE)
    taken = (b - a + step - 1) // step
    sample = np.empty((taken, dim + 1))
    for i in range(taken):
        sample[i, :dim] = points[a + i * step]
        sample[i, dim] = slack[a + i * step]
    far = np.argmax(value[a:b])
    normal = np.empty(dim + 1)
    threshold = _two_means(sample, normal)
    along = sample @ normal
    if (normal == 0.0).all():
        normal[:dim], normal[dim] = points[a + far] - centre[at], 0.0
        along = sample @ normal
        threshold = np.median(along)
    above = np.count_nonzero(along > threshold)
    if min(above, taken - above) * _LOPSIDED < taken:
        threshold = np.median(along)
    for i in range(a, b):
        value[i] = slack[i] * normal[dim]
        for k in range(dim):
            value[i] += points[i, k] * normal[k]
    low, high = value[a:b].min(), value[a:b].max()
    if not low <= threshold < high:
        threshold = low + (high - low) / 2
    for i in range(a, b):
        value[i] = 1.0 if value[i] > threshold else -1.0
    return low <= threshold < high  # type: ignore[no-any-return]


@nb.njit(nogil=True, cache=True)
def _split_cells(cell: Any, spots: Any, a: int, b: int, value: Any) -> bool:
    """Mark one side of a node by values above 0, cells kept whole; False where there is one cell."""
    size = np.zeros(len(spots), np.int64)
    for i in range(a, b):
        size[cell[i]] += 1
    present = np.flatnonzero(size)
    if len(present) <= 1:
        return False
    normal, sample = np.empty(spots.shape[1]), spots[present]
    threshold = _two_means(sample, normal)
    along = sample @ normal
    if not (along > threshold).any() or (along > threshold).all():
        threshold = np.median(along)
    side = np.full(len(spots), -1.0)
    side[present[along > threshold]] = 1.0
    if not (along > threshold).any():
        side[present[0]] = 1.0
    for i in range(a, b):
        value[i] = side[cell[i]]
    return True


@nb.njit(nogil=True, cache=True)
def cover(points: Any, reach: float, most: int) -> Any:
    """Points such that every point is within reach of one of them; one more than `most` at the utmost."""
    chosen, n = np.empty(most + 1, np.int64), 0
    covered = np.zeros(len(points), np.bool_)
    for i in range(len(points)):
        if covered[i]:
            continue
        chosen[n] = i
        n += 1
        if n > most:
            break
        for j in range(i, len(points)):
            if not covered[j]:
                covered[j] = distance(points, i, points, j) <= reach
    return chosen[:n].copy()


@nb.njit(nogil=True, cache=True)
def nearest(points: Any, across: Any, found: Any) -> None:
    """The nearest column (d, k) to each point, the first of equal ones; see `_plain.nearest`."""
    square = np.empty(across.shape[1])
    for i in range(len(points)):
        square[:] = 0.0
        for k in range(across.shape[0]):
            at = points[i, k]
            for j in range(across.shape[1]):
                gap = at - across[k, j]
                square[j] += gap * gap
        found[i] = np.argmin(square)


@nb.njit(nogil=True, cache=True)
def _two_means(sample: Any, normal: Any) -> Any:
    """Normal and threshold of the plane between two means, started at points that are far apart."""
    n, dim = sample.shape
    means = np.zeros((2, dim))
    for i in range(n):
        means[0] += sample[i]
    means[0] /= n
    for which in (1, 0):
        far, best = 0, -1.0
        for i in range(n):
            away = loose(sample, i, means, 1 - which)
            if away > best:
                far, best = i, away
        means[which] = sample[far]
    sums, size = np.empty((2, dim)), np.empty(2)
    for _ in range(_ROUNDS):
        sums[:], size[:] = 0.0, 0.0
        for i in range(n):
            side = 1 if loose(sample, i, means, 1) < loose(sample, i, means, 0) else 0
            size[side] += 1.0
            sums[side] += sample[i]
        for side in range(2):
            if size[side] > 0:
                means[side] = sums[side] / size[side]
    normal[:] = means[1] - means[0]
    return (normal * (means[0] + means[1])).sum() / 2


@nb.njit(nogil=True, cache=True)
def _move(
    points: Any, slack: Any, limit: Any, cap: Any, order: Any, cell: Any, a: int, b: int, value: Any,
    spare: Any, spare_rows: Any, spare_order: Any,
) -> int:  # fmt: skip
    """Put the rows with a value below 0 first, each side in its old order; where the others begin."""
    left, held = a, 0
    for i in range(a, b):
        if value[i] < 0:
            points[left], slack[left], limit[left] = points[i], slack[i], limit[i]
            cap[left], order[left], cell[left] = cap[i], order[i], cell[i]
            left += 1
        else:
            spare_rows[held], spare_order[held, 0], spare_order[held, 1] = points[i], order[i], cell[i]
            spare[held, 0], spare[held, 1], spare[held, 2] = slack[i], limit[i], cap[i]
            held += 1
    for i in range(held):
        points[left + i] = spare_rows[i]
        order[left + i], cell[left + i] = spare_order[i]
        slack[left + i], limit[left + i], cap[left + i] = spare[i, 0], spare[i, 1], spare[i, 2]
    return left


@nb.njit(nogil=True, cache=True)
def sort_leaves(
    points: Any, slack: Any, limit: Any, cap: Any, order: Any, start: Any, stop: Any, leaves: Any,
    centre: Any, key: Any, key_cap: Any, fall: Any,
) -> None:  # fmt: skip
    """Sort every leaf by distance to its centre plus slack."""
    for leaf in leaves:
        a, b = start[leaf], stop[leaf]
        for i in range(a, b):
            key[i] = loose(points, i, centre, leaf) + slack[i]
        by = np.argsort(key[a:b], kind="mergesort")
        key[a:b] = key[a:b][by]
        points[a:b] = points[a:b][by]
        slack[a:b], limit[a:b] = slack[a:b][by], limit[a:b][by]
        cap[a:b], order[a:b] = cap[a:b][by], order[a:b][by]
        most, farthest = -np.inf, -np.inf
        for i in range(a, b):
            most, farthest = max(most, key[i] - cap[i]), max(farthest, key[i] - 2 * slack[i])
            key_cap[i], fall[i] = most, farthest


@nb.njit(nogil=True, cache=True)
def lay_out(
    points: Any, slack: Any, cap: Any, words: Any, start: Any, stop: Any, leaves: Any, laid: Any, centre: Any,
    beside: Any, slack32: Any, reach32: Any, word: Any, other: Any,
) -> None:  # fmt: skip
    """Coordinates of every leaf side by side, in whole vectors; `laid` is where a leaf begins."""
    dim = points.shape[1]
    for leaf in leaves:
        a, n, at = start[leaf], stop[leaf] - start[leaf], laid[leaf]
        width = -(-n // VECTOR) * VECTOR
        for k in range(dim):
            row = beside[at * dim + k * width : at * dim + (k + 1) * width]
            for j in range(n):
                row[j] = np.float32(points[a + j, k] - centre[leaf, k])
        for j in range(n):
            slack32[at + j], reach32[at + j] = np.float32(slack[a + j]), np.float32(cap[a + j] - slack[a + j])
            word[at + j], other[at + j] = words[0, a + j], words[1, a + j]
