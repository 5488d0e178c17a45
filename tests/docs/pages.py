"""Runs a documentation page: its Python sessions and its console commands, in order, in one empty folder.

A ```python block is a doctest session (one namespace a page). A ```console block has lines that begin
with `$ `, run by bash, each followed by what it prints; `...` stands for anything, white space does not
count, and a command without printed lines only has to succeed. Other blocks are not run.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """Every page that is run."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def run(page: Path, folder: Path) -> list[str]:
    """What differs from the page, one text per mismatch."""
    failures: list[str] = []
    names: dict[str, object] = {"__name__": "__main__"}
    for number, (language, text) in enumerate(_BLOCK.findall(page.read_text())):
        if language == "python" and ">>>" in text:
            failures += _session(text, names, f"{page.name} block {number}")
        elif language == "console":
            failures += [_command(command, want, folder) for command, want in commands(text)]
    return [failure for failure in failures if failure]


def commands(text: str) -> list[tuple[str, str]]:
    """Commands of a console block, each with what it should print."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [_split(part) for part in parts]


def _split(part: str) -> tuple[str, str]:
    lines = part.splitlines(keepends=True)
    last = next(i for i, line in enumerate(lines) if not line.rstrip("\n").endswith("\\"))
    return "".join(lines[: last + 1]), "".join(lines[last + 1 :])


def _session(text: str, names: dict[str, object], name: str) -> list[str]:
    test = doctest.DocTestParser().get_doctest(text, names, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    out: list[str] = []
    runner.run(test, out=out.append, clear_globs=False)
    names |= test.globs
    return ["".join(out)] if runner.summarize(verbose=False).failed else []


def _command(command: str, want: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    printed = done.stdout + done.stderr
    if done.returncode:
        return f"$ {command}exit {done.returncode}:\n{printed}"
    if want.strip() and not doctest.OutputChecker().check_output(want, printed, FLAGS):
        return f"$ {command}expected:\n{want}got:\n{printed}"
    return ""
