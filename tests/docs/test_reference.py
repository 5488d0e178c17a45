"""The reference of Python names what is there: every signature on the page is the program's own."""

import inspect
import re
from typing import Any

import pytest

import coterie as ct
from coterie.model import Model
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "reference" / "python.md").read_text()
PLACES: tuple[Any, ...] = (ct, ct.theory, ct.presets)
CELLS = "\n".join(line.partition(" | ")[0] for line in PAGE.splitlines() if line.startswith("| `"))
WRITTEN = [match for match in re.findall(r"`([A-Za-z_][\w.]*)\(([^`]*)\)`", CELLS) if match[1] != "..."]


def named(path: str) -> Any:
    """The object that the page calls so, None for an excerpt such as `.fit(data)`."""
    first, *rest = path.split(".")
    found = (
        Model if first == "model" else next((getattr(p, first) for p in PLACES if hasattr(p, first)), None)
    )
    for name in rest:
        found = getattr(found, name)
    return found


@pytest.mark.parametrize(("path", "arguments"), WRITTEN, ids=[path for path, _ in WRITTEN])
def test_every_signature(path: str, arguments: str) -> None:
    """Names, order, and which are keywords only; defaults where the page has them as plain values."""
    assert named(path) is not None, path
    parameters = [p for p in inspect.signature(named(path)).parameters.values() if p.name != "self"]
    parts = [part.strip() for part in re.split(r",\s*(?![^()]*\))", arguments) if part.strip()]
    told = {name: default for name, _, default in (part.partition("=") for part in parts) if name != "*"}
    assert list(told) == [p.name for p in parameters]
    keywords = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    assert set(list(told)[parts.index("*") :] if "*" in parts else []) == keywords
    for p in parameters:
        assert (p.default is p.empty) == (not told[p.name]), p.name
        if told[p.name] not in {"", "..."} and "(" not in told[p.name]:
            assert repr(p.default).replace("'", '"') == told[p.name]
