"""The plain twins of `_kernels.py`: the same results with loops that a reader can check."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.packed import pack


def accumulate(
    order: NDArray[np.int64], row: NDArray[np.int64], action: NDArray[Any], reward: NDArray[Any],
    weight: NDArray[Any], count: NDArray[Any], moment: NDArray[Any], gram: NDArray[Any],
    square: NDArray[Any], longest: NDArray[Any],
) -> None:  # fmt: skip
    """Add the rows that `order` names, in which the rows of a user stand together.

    Row i adds `w`, `w r a`, `w a a'` (packed) and `w r^2` to user `row[i]`, whose
    `longest` becomes the largest squared length of an action; an empty `weight` means 1
    for each row, and a row of weight 0 is no row.
    """
    for i in order:
        u = row[i]
        w = weight[i] if len(weight) else 1.0
        if w == 0:
            continue
        a, r = action[i], reward[i]
        longest[u] = max(longest[u], a @ a)
        count[u] += w
        moment[u] += w * r * a
        gram[u] += pack(w * np.outer(a, a))
        square[u] += w * r * r


def permute(order: NDArray[np.int64], values: NDArray[Any]) -> None:
    """Bring `values[order]` into `values` itself."""
    values[:] = values[order]


def look_up_or_add(ids: NDArray[Any], known: dict[int, int], out: NDArray[np.int64]) -> int:
    """Number of ids known afterwards; each id's row, in order of first appearance, goes to `out`."""
    for i, key in enumerate(ids.tolist()):
        out[i] = known.setdefault(key, len(known))
    return len(known)
