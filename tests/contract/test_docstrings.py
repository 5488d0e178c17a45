"""Everything public says what it is."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from typing import Any

import coterie as ct


def public_things() -> Iterator[tuple[str, Any]]:
    """Every public module, class, function and method that coterie defines."""
    for found in pkgutil.walk_packages(ct.__path__, "coterie."):
        if any(part.startswith("_") for part in found.name.split(".")):
            continue
        module = importlib.import_module(found.name)
        yield found.name, module
        for name, thing in vars(module).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != found.name:
                continue
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield f"{found.name}.{name}", thing
            if inspect.isclass(thing):
                members = {key: value for key, value in vars(thing).items() if not key.startswith("_")}
                for key, member in members.items():
                    member = getattr(member, "__func__", member)  # noqa: PLW2901
                    if inspect.isfunction(member) or isinstance(member, property):
                        yield f"{found.name}.{name}.{key}", member


def test_everything_public_has_a_docstring() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        everything = dict(public_things())
    assert {
        "coterie.algorithms.off_club.OffCLUB.fit",
        "coterie.statistics.sums.summarize",
    } <= everything.keys()
    assert [name for name, thing in everything.items() if not (thing.__doc__ or "").strip()] == []
    assert [name for name in dir(ct) if not name.startswith("_") and getattr(ct, name) is None] == []
