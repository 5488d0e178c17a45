"""Compiled change from columns to rows; the twin is in `_plain.py`."""

from collections.abc import Sequence
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from coterie._memory import addresses, number

_ROWS, _COLUMNS = 256, 32  # of a block, whose lines stay near the processor until they are used up


def side_by_side(columns: Sequence[NDArray[Any]], out: NDArray[np.float64]) -> None:
    """Write columns as the columns of `out` (n, d); see `_plain.side_by_side`."""
    held = [np.ascontiguousarray(column, dtype=np.float64) for column in columns]
    _fill(addresses(held), out)


@nb.njit(nb.void(nb.int64[::1], nb.float64[:, ::1]), nogil=True, cache=True)
def _fill(columns: Any, out: Any) -> None:
    n, dim = out.shape
    for first in range(0, n, _ROWS):
        for left in range(0, dim, _COLUMNS):
            for i in range(first, min(first + _ROWS, n)):
                for j in range(left, min(left + _COLUMNS, dim)):
                    out[i, j] = number(columns[j], i)
