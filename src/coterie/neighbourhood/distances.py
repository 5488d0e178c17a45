"""Exact distances between estimates, a block of rows at a time.

Takes: points (U, d).
Gives: blocks of the distance matrix, differences taken before squaring so that small distances are exact.
Next: `gaps` and `metric`, which compare them with thresholds.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from coterie.packed import FloatArray

DENSE_BELOW = 1000  # users: from there on the tree is the faster one, see docs/search.md
_BLOCK_NUMBERS = 1 << 20  # distances held at a time (8 MiB)
_SWEEPS = 8
_ROWS = 1 << 16  # of differences held at a time


def blocks(queries: FloatArray, points: FloatArray) -> Iterator[tuple[NDArray[np.int64], FloatArray]]:
    """Rows of `queries` and their distances (b, U) to all `points`: the same roundings as in the tree."""
    from coterie.neighbourhood.tree._kernels import pairwise

    step = max(1, _BLOCK_NUMBERS // max(1, len(points)))
    across = np.array(points.T, order="C")
    for start in range(0, len(queries), step):
        rows = np.arange(start, min(start + step, len(queries)))
        distance = np.empty((len(rows), len(points)))
        pairwise(np.array(queries[rows]), across, distance)
        yield rows, distance


def largest_found(points: FloatArray) -> float:
    """Distance of two points that are about as far apart as any, exact where all are on a line.

    From the point farthest from the mean to the one farthest from that, for as long as it grows.

    >>> largest_found(np.array([[0.0], [3.0], [-1.0]]))
    4.0
    """
    at, largest = points.mean(axis=0), -1.0
    for _ in range(_SWEEPS):
        away = _distances_to(at, points)
        far = int(away.argmax())
        if largest >= 0 and away[far] <= largest:
            break
        largest, at = (0.0 if largest < 0 else float(away[far])), points[far]
    return max(largest, 0.0)


def _distances_to(at: FloatArray, points: FloatArray) -> FloatArray:
    """Distance of each point to one."""
    away = np.empty(len(points))
    for begin in range(0, len(points), _ROWS):
        part = slice(begin, begin + _ROWS)
        away[part] = np.linalg.norm(points[part] - at, axis=1)
    return away
