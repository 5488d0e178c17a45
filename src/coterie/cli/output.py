"""What commands print: tables for people, JSON and CSV for programs, and progress bars on a terminal."""

import csv
import io
import json
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from coterie.progress import Progress, silent

Row = dict[str, Any]

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="How to print the result.",
)


def print_rows(rows: Sequence[Row], form: str, title: str = "") -> None:
    """Print rows with the same keys as a table, as JSON or as CSV."""
    if form == "json":
        click.echo(json.dumps([_plain(row) for row in rows], indent=2))
    elif form == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows(rows)
        click.echo(text.getvalue(), nl=False)
    else:
        _print_table(rows, title)


def print_one(row: Row, form: str, text: str) -> None:
    """Print one result: a text for people, an object for programs."""
    if form == "json":
        click.echo(json.dumps(_plain(row), indent=2))
    elif form == "csv":
        print_rows([row], "csv")
    else:
        click.echo(text)


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


def _print_table(rows: Sequence[Row], title: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, title_justify="left")
    for name in rows[0] if rows else []:
        numeric = all(isinstance(row[name], int | float) for row in rows)
        table.add_column(name, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(_short(value) for value in row.values()))
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.5g}"
    return "-" if value is None else str(value)


def _plain(value: Any) -> Any:
    """Value that JSON can hold: infinities and NaN become text and null."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
