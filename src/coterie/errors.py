"""Everything that can go wrong by a user's doing, one class per place.

Every message says what was given, what is required and what to do.
"""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class CoterieError(ValueError):
    """The root: catch this to catch every error that the library raises on purpose."""


class LogError(CoterieError):
    """Logs, requests or statistics that cannot be used as they are."""


class ParameterError(CoterieError):
    """A parameter outside its range."""


class ActionError(CoterieError):
    """An action set that a model cannot decide over."""


class UnknownUserError(CoterieError):
    """A user that must be known and is not."""


class FileError(CoterieError):
    """A file that is missing, damaged, foreign or too new."""


class CoterieWarning(UserWarning):
    """Something was done that the reader should know of, or a guarantee is off."""


def warn(sentence: str) -> None:
    """Warn at the line outside the package that led here, however deep inside it the cause is known."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith("coterie."):
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, CoterieWarning, stacklevel=level)


@contextmanager
def quietly() -> Iterator[None]:
    """Keep what is warned about meanwhile to itself: for trials whose last fit will say it again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoterieWarning)
        yield
