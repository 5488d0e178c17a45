r"""Off-policy estimators: what a policy would have earned, from the log of another one.

Takes: per row the weight w = pi(a | x) / p, the reward r, and what a reward model says.
Gives: `Estimator` rows: a numerator and a denominator per row, whose sums' quotient is the value.
Next: `policy_values`.

pi is the policy that is judged, p the logged probability of the action taken. For a policy that takes one
action, w = 1{a = pi(x)} / p.

============== ======================================== =================================================
name           value                                    bias
============== ======================================== =================================================
ips            mean of w r                              none, if every action that pi takes could be logged
clipped_ips    mean of min(w, c) r                      towards 0 for rewards >= 0; none once c >= max w
snips          sum of w r / sum of w                    in the order of 1 / n
direct         mean of q(x, pi(x))                      that of the reward model q
doubly_robust  mean of q(x, pi(x)) + w (r - q(x, a))    none, like ips; also none where q is true
replay         mean of r over rows with a = pi(x)       none, if all actions were logged alike often
============== ======================================== =================================================

q must not have seen the rows that judge.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coterie.packed import FloatArray

LOGGED = "logging policy"


@dataclass(frozen=True, eq=False)
class Weighed:
    """Judged rows: weight, reward, q(x, a) of the action logged and q(x, pi(x)) of the one chosen."""

    weight: FloatArray
    reward: FloatArray
    logged: FloatArray
    chosen: FloatArray


Pair = tuple[FloatArray, FloatArray]


def ips(rows: Weighed) -> Pair:
    r"""Inverse propensity score.

    .. math:: \hat V = \frac1n \sum_i w_i r_i

    >>> value(ips(Weighed(np.array([2.0, 0.0]), np.array([3.0, 9.0]), *np.zeros((2, 2)))))
    3.0
    """
    return rows.weight * rows.reward, np.ones(len(rows.reward))


def snips(rows: Weighed) -> Pair:
    r"""Self-normalised inverse propensity score.

    .. math:: \hat V = \sum_i w_i r_i \Big/ \sum_i w_i

    >>> value(snips(Weighed(np.array([3.0, 1.0]), np.array([1.0, 5.0]), *np.zeros((2, 2)))))
    2.0
    """
    return rows.weight * rows.reward, rows.weight


def direct(rows: Weighed) -> Pair:
    r"""Direct method: the reward model is taken at its word.

    .. math:: \hat V = \frac1n \sum_i \hat q(x_i, \pi(x_i))

    >>> value(direct(Weighed(*np.zeros((3, 2)), np.array([1.0, 4.0]))))
    2.5
    """
    return rows.chosen, np.ones(len(rows.reward))


def doubly_robust(rows: Weighed) -> Pair:
    r"""Direct method, corrected by the weighted errors of the reward model.

    .. math:: \hat V = \frac1n \sum_i \hat q(x_i, \pi(x_i)) + w_i (r_i - \hat q(x_i, a_i))

    >>> value(doubly_robust(Weighed(np.array([2.0]), np.array([3.0]), np.array([1.0]), np.array([1.0]))))
    5.0
    """
    return rows.chosen + rows.weight * (rows.reward - rows.logged), np.ones(len(rows.reward))


def replay(rows: Weighed) -> Pair:
    r"""Mean reward of the rows in which the log took the policy's action; for uniform logging.

    .. math:: \hat V = \sum_i 1\{w_i > 0\} r_i \Big/ \sum_i 1\{w_i > 0\}

    >>> value(replay(Weighed(np.array([2.0, 0.0]), np.array([3.0, 9.0]), *np.zeros((2, 2)))))
    3.0
    """
    matched = (rows.weight > 0).astype(np.float64)
    return matched * rows.reward, matched


ESTIMATORS: dict[str, Callable[[Weighed], Pair]] = {
    "ips": ips,
    "snips": snips,
    "direct": direct,
    "doubly_robust": doubly_robust,
    "replay": replay,
}


def value(pair: Pair) -> float:
    """Quotient of the sums, NaN where the denominator is 0."""
    total = float(pair[1].sum())
    return float(pair[0].sum()) / total if total else float("nan")


def clipped(rows: Weighed, most: float) -> Weighed:
    """Rows with no weight above `most`.

    >>> clipped(Weighed(np.array([2.0, 9.0]), *np.zeros((3, 2))), 4.0).weight.tolist()
    [2.0, 4.0]
    """
    return Weighed(np.minimum(rows.weight, most), rows.reward, rows.logged, rows.chosen)


def effective_size(weight: FloatArray) -> float:
    r"""Effective sample size, 0 where no weight is above 0.

    .. math:: \left(\sum_i w_i\right)^2 \Big/ \sum_i w_i^2

    >>> effective_size(np.array([1.0, 1.0, 0.0, 0.0])), effective_size(np.zeros(3))
    (2.0, 0.0)
    """
    square = float((weight**2).sum())
    return float(weight.sum()) ** 2 / square if square else 0.0
