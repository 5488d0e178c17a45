"""Plain twin of the compiled search for the nearest user that is apart."""

from typing import Any

import numpy as np

from coterie.neighbourhood.tree._plain import pairwise


def nearest_apart(tree: Any, asked: Any, itself: Any, begin: Any, end: Any, under: bool, best: Any) -> None:
    """Least distance less (under) or plus both radii, over users apart from each query by more than both."""
    away = np.empty((len(asked.points), len(tree.points)))
    pairwise(asked.points, tree.points.T, away)
    both = asked.slack[:, np.newaxis] + tree.slack
    apart = (away + both > 0) & (itself[:, np.newaxis] != np.arange(len(tree.points)))
    value = np.where(apart, away + both if under else away - both, np.inf)
    for a, b in zip(begin, end, strict=True):
        best[a:b] = value[a:b].min(axis=1, initial=np.inf)
