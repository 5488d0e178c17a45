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
_FEW = 8  # queries, for which members are not worth ordering
_FAR = 1e15  # where single precision is left alone
_BUCKETS = 64  # of the order of `falling`


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

    First members who all lend are told by `approach`, members who are too far by `beyond` and `ahead`.
    What the loops need is taken out of the tree before: views made in a loop would cost more than it.
    """
    start, n, dim = tree.start[leaf], tree.stop[leaf] - tree.start[leaf], tree.points.shape[1]
    points, slacks, limits, fall = asked.points, asked.slack, asked.limit, tree.fall
    key, key_cap, centre, bounds = tree.key, tree.key_cap, tree.centre, tree.bounds
    prefix, prefix_two = tree.first, tree.second
    near, value = np.empty((len(who), dim), np.float32), np.empty(CHUNK, np.float32)
    inside, margin = np.empty(len(who), np.int64), np.empty(len(who), np.float32)
    begin, floor, along = np.empty(len(who), np.int64), np.empty(len(who)), np.empty(len(who))
    least, most, far = n, 0, 0.0
    for q in range(len(who)):
        i = who[q]
        s, limit = slacks[i], limits[i]
        inside[q], margin[q], out = approach(
            points, i, s, limit, centre, bounds, key, key_cap, leaf, start, start + n, near, q
        )
        one[q] = prefix[start + inside[q]] - prefix[start]
        two[q] = prefix_two[start + inside[q]] - prefix_two[start]
        extent, begin[q] = out + bounds[leaf, SIZE], inside[q]
        room = ROOM * (extent + abs(s) + abs(limit)) + NOTHING
        if inside[q] == 0:
            begin[q] = beyond(fall, start, start + n, out - (limit - s) - room)
        floor[q] = s - limit - room - blur(extent, dim)
        least, most, far = min(least, begin[q]), max(most, inside[q]), max(far, extent)
    ordered = worth_ordering(n, most, far, len(who))
    if ordered:
        toward = ahead(tree, leaf, least, near, 1.0, along)
        floor += along
        order, top = falling(toward, least, floor.min())
        begin[:] = 0
    else:
        order, top = np.arange(least, n), np.full((n - least) // CHUNK + 1, np.float32(np.inf))
    for at in range(0, len(order), CHUNK):
        places, highest = order[at : at + CHUNK], top[at // CHUNK]
        beside, slack, reach, word, other = together(tree, leaf, places, ordered)
        some = value[: len(slack)]
        for q in range(len(who)):
            if begin[q] > places[0] or highest <= floor[q]:
                continue
            i = who[q]
            side_by_side(beside, near, q, some)
            base, s = np.float32(limits[i] - slacks[i]), np.float32(slacks[i])
            below, above = against(some, slack, reach, base, s, margin[q])
            if below + above < len(some):
                below += decide(tree, asked, i, strict, start, places, some, margin[q])
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
    places = np.arange(n)
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
            inside += decide(tree, asked, i, strict, start, places, value, margin)
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
    """Number of first members who all lend, all of them or in whole chunks; margin of the others; distance.

    Of leaves of one chunk none is told so: a node's bounds have been tried for all of them already.
    """
    out, margin = margin_of(points, i, s, limit, centre, bounds, leaf, near, q)
    if stop - first <= CHUNK:
        return 0, margin, out
    room = ROOM * (out + bounds[leaf, SIZE] + abs(s) + abs(limit)) + NOTHING
    low, high = first, stop
    while low < high:
        at = (low + high) // 2
        if key[at] < limit - s - out - room and key_cap[at] < -s - out - room:
            low = at + 1
        else:
            high = at
    return stop - first if low == stop else (low - first) // CHUNK * CHUNK, margin, out


@nb.njit(nogil=True, cache=True)
def beyond(ascending: Any, first: int, stop: int, bound: float) -> int:
    """Number of first members whose value is at most the bound, in whole chunks; none of a single chunk."""
    low, high = first, stop if stop - first > CHUNK else first
    while low < high:
        at = (low + high) // 2
        if ascending[at] <= bound:
            low = at + 1
        else:
            high = at
    return (low - first) // CHUNK * CHUNK


@nb.njit(nogil=True, cache=True)
def blur(extent: float, dim: int) -> float:
    """Room for the rounding of what `ahead` computes in single precision, of two that are so far apart."""
    return extent * (dim + 16) * 2.0**-22 + 1e-30


@nb.njit(nogil=True, cache=True)
def worth_ordering(n: int, n_inside: int, far: float, n_asked: int) -> bool:
    """Whether members are compared in the order of `ahead`: many of them and queries, none told to lend."""
    return n > CHUNK and n_inside == 0 and n_asked >= _FEW and far < _FAR


@nb.njit(nogil=True, cache=True, fastmath={"contract"})
def ahead(tree: Any, leaf: int, first: int, near: Any, sign: float, along: Any) -> Any:
    """How far members, from `first` on, lie toward the queries, less sign * slack; `along`, how far these.

    Both are coordinates on one axis from the centre toward the mean query. Distances are no less than
    differences of such coordinates: d >= along_q - p_v.
    """
    dim, size, laid = near.shape[1], tree.stop[leaf] - tree.start[leaf], tree.laid[leaf]
    width, n = -(-size // VECTOR) * VECTOR, size - first
    axis, value = np.zeros(dim), np.empty(n, np.float32)
    for q in range(len(near)):
        for k in range(dim):
            axis[k] += near[q, k]
    norm = np.sqrt((axis * axis).sum()) * (1 + 1e-6)
    if norm > 0:
        axis /= norm
    slack, factor = tree.slack32[laid + first : laid + size], np.float32(sign)
    for j in range(n):
        value[j] = -factor * slack[j]
    for k in range(dim):
        row = tree.beside[laid * dim + k * width + first : laid * dim + k * width + size]
        x = np.float32(axis[k])
        for j in range(n):
            value[j] += x * row[j]
    for q in range(len(near)):
        along[q] = 0.0
        for k in range(dim):
            along[q] += near[q, k] * np.float32(axis[k])
    return value


@nb.njit(nogil=True, cache=True)
def falling(value: Any, first: int, lowest: float) -> Any:
    """Places, plus `first`, of values above the lowest, roughly descending; maxima from each chunk on."""
    n, count = 0, np.zeros(_BUCKETS + 1, np.int64)
    high, low = np.float32(-np.inf), np.float32(np.inf)
    for v in value:
        if v > lowest:
            n += 1
            high, low = max(high, v), min(low, v)
    order, top = np.empty(n, np.int64), np.full(-(-n // CHUNK), np.float32(-np.inf))
    scale = 0.999 * _BUCKETS / np.float64(high - low) if high > low else 0.0
    for v in value:
        if v > lowest:
            count[int(np.float64(high - v) * scale) + 1] += 1
    for k in range(_BUCKETS):
        count[k + 1] += count[k]
    for j in range(len(value)):
        if value[j] > lowest:
            bucket = int(np.float64(high - value[j]) * scale)
            at = count[bucket]
            order[at] = first + j
            count[bucket] += 1
            top[at // CHUNK] = max(top[at // CHUNK], value[j])
    for k in range(len(top) - 2, -1, -1):
        top[k] = max(top[k], top[k + 1])
    return order, top


@nb.njit(nogil=True, cache=True)
def together(tree: Any, leaf: int, places: Any, scattered: bool) -> Any:
    """What comparing needs of some members of a leaf, in whole vectors, infinitely far beyond the last."""
    dim, size, laid = tree.points.shape[1], tree.stop[leaf] - tree.start[leaf], tree.laid[leaf]
    n, width = len(places), -(-size // VECTOR) * VECTOR
    if not scattered:
        beside = piece(tree.beside, laid, size, places[0], n, dim)
        a, b = laid + places[0], laid + places[0] + beside.shape[1]
        return beside, tree.slack32[a:b], tree.reach32[a:b], tree.word[a:b], tree.other[a:b]
    whole = -(-n // VECTOR) * VECTOR
    beside = np.full((dim, whole), np.float32(np.inf))
    for k in range(dim):
        row = tree.beside[laid * dim + k * width : laid * dim + (k + 1) * width]
        for j in range(n):
            beside[k, j] = row[places[j]]
    slack, reach = np.zeros(whole, np.float32), np.zeros(whole, np.float32)
    word, other = np.zeros(whole, np.uint64), np.zeros(whole, np.uint64)
    for j in range(n):
        at = laid + places[j]
        slack[j], reach[j], word[j], other[j] = (
            tree.slack32[at],
            tree.reach32[at],
            tree.word[at],
            tree.other[at],
        )
    return beside, slack, reach, word, other


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
def decide(
    tree: Any, asked: Any, i: int, strict: bool, start: int, places: Any, value: Any, margin: Any
) -> int:
    """Settle values within the margin by the rule itself; how many of those lend."""
    inside = 0
    for j in range(len(places)):
        if not (value[j] < -margin or value[j] > margin):
            within = lends(tree, asked, i, start + places[j], strict)
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
