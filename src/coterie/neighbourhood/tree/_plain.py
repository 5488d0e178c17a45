"""Plain twin of the compiled distances."""

from typing import Any

import numpy as np


def nearest(points: Any, across: Any, found: Any) -> None:
    """The nearest column (d, k) to each point, the first of equal ones."""
    square = np.empty((len(points), across.shape[1]))
    pairwise(points, across, square)
    found[:] = np.square(square).argmin(axis=1)


def cover(points: Any, reach: float, most: int) -> Any:
    """Points such that every point is within reach of one of them; one more than `most` at the utmost."""
    chosen, away = list[int](), np.empty((len(points), len(points)))
    pairwise(points, points.T, away)
    covered = np.zeros(len(points), dtype=bool)
    while not covered.all() and len(chosen) <= most:
        chosen.append(int(np.argmin(covered)))
        covered |= away[chosen[-1]] <= reach
        covered[chosen[-1]] = True
    return np.array(chosen, dtype=np.int64)


def pairwise(one: Any, across: Any, out: Any) -> None:
    """Distances of rows (b, d) to columns (d, n): squares added in the order of coordinates."""
    out[:] = 0.0
    for k in range(one.shape[1]):
        gap = one[:, k, np.newaxis] - across[k]
        out += gap * gap
    np.sqrt(out, out=out)
