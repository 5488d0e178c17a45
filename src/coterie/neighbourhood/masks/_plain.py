"""Plain twin of the compiled masks: every pair is looked at."""

from typing import Any

import numpy as np

from coterie.neighbourhood.search._plain import lending


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
