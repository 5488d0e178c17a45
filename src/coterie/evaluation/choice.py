r"""The value of choosing among held-out rows of one user: the model's pick, a random one, the best.

Takes: scores, rewards, and the user of each held-out row.
Gives: per user, the mean reward of the row picked, over all sets of k of her rows.
Next: `held_out`.

A user with m held-out rows has binom(m, k) sets of k rows. The row with r rows ranked above it is
picked in binom(m - 1 - r, k - 1) of them, so the mean over all sets is a weighted mean of her rewards:
no set is drawn, and nothing is left to chance.
"""

import numpy as np

from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray


def picked(score: FloatArray, reward: FloatArray, user: IntArray, n_users: int, size: int) -> FloatArray:
    r"""Mean reward (n_users,) of the row with the highest score, NaN for users with fewer than two rows.

    .. math:: \sum_r \binom{m - 1 - r}{k - 1} \binom{m}{k}^{-1} \, r_{(r)}, \quad k = \min(m, \text{size})

    Equal scores share their weights.

    Examples
    --------
    Of the sets {1, 2}, {1, 3}, {2, 3} of three rows the best score takes 1, 1 and 2:

    >>> picked(np.array([3.0, 2.0, 1.0]), np.array([6.0, 3.0, 0.0]), np.zeros(3, dtype=int), 1, 2).tolist()
    [5.0]
    """
    order = np.lexsort((-score, user))
    ranked_user, ranked_score = user[order], score[order]
    count = np.bincount(user, minlength=n_users)
    first = np.cumsum(count) - count
    rank = np.arange(len(order)) - first[ranked_user]
    weight = _weights(rank, count[ranked_user], size)
    new = np.ones(len(order), dtype=bool)
    new[1:] = (ranked_user[1:] != ranked_user[:-1]) | (ranked_score[1:] != ranked_score[:-1])
    tie = np.cumsum(new) - 1
    shared = np.bincount(tie, weights=weight)[tie] / np.bincount(tie)[tie]
    total = np.bincount(ranked_user, weights=shared * reward[order], minlength=n_users)
    return np.where(count >= 2, total, np.nan)  # noqa: PLR2004


def _weights(rank: IntArray, count: IntArray, size: int) -> FloatArray:
    r"""Share of the sets in which the row of this rank is the first, by the recursion over ranks.

    .. math:: w_0 = k / m, \qquad w_{r+1} = w_r \frac{m - k - r}{m - 1 - r}
    """
    top = int(count.max(initial=0))
    distinct, place = np.unique(count, return_inverse=True)
    table = np.zeros((len(distinct), top))
    k_of = np.minimum(distinct, size)
    table[:, 0] = k_of / distinct
    for r in range(top - 1):
        left = np.maximum(distinct - 1 - r, 1)
        table[:, r + 1] = table[:, r] * np.maximum(distinct - k_of - r, 0) / left
    return table[place, rank]
