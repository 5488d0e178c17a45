"""A warning points at the line outside the package that led to it, however deep its cause lies."""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import coterie as ct

BROKEN = pa.table({"u": [1, 1, 2], "x": [1.0, float("nan"), 0.5], "y": [0.0, 1.0, 0.0], "r": [1.0, 1.0, 1.0]})
LOGS = ct.read_logs(BROKEN, user="u", action=["x", "y"], reward="r", on_bad="drop")


def warned(work: Callable[[], Any]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    assert all(one.category is ct.CoterieWarning for one in caught)
    return caught


def test_the_line_that_sums_or_fits_is_named(tmp_path: Path) -> None:
    """Rows are dropped by `summarize` itself, and by a fit that sums first."""
    line = sys._getframe().f_lineno + 1
    (summed,) = warned(lambda: ct.summarize(LOGS))
    dropped, stuck = warned(lambda: ct.Independent().fit(LOGS))
    with pytest.warns(ct.CoterieWarning):
        model = ct.Independent().fit(LOGS)
    (compact,) = warned(lambda: model.save(tmp_path / "model", compact=True))
    told = [(one.filename, one.lineno - line) for one in (summed, dropped, stuck, compact)]
    assert told == [(__file__, 0), (__file__, 1), (__file__, 1), (__file__, 4)]
    assert "1 rows were left out" in str(dropped.message)
    assert "not below that of a user without data" in str(stuck.message)
