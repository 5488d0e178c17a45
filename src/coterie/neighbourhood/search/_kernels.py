"""Compiled walks of many queries through one ball tree; the twins are in `_plain.py`.

A tile is at most 64 queries that walk together. A bound decides for a node only where it is clear by more
than rounding; near a threshold single precision hands over to `lends`, the rule itself.
"""

from typing import Any

import numba as nb
import numpy as np

from coterie.neighbourhood.tree._kernels import VECTOR, distance, loose

TILE = 64
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
def fingerprints(
    tree: Any, asked: Any, begin: Any, end: Any, strict: bool, count: Any, first: Any, second: Any
) -> None:
    """Number of lenders and sums of their two random words, per query; see `_plain.fingerprints`."""
    whole, partial, near, value = _room_for(tree)
    for t in range(len(begin)):
        whole, n_whole, partial, n_partial = _walk(tree, asked, begin[t], end[t], strict, whole, partial)
        for i in range(begin[t], end[t]):
            count[i], first[i], second[i] = 0, 0, 0
        for one in range(n_whole):
            node, i = whole[one]
            a, b = tree.start[node], tree.stop[node]
            count[i] += b - a
            first[i] += tree.first[b] - tree.first[a]
            second[i] += tree.second[b] - tree.second[a]
        for one in range(n_partial):
            leaf, i = partial[one]
            a, b, laid = tree.start[leaf], tree.stop[leaf], tree.laid[leaf]
            at, margin = approach(
                asked.points, i, asked.slack[i], asked.limit[i], tree.centre, tree.bounds,
                tree.key, tree.key_cap, leaf, tree.start[leaf], tree.stop[leaf], near,
            )  # fmt: skip
            count[i] += at
            first[i] += tree.first[a + at] - tree.first[a]
            second[i] += tree.second[a + at] - tree.second[a]
            while at < b - a:
                inside = _compare(
                    tree.beside, tree.slack32, tree.reach32, tree.points, tree.slack, tree.cap, a, b - a,
                    laid, at, asked.points, i, asked.slack[i], asked.limit[i], strict, near, margin, value,
                )  # fmt: skip
                count[i] += inside
                if inside:
                    upto = laid + min(at + CHUNK, -(-(b - a) // VECTOR) * VECTOR)
                    one_more, two_more = words_of(
                        tree.word[laid + at : upto], tree.other[laid + at : upto], value, margin
                    )
                    first[i] += one_more
                    second[i] += two_more
                at += CHUNK


@nb.njit(nogil=True, cache=True)
def whole_sums(
    tree: Any, asked: Any, begin: Any, end: Any, strict: bool, rank: Any, small: int,
    node_sums: Any, sums: Any, open_leaves: Any, count: Any, first: Any, second: Any,
) -> None:  # fmt: skip
    """Add sums, numbers and words of nodes that lend as a whole; mark by rank leaves that may in part."""
    whole, partial, near, value = _room_for(tree)
    for t in range(len(begin)):
        whole, n_whole, partial, n_partial = _walk(tree, asked, begin[t], end[t], strict, whole, partial)
        for one in range(n_whole):
            node, i = whole[one]
            _add_node(tree, node, i, node_sums, sums, count, first, second)
        for one in range(n_partial):
            leaf, i = partial[one]
            n = tree.stop[leaf] - tree.start[leaf]
            if n <= small:
                open_leaves[i, rank[leaf]] = True
                continue
            inside, margin = approach(
                asked.points, i, asked.slack[i], asked.limit[i], tree.centre, tree.bounds,
                tree.key, tree.key_cap, leaf, tree.start[leaf], tree.stop[leaf], near,
            )  # fmt: skip
            at = inside
            while at < n:
                inside += _compare(
                    tree.beside, tree.slack32, tree.reach32, tree.points, tree.slack, tree.cap,
                    tree.start[leaf], n, tree.laid[leaf],
                    at, asked.points, i, asked.slack[i], asked.limit[i], strict, near, margin, value,
                )  # fmt: skip
                at += CHUNK
            if inside == n:
                _add_node(tree, leaf, i, node_sums, sums, count, first, second)
            elif inside:
                open_leaves[i, rank[leaf]] = True


@nb.njit(nogil=True, cache=True)
def _add_node(
    tree: Any, node: int, i: int, node_sums: Any, sums: Any, count: Any, first: Any, second: Any
) -> None:
    """Let a whole node lend to query i."""
    a, b = tree.start[node], tree.stop[node]
    sums[i] += node_sums[node]
    count[i] += b - a
    first[i] += tree.first[b] - tree.first[a]
    second[i] += tree.second[b] - tree.second[a]


@nb.njit(nogil=True, cache=True)
def rows(tree: Any, asked: Any, begin: int, end: int, strict: bool, out: Any) -> None:
    """Who lends to each query of one tile, as 0 and 1 over the places of the tree."""
    whole, partial, near, value = _room_for(tree)
    whole, n_whole, partial, n_partial = _walk(tree, asked, begin, end, strict, whole, partial)
    out[: end - begin] = 0
    for one in range(n_whole):
        node, i = whole[one]
        out[i - begin, tree.start[node] : tree.stop[node]] = 1
    for one in range(n_partial):
        leaf, i = partial[one]
        a, b = tree.start[leaf], tree.stop[leaf]
        at, margin = approach(
            asked.points, i, asked.slack[i], asked.limit[i], tree.centre, tree.bounds,
            tree.key, tree.key_cap, leaf, tree.start[leaf], tree.stop[leaf], near,
        )  # fmt: skip
        out[i - begin, a : a + at] = 1
        while at < b - a:
            _compare(
                tree.beside, tree.slack32, tree.reach32, tree.points, tree.slack, tree.cap, a, b - a,
                tree.laid[leaf], at, asked.points, i, asked.slack[i], asked.limit[i], strict,
                near, margin, value,
            )  # fmt: skip
            fill(out[i - begin, a + at : min(a + at + CHUNK, b)], value, margin)
            at += CHUNK


@nb.njit(nogil=True, cache=True)
def _room_for(tree: Any) -> Any:
    """Lists of pairs, a query relative to a centre, and values of a chunk."""
    pairs, others = np.empty((1024, 2), np.int64), np.empty((1024, 2), np.int64)
    return pairs, others, np.empty(tree.points.shape[1], np.float32), np.empty(CHUNK, np.float32)


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


@nb.njit(nogil=True, cache=True)
def _walk(tree: Any, asked: Any, begin: int, end: int, strict: bool, whole: Any, partial: Any) -> Any:
    """Pairs of a node that lends as a whole, and of a leaf that may lend in part, with a query."""
    dim = tree.points.shape[1]
    middle, across = np.zeros((1, dim)), np.empty((dim, end - begin))
    away, who = np.empty(end - begin), np.empty((tree.depth + 2, end - begin), np.int64)
    stack, size = np.empty(tree.depth + 2, np.int64), np.zeros(tree.depth + 2, np.int64)
    for i in range(begin, end):
        for k in range(dim):
            middle[0, k] += asked.points[i, k] / (end - begin)
            across[k, i - begin] = asked.points[i, k]
    least, low, high, low_cap, high_cap, large = np.inf, np.inf, -np.inf, np.inf, -np.inf, 0.0
    for i in range(begin, end):
        s, limit, out = asked.slack[i], asked.limit[i], loose(asked.points, i, middle, 0)
        never = s + tree.bounds[0, LEAST]
        if never > limit or (strict and never == limit):
            continue
        who[0, size[0]] = i
        size[0] += 1
        least = min(least, s)
        low, high = min(low, s - limit - out), max(high, s - limit + out)
        low_cap, high_cap = min(low_cap, s - out), max(high_cap, s + out)
        large = max(large, abs(s) + abs(limit) + out)
    n_whole, n_partial, top = 0, 0, 0 if size[0] else -1
    stack[0] = 0
    while top >= 0:
        node, n = stack[top], size[top]
        top -= 1
        b = tree.bounds[node]
        far = loose(middle, 0, tree.centre, node)
        room = ROOM * (far + b[SIZE] + large) + NOTHING
        if far + b[LOW] + low >= room or far + b[LOW_CAP] + low_cap >= room:
            continue
        if len(whole) < n_whole + n:
            whole = _longer(whole)
        if len(partial) < n_partial + n:
            partial = _longer(partial)
        if far + b[HIGH] + high < -room and far + b[HIGH_CAP] + high_cap < -room:
            for p in range(n):
                whole[n_whole, 0], whole[n_whole, 1] = node, who[top + 1, p]
                n_whole += 1
            continue
        distances(across, tree.centre[node], away)
        left = 0
        for p in range(n):
            i = who[top + 1, p]
            s, limit, out = asked.slack[i], asked.limit[i], away[i - begin]
            room = ROOM * (out + b[SIZE] + abs(s) + abs(limit)) + NOTHING
            if out + b[LOW] + s - limit >= room or out + b[LOW_CAP] + s >= room:
                continue
            inside = out + b[HIGH] + s - limit < -room and out + b[HIGH_CAP] + s < -room
            if tree.same[node]:
                inside = lends(tree, asked, i, tree.start[node], strict)
                if not inside:
                    continue
            if inside:
                whole[n_whole, 0], whole[n_whole, 1] = node, i
                n_whole += 1
            elif tree.child[node] < 0:
                partial[n_partial, 0], partial[n_partial, 1] = node, i
                n_partial += 1
            else:
                who[top + 1, left] = i
                left += 1
        if left:
            stack[top + 1], size[top + 1] = tree.child[node], left
            stack[top + 2], size[top + 2] = tree.child[node] + 1, left
            who[top + 2, :left] = who[top + 1, :left]
            top += 2
    return whole, n_whole, partial, n_partial


@nb.njit(nogil=True, cache=True)
def _longer(pairs: Any) -> Any:
    more = np.empty((2 * len(pairs) + TILE, 2), np.int64)
    more[: len(pairs)] = pairs
    return more


@nb.njit(nogil=True, cache=True, fastmath={"contract"})
def distances(across: Any, centre: Any, away: Any) -> None:
    """Distances of all queries of a tile to one centre, side by side."""
    away[:] = 0.0
    for k in range(across.shape[0]):
        at = centre[k]
        for i in range(across.shape[1]):
            gap = across[k, i] - at
            away[i] += gap * gap
    for i in range(across.shape[1]):
        away[i] = np.sqrt(away[i])


@nb.njit(nogil=True, cache=True)
def approach(
    points: Any, i: int, s: float, limit: float, centre: Any, bounds: Any, key: Any, key_cap: Any,
    leaf: int, first: int, stop: int, near: Any,
) -> Any:  # fmt: skip
    """Number of first members who all lend, in whole vectors, and the margin of single precision."""
    out, margin = margin_of(points, i, s, limit, centre, bounds, leaf, near)
    room = ROOM * (out + bounds[leaf, SIZE] + abs(s) + abs(limit)) + NOTHING
    low, high = first, stop
    while low < high:
        at = (low + high) // 2
        if key[at] < limit - s - out - room and key_cap[at] < -s - out - room:
            low = at + 1
        else:
            high = at
    return (low - first) // VECTOR * VECTOR, margin


@nb.njit(nogil=True, cache=True)
def margin_of(
    points: Any, i: int, s: float, limit: float, centre: Any, bounds: Any, leaf: int, near: Any
) -> Any:
    """Distance of a query to the centre of a leaf, and the margin of single precision among its members.

    `near` is the query relative to the centre. With S the largest distance of a pair and t the largest
    threshold, coordinates and thresholds are rounded at 2^-24, so that squares differ by less than
    (d + 8) S^2 2^-24 + t^2 2^-20; the margin is twice that, and room for what underflows.
    """
    dim, out = points.shape[1], loose(points, i, centre, leaf)
    for k in range(dim):
        near[k] = np.float32(points[i, k] - centre[leaf, k])
    large = bounds[leaf, SIZE] + abs(s) + abs(limit)
    margin = 2 * ((out + bounds[leaf, SIZE]) ** 2 * (dim + 8) * 2.0**-24 + large**2 * 2.0**-20)
    return out, np.float32(margin + 1e-36)


@nb.njit(nogil=True, cache=True)
def _compare(
    beside: Any, slack32: Any, reach32: Any, points: Any, slack: Any, cap: Any, a: int, size: int, laid: int,
    at: int, asked: Any, i: int, s: float, limit: float, strict: bool, near: Any, margin: Any, value: Any,
) -> int:  # fmt: skip
    """Number of members of a leaf, from `at` on and one chunk at most, that lend: the values below -margin.

    Arrays come one by one: a tuple of all of them costs more to hand over than the comparison.
    """
    width = -(-size // VECTOR) * VECTOR
    n = min(CHUNK, width - at)
    squares(beside, laid * near.shape[0] + at, width, n, near, value)
    base, slack_i, first = np.float32(limit - s), np.float32(s), laid + at
    inside, outside = against(
        value[:n], slack32[first : first + n], reach32[first : first + n], base, slack_i, margin
    )
    if inside + outside < n:
        for j in range(min(n, size - at)):
            if not (value[j] < -margin or value[j] > margin):
                v = a + at + j
                left = distance(asked, i, points, v) + (s + slack[v])
                within = left < limit and left < cap[v] if strict else left <= limit and left <= cap[v]
                value[j] = -np.inf if within else np.inf
                inside += within
    return inside  # type: ignore[no-any-return]


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


@nb.njit(nogil=True, cache=True, fastmath={"contract"})
def squares(beside: Any, first: int, width: int, n: int, near: Any, value: Any) -> None:
    """Squared distances of one query to n members of a leaf, four coordinates at a time."""
    value[:n] = np.float32(0.0)
    dim, k = near.shape[0], 0
    while k + 4 <= dim:
        at = first + k * width
        m0, m1 = beside[at : at + n], beside[at + width : at + width + n]
        at += 2 * width
        m2, m3 = beside[at : at + n], beside[at + width : at + width + n]
        x0, x1, x2, x3 = near[k], near[k + 1], near[k + 2], near[k + 3]
        for j in range(n):
            g0, g1, g2, g3 = m0[j] - x0, m1[j] - x1, m2[j] - x2, m3[j] - x3
            value[j] += (g0 * g0 + g1 * g1) + (g2 * g2 + g3 * g3)
        k += 4
    while k < dim:
        at = first + k * width
        m0, x0 = beside[at : at + n], near[k]
        for j in range(n):
            g0 = m0[j] - x0
            value[j] += g0 * g0
        k += 1
