"""`coterie paper`: the paper's experiments, with the published numbers beside ours."""

import json
import os
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from coterie.cli.command import Command
from coterie.cli.output import progress_bar

_INSTALL = "pip install 'coterie[paper]'"


@click.command(cls=Command, epilog="Example:  coterie paper tables --quick --out paper")
@click.argument("part", type=click.Choice(["tables", "figures", "all"]), default="all")
@click.option(
    "--dataset",
    type=click.Choice(["synthetic", "yelp", "movielens", "stand-in"]),
    multiple=True,
    help="Only this data set; may be repeated. The stand-in needs no file and is run only when named.",
)
@click.option(
    "--preset",
    type=click.Choice(["paper_tables", "paper_text"]),
    default="paper_tables",
    show_default=True,
    help="The settings that give the tables, or the printed ones.",
)
@click.option(
    "--data", envvar="COTERIE_DATA", metavar="DIR", help="Folder of ratings files (default: COTERIE_DATA)."
)
@click.option("--method", multiple=True, help="Only this method, by the name of its row; may be repeated.")
@click.option(
    "--groups",
    type=click.Choice(["blocks", "k-means"]),
    default="blocks",
    show_default=True,
    help="Groups of semi-random service on ratings: 100 users each in order, or by preferences.",
)
@click.option("--seeds", type=click.IntRange(min=1), help="Seeds (default: 10, with --quick 2).")
@click.option(
    "--quick",
    is_flag=True,
    help="Two seeds, at most 1,000 requests a cell, half of the sizes with LinUCB logging.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes (default: one per core).")
@click.option(
    "--out", required=True, metavar="DIR", help="Folder for results; a run that was stopped goes on."
)
def command(out: str, **options: Any) -> None:
    """Run the paper's experiments and write tables, figures and a page.

    PART is tables (plentiful data), figures (scarce data, random and LinUCB logging, the gap's influence,
    which algorithm when, theory beside practice) or all.
    """
    from coterie.experiments import settings, store

    clock = time.monotonic()
    datasets, notes = _datasets(options)
    notes += _missing_methods(options["method"])
    seeds = options["seeds"] or (settings.QUICK_SEEDS if options["quick"] else settings.SEEDS)
    if seeds < settings.SEEDS or options["quick"]:
        notes.append(_short_run(seeds, quick=options["quick"]))
    for note in notes:
        click.echo(note, err=True)
    cells = settings.cells_of(
        options["part"],
        datasets,
        seeds,
        options["preset"],
        quick=options["quick"],
        groups=options["groups"],
    )
    folder = Path(out)
    jobs = options["jobs"] or os.cpu_count() or 1
    with progress_bar() as progress:
        rows = store.rows_of(
            cells, folder, options["data"], jobs, progress, methods=options["method"] or None
        )
    chosen = {
        "preset": options["preset"],
        "part": options["part"],
        "seeds": f"0 to {seeds - 1}",
        "requests": "at most 2,000 a cell (--quick)" if options["quick"] else "|D| / 2 a cell",
        "semi-random service on ratings": settings.GROUPS[options["groups"]],
    }
    _write(folder, rows, notes, (chosen, datasets, options["data"]))
    click.echo(f"{len(cells)} cells in {time.monotonic() - clock:.1f} s{_memory(jobs)}", err=True)


def _short_run(seeds: int, *, quick: bool) -> str:
    """A sentence on what verdicts rest on where it is less than the paper's."""
    from coterie.experiments import settings

    run = f"{seeds} seed{'s' if seeds > 1 else ''} of {settings.SEEDS}"
    return (
        f"a short run: {run}{' and at most 1,000 requests a cell' if quick else ''}; "
        "its verdicts can differ from those of the whole run"
    )


def _memory(jobs: int) -> str:
    """Half a sentence on the most memory that was resident, where the system tells it."""
    from coterie.experiments.provenance import peak_memory

    peaks = peak_memory()
    if peaks is None:
        return ""
    here, largest = (peak / 2**30 for peak in peaks)
    return (
        f"; resident memory at most {here + jobs * largest:.2f} GiB: {here:.2f} here, "
        f"{largest:.2f} in the largest of {jobs} processes"
    )


def _datasets(options: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Data sets to run, and a sentence for each that was asked for and is not there."""
    from coterie.experiments import settings
    from coterie.experiments.datasets import FILES, file_of

    asked = options["dataset"] or settings.DATASETS
    missing = [name for name in asked if name in FILES and file_of(name, options["data"]) is None]
    where = f"--data {options['data']}" if options["data"] else "a folder (give --data, or set COTERIE_DATA)"
    notes = [
        f"{name} is left out: there is no {' or '.join(FILES[name])} in {where}; "
        "--dataset stand-in runs a world like it"
        for name in missing
    ]
    return [name for name in asked if name not in missing], notes


def _missing_methods(asked: tuple[str, ...]) -> list[str]:
    """A sentence on methods whose package is not installed, and on figures; unknown ones are refused."""
    from coterie.experiments.methods import METHODS

    unknown = [name for name in asked if name not in METHODS]
    if unknown:
        raise click.BadParameter(
            f"{unknown[0]!r} is no method; there are {', '.join(METHODS)}", param_hint="'--method'"
        )
    left_out = [name for name in asked or METHODS if not METHODS[name].is_installed]
    notes = []
    if left_out:
        notes.append(f"left out for want of scikit-learn: {', '.join(left_out)}; {_INSTALL} installs it")
    if find_spec("matplotlib") is None:
        notes.append(f"every figure is left out for want of matplotlib; {_INSTALL} installs it")
    return notes


def _write(folder: Path, rows: list[Any], notes: list[str], run: tuple[Any, list[str], str | None]) -> None:
    """Everything that is made from the rows."""
    from coterie.experiments import claims, page, regimes, tables
    from coterie.experiments.provenance import provenance

    tables.write_results(folder / "results.parquet", rows)
    told = provenance(*run)
    (folder / "provenance.json").write_text(json.dumps(told, indent=2) + "\n")
    chosen = tables.with_fixed_gap(rows)
    table, gains = tables.table(chosen), tables.improvements(chosen)
    tables.write_csv(folder / "tables.csv", table, tables.TableRow)
    tables.write_csv(folder / "improvements.csv", gains, tables.ImprovementRow, verdict=True)
    found = claims.claims(table)
    report = page.Report(
        rows=table,
        gains=gains,
        claims=found,
        winners=regimes.winners(rows),
        figures=_figures(folder, chosen),
        notes=notes,
        provenance=told,
    )
    page.write(folder / "index.html", report)
    for claim in found:
        click.echo(claim)
    click.echo(f"{len(table)} rows in {folder / 'tables.csv'}; see {folder / 'index.html'}")


def _figures(folder: Path, rows: list[Any]) -> list[tuple[str, Path]]:
    """Captions and files of all figures that these rows have."""
    if find_spec("matplotlib") is None:
        return []
    from coterie.experiments.drawings import drawings

    return [(drawn.caption, drawn.save(folder)) for drawn in drawings(rows)]
