"""Compiled walks of many queries through one ball tree; the twins are in `_plain.py`.

A tile is at most 64 queries that walk together. A bound decides for a node only where it is clear by more
than rounding; near a threshold single precision hands over to `lends`, the rule itself.
"""

from typing import Any

import numba as nb
import numpy as np

from coterie.neighbourhood.leaves._kernels import (
    HIGH,
    HIGH_CAP,
    LEAST,
    LOW,
    LOW_CAP,
    NOTHING,
    ROOM,
    SIZE,
    leaf_lenders,
    lends,
)
from coterie.neighbourhood.tree._kernels import loose

TILE = 64


@nb.njit(nogil=True, cache=True)
def fingerprints(
    tree: Any, asked: Any, begin: Any, end: Any, strict: bool, count: Any, first: Any, second: Any
) -> None:
    """Number of lenders and sums of their two random words, per query; see `_plain.fingerprints`."""
    whole, partial, one, two = _room()
    for t in range(len(begin)):
        whole, n_whole, partial, n_partial = _walk(tree, asked, begin[t], end[t], strict, whole, partial)
        count[begin[t] : end[t]], first[begin[t] : end[t]], second[begin[t] : end[t]] = 0, 0, 0
        for pair in range(n_whole):
            node, i = whole[pair]
            _add_range(tree, tree.start[node], tree.stop[node], i, count, first, second)
        at = 0
        while at < n_partial:
            leaf = partial[at, 0]
            at, who = _same_leaf(partial, at, n_partial)
            inside = leaf_lenders(tree, asked, strict, leaf, who, one, two)
            for q in range(len(who)):
                count[who[q]] += inside[q]
                first[who[q]] += one[q]
                second[who[q]] += two[q]


@nb.njit(nogil=True, cache=True)
def whole_sums(
    tree: Any, asked: Any, begin: Any, end: Any, strict: bool, rank: Any, small: int,
    node_sums: Any, sums: Any, open_leaves: Any, count: Any, first: Any, second: Any,
) -> None:  # fmt: skip
    """Add sums, numbers and words of nodes that lend as a whole; mark by rank leaves that may in part."""
    whole, partial, one, two = _room()
    for t in range(len(begin)):
        whole, n_whole, partial, n_partial = _walk(tree, asked, begin[t], end[t], strict, whole, partial)
        for pair in range(n_whole):
            node, i = whole[pair]
            sums[i] += node_sums[node]
            _add_range(tree, tree.start[node], tree.stop[node], i, count, first, second)
        at = 0
        while at < n_partial:
            leaf = partial[at, 0]
            a, b = tree.start[leaf], tree.stop[leaf]
            at, who = _same_leaf(partial, at, n_partial)
            if b - a <= small:
                for i in who:
                    open_leaves[i, rank[leaf]] = True
                continue
            inside = leaf_lenders(tree, asked, strict, leaf, who, one, two)
            for q in range(len(who)):
                i = who[q]
                open_leaves[i, rank[leaf]] = 0 < inside[q] < b - a
                if inside[q] == b - a:
                    sums[i] += node_sums[leaf]
                    _add_range(tree, a, b, i, count, first, second)


@nb.njit(nogil=True, cache=True)
def rows(tree: Any, asked: Any, begin: int, end: int, strict: bool, out: Any) -> None:
    """Who lends to each query of one tile, as 0 and 1 over the places of the tree."""
    whole, partial, _, _ = _room()
    whole, n_whole, partial, n_partial = _walk(tree, asked, begin, end, strict, whole, partial)
    out[: end - begin] = 0
    for pair in range(n_whole):
        node, i = whole[pair]
        out[i - begin, tree.start[node] : tree.stop[node]] = 1
    for pair in range(n_partial):
        leaf, i = partial[pair]
        for v in range(tree.start[leaf], tree.stop[leaf]):
            out[i - begin, v] = lends(tree, asked, i, v, strict)


@nb.njit(nogil=True, cache=True)
def _add_range(tree: Any, a: int, b: int, i: int, count: Any, first: Any, second: Any) -> None:
    """Let the users at places a to b lend to query i."""
    count[i] += b - a
    first[i] += tree.first[b] - tree.first[a]
    second[i] += tree.second[b] - tree.second[a]


@nb.njit(nogil=True, cache=True)
def _same_leaf(partial: Any, at: int, n: int) -> Any:
    """Where the pairs of one leaf, which come together, end, and their queries."""
    upto = at
    while upto < n and partial[upto, 0] == partial[at, 0]:
        upto += 1
    return upto, partial[at:upto, 1].copy()


@nb.njit(nogil=True, cache=True)
def _room() -> Any:
    """Lists of pairs, which grow, and words of the queries of a tile."""
    pairs, others = np.empty((1024, 2), np.int64), np.empty((1024, 2), np.int64)
    return pairs, others, np.empty(TILE, np.uint64), np.empty(TILE, np.uint64)


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
