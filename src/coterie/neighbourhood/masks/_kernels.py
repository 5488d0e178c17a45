"""Compiled masks of who lends among the members of leaves, for many queries; the twin is in `_plain.py`."""

from typing import Any

import numba as nb
import numpy as np

from coterie.neighbourhood.search._kernels import against, fill, lends, margin_of, words_of
from coterie.neighbourhood.tree._kernels import VECTOR


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
        piece = tree.laid[leaf] + begin[p], tree.start[leaf] + begin[p], n
        _mask(
            tree, asked, strict, leaf, piece, who[:rows], open_leaves[:, ranks[p]],
            out[:rows, column : column + n], count, first, second,
        )  # fmt: skip
        column += n
    return rows


@nb.njit(nogil=True, cache=True)
def _mask(
    tree: Any, asked: Any, strict: bool, leaf: int, piece: Any, who: Any, is_open: Any,
    out: Any, count: Any, first: Any, second: Any,
) -> None:  # fmt: skip
    """Columns of a piece of one leaf, a row per query.

    What every row needs is taken out of the tree before: views made in the loop would cost more than it.
    """
    at, start, n = piece
    beside = _piece(
        tree.beside, tree.laid[leaf], tree.stop[leaf] - tree.start[leaf], at, n, tree.points.shape[1]
    )
    width = beside.shape[1]
    slack, reach = tree.slack32[at : at + width], tree.reach32[at : at + width]
    word, other = tree.word[at : at + width], tree.other[at : at + width]
    points, slacks, limits, centre, bounds = asked.points, asked.slack, asked.limit, tree.centre, tree.bounds
    near, value = np.empty(points.shape[1], np.float32), np.empty(width, np.float32)
    for r in range(len(who)):
        i = who[r]
        if not is_open[i]:
            out[r] = 0.0
            continue
        s, limit = slacks[i], limits[i]
        _, margin = margin_of(points, i, s, limit, centre, bounds, leaf, near)
        side_by_side(beside, near, value)
        inside, outside = against(value, slack, reach, np.float32(limit - s), np.float32(s), margin)
        if inside + outside < width:
            inside += _decide(tree, asked, i, strict, start, n, value, margin)
        fill(out[r], value, margin)
        if inside:
            one, two = words_of(word, other, value, margin)
            count[i] += inside
            first[i] += one
            second[i] += two


@nb.njit(nogil=True, cache=True)
def _piece(beside: Any, laid: int, size: int, at: int, n: int, dim: int) -> Any:
    """Coordinates (d, w) of n members of a leaf, in whole vectors."""
    width = -(-size // VECTOR) * VECTOR
    whole = -(-n // VECTOR) * VECTOR
    out = np.empty((dim, whole), np.float32)
    for k in range(dim):
        begin = laid * dim + k * width + at - laid
        out[k] = beside[begin : begin + whole]
    return out


@nb.njit(nogil=True, cache=True)
def _decide(tree: Any, asked: Any, i: int, strict: bool, start: int, n: int, value: Any, margin: Any) -> int:
    """Settle values within the margin by the rule itself; how many of those lend."""
    inside = 0
    for j in range(n):
        if not (value[j] < -margin or value[j] > margin):
            within = lends(tree, asked, i, start + j, strict)
            value[j] = -np.inf if within else np.inf
            inside += within
    return inside


@nb.njit(nogil=True, cache=True, fastmath={"contract"})
def side_by_side(beside: Any, near: Any, value: Any) -> None:
    """Squared distances of one query to all columns of (d, w), four coordinates at a time."""
    value[:] = np.float32(0.0)
    dim, k = near.shape[0], 0
    while k + 4 <= dim:
        x0, x1, x2, x3 = near[k], near[k + 1], near[k + 2], near[k + 3]
        for j in range(value.shape[0]):
            g0, g1 = beside[k, j] - x0, beside[k + 1, j] - x1
            g2, g3 = beside[k + 2, j] - x2, beside[k + 3, j] - x3
            value[j] += (g0 * g0 + g1 * g1) + (g2 * g2 + g3 * g3)
        k += 4
    while k < dim:
        x0 = near[k]
        for j in range(value.shape[0]):
            g0 = beside[k, j] - x0
            value[j] += g0 * g0
        k += 1
