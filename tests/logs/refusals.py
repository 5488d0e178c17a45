"""A good log to spoil, and what a refusal must look like."""

from pathlib import Path
from typing import Any

import pytest

import coterie as ct
from coterie.errors import CoterieError, LogError

NAMED: dict[str, Any] = {"user": "u", "action": ["x", "y"], "reward": "r"}
GOOD: dict[str, list[Any]] = {
    "u": [1, 2, 1, 3],
    "x": [0.5, 1.0, 0.25, 0.75],
    "y": [1.0, 0.0, 0.5, 0.5],
    "r": [1.0, 2.0, 3.0, 4.0],
    "w": [1.0, 2.0, 1.0, 0.5],
}
LISTS: dict[str, list[Any]] = {
    "u": [1, 2, 1],
    "f": [[1.0, 0.5], [0.0, 1.0], [2.0, 0.0]],
    "r": [1.0, 2.0, 3.0],
}


def refused(source: Any, sentence: str, kind: type[CoterieError] = LogError, **more: Any) -> None:
    with pytest.raises(kind, match=sentence) as failure:
        ct.summarize(ct.read_logs(source, **{**NAMED, **more}))
    assert "\n" not in str(failure.value)


def csv(at: Path, *lines: str) -> Path:
    (at / "log.csv").write_text("\n".join(["u,x,y,r", *lines, ""]))
    return at / "log.csv"
