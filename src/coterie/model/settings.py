"""Parameter objects as plain values, so that a model file can say how it was made.

Takes: an algorithm, a `Confidence`, a `Bonus`, a regularity.
Gives: dictionaries of numbers and text, and the objects back.
Next: `coterie.model_file`.
"""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from coterie.confidence import IID, Confidence, Observed, Regularity, Smoothed
from coterie.errors import FileError

_REGULARITIES: dict[str, Any] = {"Smoothed": Smoothed, "IID": IID, "Observed": Observed}


def settings_of(parameters: Any) -> dict[str, Any]:
    """Fields of a parameter object, nested ones with their class name.

    >>> from coterie.decision import Bonus
    >>> settings_of(Bonus(sign=0))
    {'sign': 0, 'form': 'norm', 'scale': 1.0, 'prior': 'printed'}
    """
    return {field.name: _plain(getattr(parameters, field.name)) for field in fields(parameters)}


def confidence_from(settings: dict[str, Any]) -> Confidence:
    """`Confidence` with these settings.

    >>> from coterie.confidence import Smoothed
    >>> confidence_from(settings_of(Confidence(regularity=Smoothed(0.1)))).regularity
    Smoothed(value=0.1)
    """
    given = dict(settings)
    regularity = dict(given.pop("regularity"))
    made: Regularity = _REGULARITIES[regularity.pop("class")](**regularity)
    return Confidence(regularity=made, **given)


def require_known(regularity: Regularity) -> None:
    """Nothing, if a file can name the class of the regularity, so that loading finds it again."""
    if type(regularity) not in _REGULARITIES.values():
        raise FileError(
            f"the model was fitted with regularity {type(regularity).__name__}, a class of your own, which "
            "a file cannot hold; fit with Observed(), Smoothed(value) or IID(value) to save"
        )


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {"class": type(value).__name__, **settings_of(value)} if _named(value) else settings_of(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def _named(value: object) -> bool:
    return type(value).__name__ in _REGULARITIES
