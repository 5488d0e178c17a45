"""Users in a few clusters, so that a map can be coloured: the lenders of one user, then of another.

Takes: a neighbourhood, the number of users that each user is served from, and everybody's own samples.
Gives: a cluster for each user, and how many there are.
Next: `survey`.
"""

import numpy as np
from numpy.typing import NDArray

from coterie.mixture.sharing import SharedComponents
from coterie.neighbourhood import Metric, Neighbourhood
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray

LARGEST = 12
_KNOWN_WELL = 0.9
_LIKELY = 0.5
_TRIES = 200  # users asked for their lenders: each costs a comparison with everybody


def clusters_of(
    hood: Neighbourhood, n_pooled: IntArray, count: FloatArray, most: int = LARGEST
) -> tuple[IntArray, int]:
    """Cluster (U,) of each user, -1 for those in none, and the number of clusters, the largest first.

    One is made of a user who is known well and of those who lend to her or borrow from her; the next
    likewise, of those left. Known well is who has about as many samples as the ninth decile: with fewer, a
    user looks like too many others, with far more, like nobody. Users served alone are in none; a
    cluster has at least two users. Ties go to the lowest row. Under a mixture the clusters are the largest
    components: a user is in the one that she is of with a probability of at least one half.

    Examples
    --------
    >>> from coterie.neighbourhood import SameLabel
    >>> clusters_of(SameLabel(np.array([4, 9, 9, 9, 4, 5])), np.array([2, 3, 3, 3, 2, 1]), np.ones(6))
    (array([ 1,  0,  0,  0,  1, -1]), 2)
    """
    cluster = np.full(hood.n_users, -1, dtype=np.int64)
    if isinstance(hood, SharedComponents):
        return _components(hood, most)
    free = n_pooled > 1
    found, tries = 0, 0
    away = np.abs(np.log1p(count) - np.log1p(np.quantile(count, _KNOWN_WELL)))
    for row in np.argsort(away, kind="stable").tolist():
        if found == most or tries == _TRIES or not free.any():
            break
        if not free[row]:
            continue
        tries += 1
        members = _joined(hood, row) & free
        members[row] = True
        free &= ~members
        if np.count_nonzero(members) > 1:
            cluster[members] = found
            found += 1
    return _by_size(cluster, found), found


def _components(hood: SharedComponents, most: int) -> tuple[IntArray, int]:
    """The largest components of a mixture."""
    p = hood.responsibility[:-1]
    likely = np.where(p.max(axis=1) >= _LIKELY, p.argmax(axis=1), -1)
    size = np.bincount(likely[likely >= 0], minlength=p.shape[1])
    kept = np.argsort(-size, kind="stable")[:most]
    kept = kept[size[kept] > 0]
    rank = np.full(p.shape[1] + 1, -1, dtype=np.int64)
    rank[kept] = np.arange(len(kept))
    return rank[likely], len(kept)


def _joined(hood: Neighbourhood, row: int) -> NDArray[np.bool_]:
    """Who lends to the user in a row, or borrows from her."""
    trace = hood.trace(row)
    if not isinstance(hood, Metric) or not hood.strict or hood.mutual:
        return trace.lends
    left = trace.distance + (hood.slack[row] + hood.slack[:-1])
    return np.asarray(trace.lends | (left < hood.limit[:-1]))


def _by_size(cluster: IntArray, n: int) -> IntArray:
    """Clusters numbered from the largest to the smallest."""
    size = np.bincount(cluster[cluster >= 0], minlength=n)
    rank = np.empty(n + 1, dtype=np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(n)
    rank[-1] = -1
    return rank[cluster]
