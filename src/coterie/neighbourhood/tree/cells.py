r"""Cells of users around a few estimates, so that the splits of a tree do not cut through clusters.

Takes: points and the slack and limit of each.
Gives: the cell of each point and the centre of each cell; one cell of all where there are no few.
Next: `ball_tree`, whose splits keep cells whole for as long as a node has several.

A plane between two halves of many clusters cuts some of them, and a node with pieces of clusters is a
wide ball. So a sample is covered by balls of the size of the typical threshold, and points go to the
nearest: clusters narrower than the threshold and farther apart than that have a cell each.
"""

import numpy as np

from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray

_SAMPLE = 4096  # points that cells are made of
_MOST = 512  # cells: points that need more have no clusters to keep whole
_ROUNDS = 2  # of moving centres to the means of their cells


def cells_of(points: FloatArray, slack: FloatArray, limit: FloatArray) -> tuple[IntArray, FloatArray]:
    """Cell (n,) of each point and centres (k, d).

    >>> at = np.array([[0.0], [9.0], [0.2], [9.2]])
    >>> cells_of(at, np.zeros(4), np.ones(4))[0].tolist()
    [0, 1, 0, 1]
    """
    from coterie.neighbourhood.tree import _kernels

    cell = np.zeros(len(points), dtype=np.int64)
    some = np.linspace(0, len(points) - 1, min(len(points), _SAMPLE)).astype(np.int64)
    reach = float(np.median(limit[some] - 2 * slack[some])) if len(some) else 0.0
    sample = np.ascontiguousarray(points[some])
    chosen = _kernels.cover(sample, max(reach, 0.0), _MOST) if reach > 0 else np.zeros(0, np.int64)
    if not 1 < len(chosen) <= _MOST:
        return cell, points[:1]
    centres, own = sample[chosen], cell[: len(some)].copy()
    for _ in range(_ROUNDS):
        _kernels.nearest(sample, np.ascontiguousarray(centres.T), own)
        size = np.bincount(own, minlength=len(centres))
        for k in np.flatnonzero(size):
            centres[k] = sample[own == k].mean(axis=0)
    _kernels.nearest(points, np.ascontiguousarray(centres.T), cell)
    return cell, centres
