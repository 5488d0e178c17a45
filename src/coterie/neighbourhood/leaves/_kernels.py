"""Compiled comparisons of queries with the members of one leaf; the twins are in `_plain.py`.

Near a threshold single precision hands over to `lends`, the rule itself.
"""

from typing import Any

import numba as nb
import numpy as np

from coterie.neighbourhood.tree._kernels import VECTOR, distance, loose

CHUNK = 256  # members looked at together, whole vectors
HIGH, LOW, HIGH_CAP, LOW_CAP, LEAST, SIZE = range(6)  # columns of bounds
ROOM, NOTHING = 1e-12, 1e-150  # relative and absolute room for rounding in bounds


@nb.njit(nogil=True, cache=True)
def lends(tree: Any, asked: Any, i: int, v: int, strict: bool) -> bool:
    """Whether the user at place v lends to query i: the rule, in its one order of operations."""
    left = distance(asked.points, i, tree.points, v) + (asked.slack[i] + tree.slack[v])
    if strict:
        return left < asked.limit[i] and left < tree.cap[v]  # type: ignore[no-any-return]
    return left <= asked.limit[i] and left <= tree.cap[v]  # type: ignore[no-any-return]


@nb.njit(nogil=True, cache=True)
def leaf_lenders(tree: Any, asked: Any, strict: bool, leaf: int, who: Any, one: Any, two: Any) -> Any:
    """How many members of a leaf lend to each of these queries; sums of their words go to `one` and `two`.

    What the loops need is taken out of the tree before: views made in a loop would cost more than it.
    """
    start, n, laid = tree.start[leaf], tree.stop[leaf] - tree.start[leaf], tree.laid[leaf]
    points, slacks, limits = asked.points, asked.slack, asked.limit
    key, key_cap, centre, bounds = tree.key, tree.key_cap, tree.centre, tree.bounds
    prefix, prefix_two = tree.first, tree.second
    near, value = np.empty((len(who), points.shape[1]), np.float32), np.empty(CHUNK, np.float32)
    inside, margin = np.empty(len(who), np.int64), np.empty(len(who), np.float32)
    begin, least = np.empty(len(who), np.int64), n
    for q in range(len(who)):
        i = who[q]
        begin[q], margin[q] = approach(
            points, i, slacks[i], limits[i], centre, bounds, key, key_cap, leaf, start, start + n, near, q
        )
        least, inside[q] = min(least, begin[q]), begin[q]
        one[q] = prefix[start + begin[q]] - prefix[start]
        two[q] = prefix_two[start + begin[q]] - prefix_two[start]
    for at in range(least, n, CHUNK):
        beside = piece(tree.beside, laid, n, at, min(CHUNK, n - at), points.shape[1])
        upto, some = laid + at + beside.shape[1], value[: beside.shape[1]]
        slack, reach = tree.slack32[laid + at : upto], tree.reach32[laid + at : upto]
        word, other = tree.word[laid + at : upto], tree.other[laid + at : upto]
        for q in range(len(who)):
            if begin[q] > at:
                continue
            i = who[q]
            side_by_side(beside, near, q, some)
            base, s = np.float32(limits[i] - slacks[i]), np.float32(slacks[i])
            below, above = against(some, slack, reach, base, s, margin[q])
            if below + above < len(some):
                below += decide(tree, asked, i, strict, start + at, min(CHUNK, n - at), some, margin[q])
            if below:
                first, second = words_of(word, other, some, margin[q])
                inside[q] += below
                one[q] += first
                two[q] += second
    return inside


@nb.njit(nogil=True, cache=True)
def masks(
    tree: Any, asked: Any, strict: bool, leaves: Any, ranks: Any, begin: Any, end: Any,
    open_leaves: Any, out: Any, who: Any, count: Any, first: Any, second: Any,
) -> int:  # fmt: skip
    """Who of the members of leaves, from `begin` to `end`, lends to each query that has one open, as 0 and 1.

    A row of `out` per such query, named in `who`; how many there are comes back. Numbers of lenders and their
    words are added to.
    """
    rows, column = 0, 0
    for i in range(open_leaves.shape[0]):
        found = False
        for rank in ranks:
            found = found or open_leaves[i, rank]
        who[rows] = i
        rows += found
    for p in range(len(leaves)):
        leaf, n = leaves[p], end[p] - begin[p]
        which = tree.laid[leaf] + begin[p], tree.start[leaf] + begin[p], n
        _mask(
            tree, asked, strict, leaf, which, who[:rows], open_leaves[:, ranks[p]],
            out[:rows, column : column + n], count, first, second,
        )  # fmt: skip
        column += n
    return rows


@nb.njit(nogil=True, cache=True)
def _mask(
    tree: Any, asked: Any, strict: bool, leaf: int, which: Any, who: Any, is_open: Any,
    out: Any, count: Any, first: Any, second: Any,
) -> None:  # fmt: skip
    """Columns of a piece of one leaf, a row per query.

    What every row needs is taken out of the tree before: views made in the loop would cost more than it.
    """
    at, start, n = which
    size, laid = tree.stop[leaf] - tree.start[leaf], tree.laid[leaf]
    beside = piece(tree.beside, laid, size, at - laid, n, tree.points.shape[1])
    width = beside.shape[1]
    slack, reach = tree.slack32[at : at + width], tree.reach32[at : at + width]
    word, other = tree.word[at : at + width], tree.other[at : at + width]
    points, slacks, limits, centre, bounds = asked.points, asked.slack, asked.limit, tree.centre, tree.bounds
    near, value = np.empty((1, points.shape[1]), np.float32), np.empty(width, np.float32)
    for r in range(len(who)):
        i = who[r]
        if not is_open[i]:
            out[r] = 0.0
            continue
        s, limit = slacks[i], limits[i]
        _, margin = margin_of(points, i, s, limit, centre, bounds, leaf, near, 0)
        side_by_side(beside, near, 0, value)
        inside, outside = against(value, slack, reach, np.float32(limit - s), np.float32(s), margin)
        if inside + outside < width:
            inside += decide(tree, asked, i, strict, start, n, value, margin)
        fill(out[r], value, margin)
        if inside:
            one, two = words_of(word, other, value, margin)
            count[i] += inside
            first[i] += one
            second[i] += two


@nb.njit(nogil=True, cache=True)
def approach(
    points: Any, i: int, s: float, limit: float, centre: Any, bounds: Any, key: Any, key_cap: Any,
    leaf: int, first: int, stop: int, near: Any, q: int,
) -> Any:  # fmt: skip
    """Number of first members who all lend, all of them or in whole chunks, and the margin of the others.

    Of leaves of one chunk none is told so: a node's bounds have been tried for all of them already.
    """
    out, margin = margin_of(points, i, s, limit, centre, bounds, leaf, near, q)
    if stop - first <= CHUNK:
        return 0, margin
    room = ROOM * (out + bounds[leaf, SIZE] + abs(s) + abs(limit)) + NOTHING
    low, high = first, stop
    while low < high:
        at = (low + high) // 2
        if key[at] < limit - s - out - room and key_cap[at] < -s - out - room:
            low = at + 1
        else:
            high = at
    return stop - first if low == stop else (low - first) // CHUNK * CHUNK, margin


@nb.njit(nogil=True, cache=True)
def margin_of(
    points: Any, i: int, s: float, limit: float, centre: Any, bounds: Any, leaf: int, near: Any, q: int
) -> Any:
    """Distance of a query to the centre of a leaf, and the margin of single precision among its members.

    Row q of `near` is the query relative to the centre. With S the largest distance of a pair and t the
    largest threshold, coordinates and thresholds are rounded at 2^-24, so that squares differ by less than
    (d + 8) S^2 2^-24 + t^2 2^-20; the margin is twice that, and room for what underflows.
    """
    dim, out = points.shape[1], loose(points, i, centre, leaf)
    for k in range(dim):
        near[q, k] = np.float32(points[i, k] - centre[leaf, k])
    large = bounds[leaf, SIZE] + abs(s) + abs(limit)
    margin = 2 * ((out + bounds[leaf, SIZE]) ** 2 * (dim + 8) * 2.0**-24 + large**2 * 2.0**-20)
    return out, np.float32(margin + 1e-36)


@nb.njit(nogil=True, cache=True)
def piece(beside: Any, laid: int, size: int, at: int, n: int, dim: int) -> Any:
    """Coordinates (d, w) of n members of a leaf from `at` on, in whole vectors."""
    width, whole = -(-size // VECTOR) * VECTOR, -(-n // VECTOR) * VECTOR
    out = np.empty((dim, whole), np.float32)
    for k in range(dim):
        begin = laid * dim + k * width + at
        out[k] = beside[begin : begin + whole]
    return out


@nb.njit(nogil=True, cache=True, fastmath={"contract"})
def side_by_side(beside: Any, near: Any, q: int, value: Any) -> None:
    """Squared distances of row q of `near` to all columns (d, w), four coordinates at a time."""
    value[:] = np.float32(0.0)
    dim, k = near.shape[1], 0
    while k + 4 <= dim:
        x0, x1, x2, x3 = near[q, k], near[q, k + 1], near[q, k + 2], near[q, k + 3]
        for j in range(value.shape[0]):
            g0, g1 = beside[k, j] - x0, beside[k + 1, j] - x1
            g2, g3 = beside[k + 2, j] - x2, beside[k + 3, j] - x3
            value[j] += (g0 * g0 + g1 * g1) + (g2 * g2 + g3 * g3)
        k += 4
    while k < dim:
        x0 = near[q, k]
        for j in range(value.shape[0]):
            g0 = beside[k, j] - x0
            value[j] += g0 * g0
        k += 1


@nb.njit(nogil=True, cache=True, fastmath={"contract"})
def against(value: Any, slack: Any, reach: Any, base: Any, s: Any, margin: Any) -> Any:
    """Squares less the squared thresholds, in place; how many are clearly below 0, and above."""
    inside, outside = np.int32(0), np.int32(0)
    for j in range(len(value)):
        own, others = base - slack[j], reach[j] - s
        t = own if own < others else others
        less = value[j] - t * abs(t)
        value[j] = less
        inside += np.int32(less < -margin)
        outside += np.int32(less > margin)
    return inside, outside


@nb.njit(nogil=True, cache=True)
def decide(tree: Any, asked: Any, i: int, strict: bool, start: int, n: int, value: Any, margin: Any) -> int:
    """Settle values within the margin by the rule itself; how many of those lend."""
    inside = 0
    for j in range(n):
        if not (value[j] < -margin or value[j] > margin):
            within = lends(tree, asked, i, start + j, strict)
            value[j] = -np.inf if within else np.inf
            inside += within
    return inside


@nb.njit(nogil=True, cache=True)
def fill(row: Any, value: Any, margin: Any) -> None:
    for j in range(len(row)):
        row[j] = 1 if value[j] < -margin else 0


@nb.njit(nogil=True, cache=True)
def words_of(word: Any, other: Any, value: Any, margin: Any) -> Any:
    """Sums of the words of the members that lend."""
    one, two, nothing = np.uint64(0), np.uint64(0), np.uint64(0)
    for j in range(len(word)):
        one += word[j] if value[j] < -margin else nothing
        two += other[j] if value[j] < -margin else nothing
    return one, two
