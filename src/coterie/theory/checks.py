"""The borders of the theory: every number is checked here before a formula sees it.

Takes: one argument of a public function and its name.
Gives: the argument as a number or an array, or a `ParameterError` of one sentence.
Paper: the ranges under which each statement is made.
Next: `coterie.theory.regularity`.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.checks import at_least, positive, probability
from coterie.confidence import IID, Confidence, Regularity, Smoothed
from coterie.errors import ParameterError
from coterie.packed import FloatArray


def log_users(n_users: float, failure_prob: float) -> float:
    r"""The number log(2 U / delta), which the union over users leaves in every formula.

    >>> round(log_users(1, 0.02), 3)
    4.605
    """
    return math.log(2 * at_least("n_users", n_users, 1) / probability("failure_prob", failure_prob))


def regularity_value(regularity: float | Regularity) -> float:
    """The regularity as a number; `Observed()` has none and is refused.

    >>> regularity_value(Smoothed(0.05)), regularity_value(0.5)
    (0.05, 0.5)
    """
    if isinstance(regularity, Smoothed | IID):
        return regularity.value
    if isinstance(regularity, int | float | np.number):
        return positive("the regularity", regularity)
    raise ParameterError(
        f"the regularity is {regularity!r}; a statement in terms of counts needs a number, "
        "so give one, Smoothed(value) or IID(value)"
    )


def noise_value(confidence: Confidence) -> float:
    """The noise as a number; "estimate" is refused, since no rewards are at hand here."""
    if isinstance(confidence.noise, str):
        raise ParameterError(
            f"noise is {confidence.noise!r}; the theory needs a number, so give one "
            "or use confidence.resolved(stats)"
        )
    return confidence.noise


def counts(value: ArrayLike) -> FloatArray:
    """Counts (U,) of all users, refused unless finite, not negative and at least one.

    >>> counts([3, 0])
    array([3., 0.])
    """
    count = np.asarray(value, dtype=np.float64)
    if count.ndim != 1 or count.size == 0:
        raise ParameterError(f"count has shape {count.shape}; give one number per user, shape (U,)")
    if not (np.isfinite(count) & (count >= 0)).all():
        raise ParameterError(f"count has {count.min()} as its smallest number; give finite counts, 0 or more")
    return count


def mask(name: str, value: ArrayLike, n_users: int) -> NDArray[np.bool_]:
    """A yes or no (U,) per user."""
    chosen = np.asarray(value)
    if chosen.shape != (n_users,) or chosen.dtype != np.bool_:
        raise ParameterError(
            f"{name} has shape {chosen.shape} and type {chosen.dtype}; "
            f"give one True or False per user, shape ({n_users},)"
        )
    return chosen
