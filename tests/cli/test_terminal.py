"""Bars on a terminal and nowhere else; help without the heavy libraries."""

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.program import COLUMNS, events, fitted, request_table, write

PROGRAM = str(Path(sys.executable).with_name("coterie"))
HEAVY = {"numpy", "pyarrow", "numba", "scipy", "rich", "msgspec"}
ERASE_LINE = "\x1b[2K"
SHOW_CURSOR = "\x1b[?25h"


def with_terminal(*args: object) -> tuple[str, str, int]:
    """Stdout (a pipe), stderr (a terminal) and status of `coterie args`."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    running = subprocess.Popen(
        [PROGRAM, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        stdin=theirs,
        env=environment,
        text=True,
    )
    os.close(theirs)
    shown = b""
    while True:
        if not select.select([ours], [], [], 60)[0]:
            running.kill()
            pytest.fail("the program says nothing")
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # Linux reports the end of a terminal as an error
            part = b""
        if not part:
            break
        shown += part
    os.close(ours)
    out, _ = running.communicate()
    return out, shown.decode(), running.returncode


def without_terminal(*args: object) -> subprocess.CompletedProcess[str]:
    """The same with pipes."""
    return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, check=True)


def test_fit_draws_bars_on_a_terminal_and_takes_them_away(tmp_path: Path) -> None:
    log = write(events(), tmp_path / "log.parquet")
    fit = ("fit", log, *COLUMNS, "--noise", "estimate", "--out", tmp_path / "model")
    out, shown, status = with_terminal(*fit)
    assert status == 0
    for stage in ("reading rows", "comparing users", "pooling"):
        assert re.search(rf"{stage} +\S*━", shown), f"no bar for {stage!r} in {shown!r}"
    assert "600/600" in shown
    assert shown.rstrip().endswith(ERASE_LINE)
    assert SHOW_CURSOR in shown
    assert out == without_terminal(*fit).stdout
    assert "\x1b" not in out


def test_decide_draws_a_bar_too(tmp_path: Path) -> None:
    model, asked = fitted(tmp_path), write(request_table(), tmp_path / "requests.parquet")
    out, shown, status = with_terminal("decide", model, asked, "--out", tmp_path / "out.csv")
    assert (status, out) == (0, f"5 requests decided. Written to {tmp_path / 'out.csv'}.\n")
    assert re.search(r"deciding \S*━", shown)


def test_an_error_on_a_terminal_comes_after_the_bars(tmp_path: Path) -> None:
    model = fitted(tmp_path)
    asked = write(request_table().slice(0, 0), tmp_path / "requests.parquet")
    out, shown, status = with_terminal("decide", model, asked, "--out", tmp_path / "out.csv")
    assert (status, out) == (1, "")
    assert shown.splitlines()[-1].endswith("has no requests; at least one is required")
    assert SHOW_CURSOR in shown


def test_nothing_is_drawn_into_a_pipe(tmp_path: Path) -> None:
    log = write(events(), tmp_path / "log.parquet")
    ran = without_terminal("fit", log, *COLUMNS, "--noise", "estimate", "--out", tmp_path / "model")
    assert ran.stderr == ""
    assert ran.stdout.startswith("Off-C2LUB: 12 users, 600 samples, 3 coordinates")


def test_a_closed_pipe_ends_the_program_quietly() -> None:
    ran = subprocess.run(
        ["bash", "-c", f"set -o pipefail; '{PROGRAM}' demo | true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""


def loaded_by(code: str) -> set[str]:
    """Heavy modules that some code loads."""
    script = f"{code}\nimport sys\nprint('\\nloaded', *{{name.partition('.')[0] for name in sys.modules}})"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(ran.stdout.rpartition("loaded ")[2].split()) & HEAVY


def test_importing_coterie_loads_nothing_heavy() -> None:
    assert loaded_by("import coterie") == set()
    assert loaded_by("import coterie; coterie.Logs") >= {"numpy"}


@pytest.mark.parametrize("command", ["", "demo", "fit", "decide", "explain"])
def test_help_loads_nothing_heavy(command: str) -> None:
    code = (
        f"import sys; sys.argv = ['coterie', *{command.split()}, '--help']\n"
        "from coterie.cli import main\nmain()"
    )
    assert loaded_by(code) == set()
