"""Numbers and words at the borders: every parameter is checked here before a formula sees it.

Takes: one parameter and its name.
Gives: the parameter, or a `ParameterError` of one sentence.
Next: every stage whose settings a user writes.
"""

import math
from collections.abc import Sequence

import numpy as np

from coterie.errors import ParameterError


def number(name: str, value: object) -> float:
    """The value as a float, refused unless it is one finite number.

    >>> number("gap", np.float32(2))
    2.0
    """
    plain = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not plain or not math.isfinite(value):  # type: ignore[arg-type]
        raise ParameterError(f"{name} is {value!r}; it must be a finite number")
    return float(value)  # type: ignore[arg-type]


def positive(name: str, value: object) -> float:
    """The value as a float, refused unless it is finite and above 0.

    >>> positive("ridge", 2)
    2.0
    """
    given = number(name, value)
    if not given > 0:
        raise ParameterError(f"{name} is {value}; it must be a finite number above 0")
    return given


def at_least(name: str, value: object, least: float) -> float:
    """The value as a float, refused unless it is finite and reaches `least`.

    >>> at_least("dim", 3, 1)
    3.0
    """
    given = number(name, value)
    if not given >= least:
        raise ParameterError(f"{name} is {value}; it must be a finite number, {least:g} or more")
    return given


def probability(name: str, value: object) -> float:
    """The value as a float, refused unless it lies strictly between 0 and 1.

    >>> probability("failure_prob", 0.01)
    0.01
    """
    given = number(name, value)
    if not 0 < given < 1:
        raise ParameterError(f"{name} is {value}; it must lie strictly between 0 and 1, say 0.01")
    return given


def one_of(name: str, value: object, choices: Sequence[object]) -> object:
    """The value, refused unless it is one of the choices.

    >>> one_of("form", "norm", ("norm", "squared"))
    'norm'
    """
    if isinstance(value, bool) or not any(
        type(value) is type(choice) and value == choice for choice in choices
    ):
        raise ParameterError(f"{name} is {value!r}; give {' or '.join(map(repr, choices))}")
    return value


def number_or(name: str, value: object, words: Sequence[str], least: float = 0.0) -> object:
    """The value, refused unless it is one of the words or a finite number that reaches `least`.

    >>> number_or("gap", "over", ("over", "under")), number_or("gap", 0.5, ("over", "under"))
    ('over', 0.5)
    """
    if isinstance(value, str) and value in words:
        return value
    if isinstance(value, str):
        raise ParameterError(f"{name} is {value!r}; give {' or '.join(map(repr, words))} or a number")
    return at_least(name, value, least)
