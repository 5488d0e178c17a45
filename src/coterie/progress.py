"""How long work tells whoever started it how far it is.

Library code calls a `Progress`; only the command line draws a bar from it.
"""

from typing import Protocol


class Progress(Protocol):
    """Called with the name of a stage, the units done and the units in all (None: not known)."""

    def __call__(self, stage: str, done: int, total: int | None, /) -> None:
        """Take note of how far the stage is."""


def silent(stage: str, done: int, total: int | None, /) -> None:
    """Take no note: the default."""
