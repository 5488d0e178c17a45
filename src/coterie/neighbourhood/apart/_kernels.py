"""Compiled branch and bound for the nearest user that is provably apart; the twin is in `_plain.py`."""

from typing import Any

import numba as nb
import numpy as np

from coterie.neighbourhood.leaves._kernels import (
    CHUNK,
    HIGH,
    LOW,
    NOTHING,
    ROOM,
    SIZE,
    ahead,
    approach,
    beyond,
    blur,
    falling,
    side_by_side,
    together,
    worth_ordering,
)
from coterie.neighbourhood.search._kernels import TILE, distances
from coterie.neighbourhood.tree._kernels import distance, loose


@nb.njit(nogil=True, cache=True)
def nearest_apart(tree: Any, asked: Any, itself: Any, begin: Any, end: Any, under: bool, best: Any) -> None:
    """Gap of each query, infinite where nobody is apart; see `_plain.nearest_apart`.

    Slacks in the tree and of the queries are negative radii, limits 0: who "lends" is not apart.
    """
    near, value = np.empty((TILE, tree.points.shape[1]), np.float32), np.empty(CHUNK, np.float32)
    for t in range(len(begin)):
        _tile(tree, asked, itself, begin[t], end[t], under, best, near, value)


@nb.njit(nogil=True, cache=True)
def _tile(
    tree: Any, asked: Any, itself: Any, begin: int, end: int, under: bool, best: Any, near: Any, value: Any
) -> None:
    """Gaps of queries that walk together, the nearer child first."""
    dim, n_asked = tree.points.shape[1], end - begin
    middle, across, away = np.zeros((1, dim)), np.empty((dim, n_asked)), np.empty(n_asked)
    who, stack = np.empty((tree.depth + 2, n_asked), np.int64), np.empty(tree.depth + 2, np.int64)
    size = np.zeros(tree.depth + 2, np.int64)
    for i in range(begin, end):
        for k in range(dim):
            middle[0, k] += asked.points[i, k] / n_asked
            across[k, i - begin] = asked.points[i, k]
        best[i], who[0, i - begin] = np.inf, i
    stack[0], size[0], top = 0, n_asked, 0
    while top >= 0:
        node, n = stack[top], size[top]
        top -= 1
        b, left = tree.bounds[node], 0
        distances(across, tree.centre[node], away)
        for p in range(n):
            i = who[top + 1, p]
            s, out = asked.slack[i], away[i - begin]
            room = ROOM * (out + b[SIZE] + abs(s)) + NOTHING
            least = out + b[LOW] + s if under else out - b[HIGH] - s
            if least - room > best[i] or out + b[HIGH] + s < -room:
                continue
            who[top + 1, left] = i
            left += 1
        if not left:
            continue
        child = tree.child[node]
        if child < 0:
            _leaf(tree, asked, who[top + 1, :left], itself, node, under, best, near, value)
            continue
        one, two = loose(middle, 0, tree.centre, child), loose(middle, 0, tree.centre, child + 1)
        if under:
            nearer = one + tree.bounds[child, LOW] <= two + tree.bounds[child + 1, LOW]
        else:
            nearer = one - tree.bounds[child, HIGH] <= two - tree.bounds[child + 1, HIGH]
        stack[top + 1], stack[top + 2] = (child + 1, child) if nearer else (child, child + 1)
        size[top + 1] = size[top + 2] = left
        who[top + 2, :left] = who[top + 1, :left]
        top += 2


@nb.njit(nogil=True, cache=True)
def _leaf(
    tree: Any, asked: Any, who: Any, itself: Any, leaf: int, under: bool, best: Any, near: Any, value: Any
) -> None:
    """Let the members of a leaf lower the gaps of some queries; rows of `near` are room for these."""
    start, n = tree.start[leaf], tree.stop[leaf] - tree.start[leaf]
    points, slacks, limits, members, slack = asked.points, asked.slack, asked.limit, tree.points, tree.slack
    key, key_cap, centre, bounds = tree.key, tree.key_cap, tree.centre, tree.bounds
    if tree.same[leaf]:
        for i in who:
            v = start + 1 if itself[i] == start else start
            if v < start + n:
                best[i] = _lower(points, i, members, v, slacks[i] + slack[v], under, best[i])
        return
    begin, margin = np.empty(len(who), np.int64), np.empty(len(who), np.float32)
    room, along, sign = np.empty(len(who)), np.zeros(len(who)), 1.0 if under else -1.0
    least, most, far, rising = n, 0, 0.0, tree.fall if under else key
    for q in range(len(who)):
        i = who[q]
        begin[q], margin[q], out = approach(
            points, i, slacks[i], limits[i], centre, bounds, key, key_cap, leaf, start, start + n, near, q
        )
        most, extent = max(most, begin[q]), out + bounds[leaf, SIZE]
        little = ROOM * (extent + abs(slacks[i])) + NOTHING
        if begin[q] == 0:
            begin[q] = beyond(rising, start, start + n, out + sign * slacks[i] - best[i] - little)
        room[q] = little + blur(extent, points.shape[1])
        soonest = 0.0 if np.isinf(best[i]) else best[i]
        margin[q] += np.float32((soonest + bounds[leaf, SIZE] + abs(slacks[i])) ** 2 * 2.0**-19)
        least, far = min(least, begin[q]), max(far, extent)
    ordered = worth_ordering(n, most, far, len(who))
    if ordered:
        toward = ahead(tree, leaf, least, near[: len(who)], sign, along)
        lowest = np.inf
        for q in range(len(who)):
            lowest = min(lowest, along[q] + sign * slacks[who[q]] - best[who[q]] - room[q])
        order, top = falling(toward, least, lowest)
        begin[:] = 0
    else:
        order, top = np.arange(least, n), np.full((n - least) // CHUNK + 1, np.float32(np.inf))
    for at in range(0, len(order), CHUNK):
        places, highest = order[at : at + CHUNK], top[at // CHUNK]
        beside, slack32, _, _, _ = together(tree, leaf, places, ordered)
        some = value[: beside.shape[1]]
        for q in range(len(who)):
            i, s = who[q], np.float32(slacks[who[q]])
            if begin[q] > places[0] or highest <= along[q] + sign * slacks[i] - best[i] - room[q]:
                continue
            side_by_side(beside, near, q, some)
            if _candidates(some, slack32, s, np.float32(best[i]), under, margin[q]):
                for j in range(len(places)):
                    both, v = s + slack32[j], start + places[j]
                    if v != itself[i] and _may_be(some[j], both, np.float32(best[i]), under, margin[q]):
                        best[i] = _lower(points, i, members, v, slacks[i] + slack[v], under, best[i])


@nb.njit(nogil=True, cache=True)
def _may_be(square: Any, both: Any, best: Any, under: bool, margin: Any) -> Any:
    """Whether a member at this squared distance may be apart and nearer than the best so far."""
    reach = best - both if under else best + both
    return (square <= reach * abs(reach) + margin) & (square >= both * abs(both) * -1 - margin)


@nb.njit(nogil=True, cache=True)
def _candidates(value: Any, slack: Any, s: Any, best: Any, under: bool, margin: Any) -> int:
    """How many members may be."""
    found, sign = 0, np.float32(-1.0 if under else 1.0)
    for j in range(len(value)):
        both = s + slack[j]
        reach = best + sign * both
        found += (value[j] <= reach * abs(reach) + margin) & (value[j] >= both * abs(both) * -1 - margin)
    return found


@nb.njit(nogil=True, cache=True)
def _lower(one: Any, i: int, other: Any, v: int, both: float, under: bool, best: float) -> Any:
    """The smaller of the best so far and this user's, if she is apart; `both` is minus the two radii."""
    away = distance(one, i, other, v)
    if not away + both > 0:
        return best
    return min(best, away + both if under else away - both)
