"""How many samples the paper asks of a user.

Takes: the number of users, the dimension, the failure probability, the regularity, the true gap.
Gives: N_min, the count of a delta-sufficient user, and who has it.
Paper: Algorithm 1, line 2; Assumption "delta-Sufficient Dataset".
Next: `coterie.theory.ranges`.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.checks import at_least, positive, probability
from coterie.confidence import Observed, Regularity, min_samples_of
from coterie.theory import checks


def min_samples(n_users: int, dim: int, failure_prob: float, regularity: float | Regularity) -> float:
    r"""N_min: the count from which every user's smallest eigenvalue is proven to be x N / 2.

    .. math:: N_{\min} = \frac{16}{x^2} \log\frac{8 U d}{x^2 \delta}

    x is the regularity, a number, `Smoothed` or `IID`. Under `Observed()` it is 0: nothing is assumed, so
    nothing has to be waited for. Actions of length at most 1 have x <= 1/d, so it is at least
    16 d^2 log(8 U d^3 / delta). Algorithm 1, line 2.

    Examples
    --------
    16 * log(8 / 0.08) = 16 * 4.605:

    >>> round(min_samples(1, 1, 0.08, 1.0), 2)
    73.68
    """
    at_least("n_users", n_users, 1)
    at_least("dim", dim, 1)
    probability("failure_prob", failure_prob)
    if isinstance(regularity, Observed):
        return 0.0
    return min_samples_of(checks.regularity_value(regularity), n_users, dim, failure_prob)


def sufficient_samples(
    n_users: int, dim: int, failure_prob: float, regularity: float | Regularity, gap: float
) -> float:
    r"""Count from which a user is delta-sufficient: N_min, or what telling clusters apart takes.

    .. math:: \max\left\{\frac{16}{x^2} \log\frac{8 d U}{x^2 \delta},\;
        \frac{512 d}{\gamma^2 x} \log\frac{2 U}{\delta}\right\}

    `gap` is gamma, the true smallest distance between clusters. For noise 1 and ||theta|| <= 1, as the
    paper assumes; for noise R give gap / R. It separates clusters only where the conditions of
    `check_conditions` on lambda and delta hold too. Assumption "delta-Sufficient Dataset".

    Examples
    --------
    max(16 * log 100, 512 * log 25) = max(73.7, 512 * 3.2189):

    >>> round(sufficient_samples(1, 1, 0.08, 1.0, gap=1.0), 1)
    1648.1
    """
    x = checks.regularity_value(regularity)
    gamma = positive("gap", gap)
    first = min_samples(n_users, dim, failure_prob, x)
    return max(first, 512 * dim / (gamma * gamma * x) * checks.log_users(n_users, failure_prob))


def sufficient_users(
    count: ArrayLike, dim: int, failure_prob: float, regularity: float | Regularity, gap: float
) -> NDArray[np.bool_]:
    """Which users (U,) are delta-sufficient; `count` holds all users, so its length is U.

    Assumption "delta-Sufficient Dataset", first sentence.

    Examples
    --------
    Two users, so the second term is 512 * log(4 / 0.08) = 512 * 3.912 = 2003:

    >>> sufficient_users([2000, 2100], 1, 0.08, 1.0, gap=1.0)
    array([False,  True])
    """
    number = checks.counts(count)
    enough: NDArray[np.bool_] = number >= sufficient_samples(number.size, dim, failure_prob, regularity, gap)
    return enough


def is_sufficient(
    count: ArrayLike, dim: int, failure_prob: float, regularity: float | Regularity, gap: float
) -> bool:
    """Whether the data set is completely delta-sufficient: every user is, as Theorem 1 assumes.

    Assumption "delta-Sufficient Dataset", last sentence.

    Examples
    --------
    >>> is_sufficient([2000, 2100], 1, 0.08, 1.0, gap=1.0)
    False
    """
    return bool(sufficient_users(count, dim, failure_prob, regularity, gap).all())
