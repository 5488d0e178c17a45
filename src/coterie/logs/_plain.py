"""The plain twin of `_kernels.py`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def side_by_side(columns: Sequence[NDArray[Any]], out: NDArray[np.float64]) -> None:
    """Write columns as the columns of `out` (n, d)."""
    for j, column in enumerate(columns):
        out[:, j] = column
