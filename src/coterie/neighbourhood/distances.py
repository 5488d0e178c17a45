"""Exact distances between estimates, a block of rows at a time.

Takes: points (U, d).
Gives: blocks of the distance matrix, differences taken before squaring so that small distances are exact.
Next: `gaps` and `metric`, which compare them with thresholds.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from coterie.packed import FloatArray

_BLOCK_NUMBERS = 1 << 20  # distances held at a time (8 MiB)


def blocks(queries: FloatArray, points: FloatArray) -> Iterator[tuple[NDArray[np.int64], FloatArray]]:
    """Rows of `queries` and their distances (b, U) to all `points`."""
    from scipy.spatial.distance import cdist

    step = max(1, _BLOCK_NUMBERS // max(1, len(points)))
    for start in range(0, len(queries), step):
        rows = np.arange(start, min(start + step, len(queries)))
        yield rows, cdist(queries[rows], points)
