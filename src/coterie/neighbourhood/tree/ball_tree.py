r"""A ball tree whose nodes know how near and how far their members' thresholds reach.

Takes: points, the slack and limit of each, and for mutual rules a cap of each as a lender.
Gives: a `BallTree`, in whose order the users of one node are next to each other.
Next: `search`, which walks it.

A leaf is small, or it is a ball that its median member borrows from as a whole: a tight cluster is one
leaf, however large. With r_v the distance of member v to the centre of her node,

.. math:: D_u - r_v \le \|\hat\theta_u - \hat\theta_v\| \le D_u + r_v

so that the largest `r_v + slack_v` and the least `slack_v - r_v` tell whether all lend, or none. Members
of a leaf are sorted by `r_v + slack_v`: those up to some place lend without being looked at.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.neighbourhood.neighbourhood import IntArray
from coterie.neighbourhood.tree.cells import cells_of
from coterie.packed import FloatArray

LARGEST_LEAF = 256
_HUGE = 1e300  # stands for an infinite limit, which every finite left side is below

WordArray = NDArray[np.uint64]


class BallTree(NamedTuple):
    """The tree, as arrays: what belongs to places, to places in whole vectors, and to nodes.

    `order` names the row of each place. `cap` is the limit of a user as a lender, infinite unless the rule
    is mutual. `key` is r + slack, ascending in a leaf; `key_cap` the largest key - cap up to a place and
    `fall` the largest r - slack; `first` and `second` are sums of the users' random words before a place.

    In whole vectors, a leaf beginning at `laid`: `beside` has its coordinates relative to the centre, side by
    side, infinite beyond its members; `slack32` and `reach32` slack and cap - slack; `word` and `other` the
    random words.

    A node has places `start` to `stop` and the children `child` and `child + 1`, or -1; `bounds` are the
    extremes of r + slack, of slack - r, of both less cap, of slack, and the largest size of any of these;
    `same` says that all members have one point, slack and cap.
    """

    order: IntArray
    points: FloatArray
    slack: FloatArray
    limit: FloatArray
    cap: FloatArray
    key: FloatArray
    key_cap: FloatArray
    fall: FloatArray
    first: WordArray
    second: WordArray
    beside: NDArray[np.float32]
    slack32: NDArray[np.float32]
    reach32: NDArray[np.float32]
    word: WordArray
    other: WordArray
    laid: IntArray
    start: IntArray
    stop: IntArray
    child: IntArray
    centre: FloatArray
    bounds: FloatArray
    same: NDArray[np.bool_]
    depth: int

    @property
    def leaves(self) -> IntArray:
        """Nodes without children, in the order of their places."""
        leaves = np.flatnonzero(self.child < 0)
        return leaves[np.argsort(self.start[leaves])]


def ball_tree(
    points: FloatArray,
    slack: FloatArray,
    limit: FloatArray,
    *,
    rows: IntArray | None = None,
    mutual: bool = False,
    largest: int = LARGEST_LEAF,
) -> BallTree:
    """Tree over users with finite slack; `rows` are their names, by which the random words are made.

    >>> tree = ball_tree(np.array([[0.0], [9.0], [0.1]]), np.zeros(3), np.ones(3), largest=1)
    >>> tree.order.tolist(), len(tree.start), tree.stop[tree.leaves].tolist()
    ([0, 2, 1], 3, [2, 3])
    """
    from coterie.neighbourhood.tree import _kernels

    n, dim = points.shape
    order = np.arange(n) if rows is None else np.array(rows, dtype=np.int64)
    at, s = np.array(points, dtype=np.float64, order="C"), np.array(slack, dtype=np.float64)
    most = np.minimum(limit, _HUGE)
    cap = most.copy() if mutual else np.full(n, np.inf)
    cell, spots = cells_of(at, s, most)
    start, stop, child, depth, centre, bounds, same = _kernels.build(
        at, s, most, cap, order, cell, spots, largest
    )
    key, key_cap, fall = np.empty(n), np.empty(n), np.empty(n)
    leaves = np.flatnonzero(child < 0)
    _kernels.sort_leaves(at, s, most, cap, order, start, stop, leaves, centre, key, key_cap, fall)
    width = -((start - stop)[leaves] // _kernels.VECTOR) * _kernels.VECTOR
    laid, total = np.full(len(start), -1), int(width.sum())
    laid[leaves] = np.cumsum(width) - width
    beside, slack32 = np.full(total * dim, np.inf, np.float32), np.zeros(total, np.float32)
    reach32, word, other = np.zeros(total, np.float32), np.zeros(total, np.uint64), np.zeros(total, np.uint64)
    own = words(order)
    _kernels.lay_out(
        at, s, cap, own, start, stop, leaves, laid, centre, beside, slack32, reach32, word, other
    )
    first, second = np.zeros((2, n + 1), np.uint64)
    np.cumsum(own[0], out=first[1:])
    np.cumsum(own[1], out=second[1:])
    return BallTree(
        order, at, s, most, cap, key, key_cap, fall, first, second, beside, slack32, reach32, word, other,
        laid, start, stop, child, centre, bounds, same, int(depth),
    )  # fmt: skip


def words(rows: IntArray) -> WordArray:
    """Two random words (2, n) of 64 bits per user, the same at each call (the mixing of splitmix64).

    Sums of words, modulo 2^64, tell sets of users apart: two different sets agree in both sums with
    probability 2^-128.
    """
    return np.stack([_mixed(rows, 0x9E3779B97F4A7C15), _mixed(rows, 0xD1B54A32D192ED03)])


def _mixed(rows: IntArray, step: int) -> WordArray:
    z = (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(step)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return z ^ (z >> np.uint64(31))
