"""The plain twin of `_kernels.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.packed import unpack

Array = NDArray[Any]


def turn(action: Array, theta: Array, turned: Array, value: Array) -> None:
    """Write candidates (B, K, d) as `turned` (B, d, K), and their `value` (B, K) by the truth (B, d)."""
    turned[:] = action.swapaxes(1, 2)
    value[:] = np.einsum("bkd,bd->bk", action, theta)


def lose(
    rows: Array, group: Array, turned: Array, value: Array, theta: Array, factor: Array, wide: Array,
    sign: float, squared: bool, lost: Array,
) -> None:  # fmt: skip
    """Write into `lost` (B,) what each request in `rows` loses by the best score; ties go to the first.

    Request b is of group `group[b]`; `theta` (G, d), packed Cholesky factors `factor` and `wide` (G,), by
    which the norms are multiplied, belong to groups.
    """
    for row in rows:
        g = group[row]
        lower = np.tril(unpack(factor[g]))
        norm = np.linalg.norm(np.linalg.solve(lower, turned[row]), axis=0)
        score = theta[g] @ turned[row] + sign * wide[g] * (norm**2 if squared else norm)
        lost[row] = value[row].max() - value[row, int(np.argmax(score))]
