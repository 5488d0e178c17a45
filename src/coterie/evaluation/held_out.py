r"""How a model fares on rows that it has not seen: sums per user, from which every score is made.

Takes: predictions of the judged rows, the spread of the noise, the training counts.
Gives: per user the rows judged, the sums of the losses, the value of choosing.
Next: `scores`.

The predictive distribution of a reward is Gaussian with mean theta' a and variance s^2 (1 + a' M^-1 a).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.evaluation.choice import picked
from coterie.evaluation.predict import Predicted
from coterie.evaluation.rows import LoggedRows
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray

LEVELS = (0.5, 0.8, 0.9, 0.95)
COLUMNS = (
    *("rows", "own_mean_error", "choice_rows", "random", "hindsight"),
    *("squared_error", "log_likelihood", "choice"),
    *("reward_square", "product", "estimate_square", "direction_error"),
    *(f"covered_{level}" for level in LEVELS),
)


@dataclass(frozen=True, eq=False)
class Judged:
    """The rows that a split judges: row numbers, users, rewards, and what does not depend on a model.

    `own_mean` is the mean reward of the user's training rows, that of all of them for a user without;
    `count` (U,) her training rows; `fixed` sums per user, choosing at random and in hindsight among them.
    """

    row: IntArray
    user: IntArray
    reward: FloatArray
    weight: FloatArray
    count: FloatArray
    choice_size: int
    fixed: dict[str, FloatArray]


def judged(rows: LoggedRows, test: NDArray[np.bool_], part: FloatArray, choice_size: int) -> Judged:
    """Judged rows of a split whose training part has these weights."""
    row = np.flatnonzero(test & (rows.weights > 0))
    weight = rows.weights * part
    n = len(rows.users)
    count = per_user(rows.user, weight, n)
    total = per_user(rows.user, weight * rows.reward, n)
    overall = float(total.sum() / count.sum())
    mean = np.divide(total, count, out=np.full(n, overall), where=count > 0)
    user, reward, judging = rows.user[row], rows.reward[row], rows.weights[row]
    error = (reward - mean[user]) ** 2
    several = np.bincount(user, minlength=n)
    fixed = {
        "rows": per_user(user, judging, n),
        "own_mean_error": per_user(user, judging * error, n),
        "choice_rows": np.where(several >= 2, several, 0).astype(np.float64),  # noqa: PLR2004
    }
    on = Judged(row, user, reward, judging, count, choice_size, fixed)
    fixed["random"] = _value(np.zeros(len(row)), on)
    fixed["hindsight"] = _value(reward, on)
    return on


def sums_of(said: Predicted, spread: float, on: Judged) -> dict[str, FloatArray]:
    """Sums (U,) of one split by name (`COLUMNS`); `choice` and its like are values times `choice_rows`."""
    error = on.reward - said.estimate
    variance = spread**2 * (1 + said.spread)

    def total(values: FloatArray) -> FloatArray:
        return per_user(on.user, on.weight * values, len(on.count))

    squares = {
        "reward_square": total(on.reward**2),
        "product": total(on.reward * said.estimate),
        "estimate_square": total(said.estimate**2),
    }
    half = {f"covered_{level}": normal_quantile(level) * np.sqrt(variance) for level in LEVELS}
    return {
        **on.fixed,
        "squared_error": total(error**2),
        "log_likelihood": total(-0.5 * (np.log(2 * math.pi * variance) + error**2 / variance)),
        "choice": _value(said.score, on),
        **squares,
        "direction_error": _direction(**squares),
        **{name: total((np.abs(error) <= width).astype(np.float64)) for name, width in half.items()},
    }


def _direction(reward_square: FloatArray, product: FloatArray, estimate_square: FloatArray) -> FloatArray:
    r"""Squared error (U,) after a user's predictions are multiplied by the factor >= 0 that suits best.

    .. math:: \sum r^2 - \max\Big(\sum r \hat r, 0\Big)^2 \Big/ \sum \hat r^2

    A factor per user changes none of her greedy decisions, so this error is about what decides. The factor
    takes a degree of freedom a user from every algorithm alike, so it sees less than one factor for all.
    """
    nothing, some = np.zeros_like(product), estimate_square > 0
    explained = np.divide(np.maximum(product, 0.0) ** 2, estimate_square, out=nothing, where=some)
    return np.asarray(reward_square - explained)


def per_user(user: IntArray, values: FloatArray, n_users: int) -> FloatArray:
    """Sum (n_users,) of each user's values.

    >>> per_user(np.array([1, 1]), np.array([2.0, 3.0]), 2).tolist()
    [0.0, 5.0]
    """
    return np.asarray(np.bincount(user, weights=values, minlength=n_users), dtype=np.float64)


def _value(score: FloatArray, on: Judged) -> FloatArray:
    """Value of choosing by these scores among a user's judged rows, times the number of them."""
    value = picked(score, on.reward, on.user, len(on.count), on.choice_size)
    return np.where(on.fixed["choice_rows"] > 0, value, 0.0) * on.fixed["choice_rows"]


def normal_quantile(level: float) -> float:
    """Half-width of the central interval of a standard normal that holds a share of `level`.

    >>> round(normal_quantile(0.95), 3)
    1.96
    """
    from statistics import NormalDist

    return NormalDist().inv_cdf(0.5 + level / 2)
