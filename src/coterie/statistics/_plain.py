"""The plain twins of `_kernels.py`: the same results with loops that a reader can check."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.packed import pack


def accumulate(
    keys: NDArray[np.int64], code: tuple[int, int], action: Sequence[NDArray[Any]],
    reward: Sequence[NDArray[Any]], weight: Sequence[NDArray[Any]], count: NDArray[Any],
    moment: NDArray[Any], gram: NDArray[Any], square: NDArray[Any], longest: NDArray[Any],
) -> None:  # fmt: skip
    """Add the rows that `keys` name, in which the rows of a user stand together.

    A key is user, part and row side by side: with `code` (s, b), user `key >> s`, and row i, its lowest b
    bits, of part p, the bits between. That row of `action[p]`, `reward[p]` and `weight[p]` adds `w`,
    `w r a`, `w a a'` (packed) and `w r^2` to the user, whose `longest` becomes the largest squared length
    of an action; no weights mean 1 for each row, and a row of weight 0 is no row.
    """
    shift, bits = code
    for key in keys.tolist():
        u, p, i = key >> shift, (key >> bits) % (1 << (shift - bits)), key % (1 << bits)
        w = weight[p][i] if len(weight) else 1.0
        if w == 0:
            continue
        a, r = action[p][i], reward[p][i]
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
