"""Plain twins of the compiled comparisons: every pair is looked at."""

from typing import Any

import numpy as np

from coterie.neighbourhood.tree._plain import pairwise


def lending(tree: Any, asked: Any, strict: bool) -> Any:
    """Who lends to each query (q, n): distance + both slacks below the query's limit and the lender's cap."""
    left = np.empty((len(asked.points), len(tree.points)))
    pairwise(asked.points, tree.points.T, left)
    left += asked.slack[:, np.newaxis] + tree.slack
    limit = np.minimum(asked.limit[:, np.newaxis], tree.cap)
    return left < limit if strict else left <= limit


def masks(
    tree: Any, asked: Any, strict: bool, leaves: Any, ranks: Any, begin: Any, end: Any,
    open_leaves: Any, out: Any, who: Any, count: Any, first: Any, second: Any,
) -> int:  # fmt: skip
    """Who of these members of leaves lends to each query that has one open, as 0 and 1."""
    inside = lending(tree, asked, strict)
    words = [np.diff(total) for total in (tree.first, tree.second)]
    rows = np.flatnonzero(open_leaves[:, ranks].any(axis=1))
    who[: len(rows)] = rows
    column = 0
    for leaf, rank, low, high in zip(leaves, ranks, begin, end, strict=True):
        places = slice(tree.start[leaf] + low, tree.start[leaf] + high)
        some = inside[rows, places] & open_leaves[rows, rank, np.newaxis]
        out[: len(rows), column : column + high - low] = some
        count[rows] += some.sum(axis=1)
        first[rows] += some.astype(np.uint64) @ words[0][places]
        second[rows] += some.astype(np.uint64) @ words[1][places]
        column += high - low
    return len(rows)


def leaf_lenders(tree: Any, asked: Any, strict: bool, leaf: int, who: Any, one: Any, two: Any) -> Any:
    """How many members of a leaf lend to each of these queries; sums of their words go to `one` and `two`."""
    places = slice(tree.start[leaf], tree.stop[leaf])
    inside = lending(tree, asked, strict)[who, places].astype(np.uint64)
    one[: len(who)] = inside @ np.diff(tree.first)[places]
    two[: len(who)] = inside @ np.diff(tree.second)[places]
    return inside.sum(axis=1).astype(np.int64)


def ahead(tree: Any, leaf: int, first: int, near: Any, sign: float, along: Any) -> Any:
    """Coordinates on the axis toward the mean query: of queries, and of members less sign times slack."""
    axis = near.sum(axis=0, dtype=np.float64)
    axis /= max(np.linalg.norm(axis), 1e-300)
    along[:] = near @ axis
    places = slice(tree.start[leaf] + first, tree.stop[leaf])
    return (tree.points[places] - tree.centre[leaf]) @ axis - sign * tree.slack[places]


def falling(value: Any, first: int, lowest: float) -> Any:
    """Places of values above the lowest, descending; of each 256 the highest from there on."""
    order = np.argsort(-value, kind="stable")
    order = order[value[order] > lowest]
    return first + order, value[order[::256]]
