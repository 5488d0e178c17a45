"""Every example in the README and in docs/ runs and prints what the page says."""

import os
import re
import warnings
from pathlib import Path

import pytest

from tests.docs.pages import commands, pages, run


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_page_runs_and_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_data = re.search(r"\$COTERIE_DATA|environ\[.COTERIE_DATA.\]", page.read_text())
    if needs_data and "COTERIE_DATA" not in os.environ:
        pytest.skip("COTERIE_DATA names no folder: the page needs real data, which may not be passed on")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failures = run(page, tmp_path)
    assert not failures, "\n".join(failures)


def test_a_wrong_page_is_found_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n```\n```console\n$ echo one\ntwo\n$ false\n```\n")
    assert len(run(page, tmp_path)) == 3


def test_commands_keep_their_continuation_lines() -> None:
    assert commands("$ a \\\n  b\nout\n$ c\n") == [("a \\\n  b\n", "out\n"), ("c\n", "")]
