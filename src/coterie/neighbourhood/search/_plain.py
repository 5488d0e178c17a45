"""Plain twins of the compiled walks: every pair is looked at."""

from typing import Any

import numpy as np

from coterie.neighbourhood.leaves._plain import lending


def fingerprints(
    tree: Any, asked: Any, begin: Any, end: Any, strict: bool, count: Any, first: Any, second: Any
) -> None:
    """Number of lenders of each query in the tiles, and sums of their random words modulo 2^64."""
    inside = lending(tree, asked, strict).astype(np.uint64)
    one, two = (np.diff(total) for total in (tree.first, tree.second))
    for a, b in zip(begin, end, strict=True):
        count[a:b] = inside[a:b].sum(axis=1)
        first[a:b], second[a:b] = inside[a:b] @ one, inside[a:b] @ two


def rows(tree: Any, asked: Any, begin: int, end: int, strict: bool, out: Any) -> None:
    """Who lends to each query of one tile, as 0 and 1 over the places of the tree."""
    out[: end - begin] = lending(tree, asked, strict)[begin:end]
