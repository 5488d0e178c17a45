"""`coterie report`: a fitted model, an evaluation, or both, as one page that opens from disk."""

from typing import Any

import click

from coterie.cli.command import Command
from coterie.cli.output import format_option, print_one, progress_bar


@click.command(cls=Command, epilog="Example:  coterie report model.coterie evaluation --out report.html")
@click.argument("places", nargs=-1, required=True, metavar="MODEL|RUN...")
@click.option("--out", required=True, metavar="FILE", help="Page to write (.html).")
@click.option("--title", metavar="TEXT", help="Title of the page (default: what it is about).")
@format_option
def command(places: tuple[str, ...], out: str, title: str | None, form: str) -> None:
    """Draw a fitted model, an evaluation's folder, or both, as one HTML page.

    The page shows how much data users have, which of them may share, where they lie, what the gap does, how
    the algorithms compare, and any user by search. It opens from disk and asks no network for anything.
    """
    from coterie.cli.options import require_unread
    from coterie.report import write_report

    model, run = _opened(places)
    require_unread(out, *places)
    with progress_bar() as progress:
        size = write_report(out, model, run, title=title, progress=progress)
    print_one(
        {"out": out, "bytes": size}, form, f"Written to {out} ({size / 1e6:.2f} MB); open it in a browser."
    )


def _opened(places: tuple[str, ...]) -> tuple[Any, Any]:
    """The model and the evaluation among the places, at most one of each."""
    from pathlib import Path

    from coterie.cli.decide import load_model
    from coterie.evaluation.run import EvaluationRun
    from coterie.model_file import load

    folders = [place for place in places if Path(place).is_dir()]
    files = [place for place in places if place not in folders]
    for kind, some in (("models", files), ("evaluations", folders)):
        if len(some) > 1:
            raise click.UsageError(
                f"{len(some)} {kind} were given ({', '.join(some)}); a report is on one of each"
            )
    model = load_model(load(files[0]), files[0]) if files else None
    return model, EvaluationRun.load(folders[0]) if folders else None
