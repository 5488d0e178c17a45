"""What commands print: tables for people, JSON and CSV for programs, and progress bars on a terminal."""

import csv
import io
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from coterie.progress import Progress, silent

Row = dict[str, Any]
_PIPE_WIDTH = 120
_OPTIONS = {
    r'\bon_bad="drop"': "--on-bad drop",
    r'\bnoise="estimate"': "--noise estimate",
    r"\bcompact=True": "--compact",
    r"\brescale=False": "--no-rescale",
    r"\bintercept=True": "--intercept",
    r"\btime=(?!\w)": "--time",
    r"\bcandidates=(?!\w)": "--candidates",
    r"(?<!-)\bgraph_scale\b": "--graph-scale",
    r"\bmin_samples\b": "--min-samples",
}


@dataclass(frozen=True)
class Column:
    """How a table shows a column: its title and, for numbers, their decimals."""

    title: str
    decimals: int | None = None

    def text(self, value: Any) -> str:
        """One cell."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "-"
        return str(value) if self.decimals is None else f"{value:,.{self.decimals}f}"


format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="How to print the result.",
)


def print_rows(rows: Sequence[Row], form: str, columns: Mapping[str, Column] | None = None) -> None:
    """Print rows with the same keys as a table, as JSON or as CSV; `columns` is for the table alone."""
    if form == "json":
        click.echo(json.dumps([_plain(row) for row in rows], indent=2))
    elif form == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
        click.echo(text.getvalue(), nl=False)
    else:
        _print_table(rows, columns or {})


def print_one(row: Row, form: str, text: str) -> None:
    """Print one result: a text for people, an object for programs."""
    if form == "json":
        click.echo(json.dumps(_plain(row), indent=2))
    elif form == "csv":
        print_rows([row], "csv")
    else:
        click.echo(text)


def in_options(text: str) -> str:
    """A sentence of the library on one line, its parameters named as options of the commands.

    >>> in_options('pass on_bad="drop", or a smaller graph_scale')
    'pass --on-bad drop, or a smaller --graph-scale'
    """
    for parameter, option in _OPTIONS.items():
        text = re.sub(parameter, option, text)
    return " ".join(text.split())


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A `Progress` that draws bars on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(stage: str, done: int, total: int | None, /) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield show


def _print_table(rows: Sequence[Row], columns: Mapping[str, Column]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table()
    shown = [columns.get(name, Column(name)) for name in rows[0]] if rows else []
    for column in shown:
        table.add_column(column.title, justify="right" if column.decimals is not None else "left")
    for row in rows:
        table.add_row(*(column.text(value) for column, value in zip(shown, row.values(), strict=True)))
    Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False).print(table)


def _cell(value: Any) -> Any:
    """Value that one cell of a CSV file can hold."""
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    """Value that JSON can hold: infinities and NaN become text and null."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
