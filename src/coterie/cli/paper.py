"""`coterie paper`: the paper's experiments, with the published numbers beside ours."""

import os
import platform
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from coterie.cli.command import Command
from coterie.cli.output import progress_bar


@click.command(cls=Command, epilog="Example:  coterie paper tables --quick --out paper")
@click.argument("part", type=click.Choice(["tables", "figures", "all"]), default="all")
@click.option(
    "--dataset",
    type=click.Choice(["synthetic", "yelp", "movielens"]),
    multiple=True,
    help="Only this data set; may be repeated.",
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
@click.option("--seeds", type=click.IntRange(min=1), help="Seeds (default: 10, with --quick 2).")
@click.option(
    "--quick", is_flag=True, help="Two seeds and fewer requests: minutes, not a quarter of an hour."
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes (default: one per core).")
@click.option(
    "--out", required=True, metavar="DIR", help="Folder for results; a run that was stopped goes on."
)
def command(out: str, **options: Any) -> None:
    """Run the paper's experiments and write tables, figures and a page.

    PART is tables (plentiful data), figures (scarce data, random and LinUCB logging) or all.
    """
    from coterie.experiments import settings, store
    from coterie.experiments.datasets import FILES, file_of

    missing = [name for name in FILES if file_of(name, options["data"]) is None]
    datasets = [name for name in options["dataset"] or settings.DATASETS if name not in missing]
    for name in missing:
        if not options["dataset"] or name in options["dataset"]:
            click.echo(
                f"{name} is left out: no {' or '.join(FILES[name])} in --data {options['data'] or ''}",
                err=True,
            )
    seeds = options["seeds"] or (settings.QUICK_SEEDS if options["quick"] else settings.SEEDS)
    cells = []
    if options["part"] != "figures":
        cells += settings.table_cells(datasets, seeds, options["preset"], quick=options["quick"])
    if options["part"] != "tables":
        cells += settings.figure_cells(datasets, seeds, options["preset"], quick=options["quick"])
    folder = Path(out)
    with progress_bar() as progress:
        jobs = options["jobs"] or os.cpu_count() or 1
        rows = store.rows_of(
            cells, folder, options["data"], jobs, progress, methods=options["method"] or None
        )
    _write(folder, rows, {"preset": options["preset"], "seeds": seeds, "quick": options["quick"]})


def _write(folder: Path, rows: list[Any], chosen: dict[str, Any]) -> None:
    """Everything that is made from the rows."""
    from coterie.experiments import page, tables

    rows = tables.with_fixed_gap(rows)
    table, gains = tables.table(rows), tables.improvements(rows)
    tables.write_results(folder / "results.parquet", rows)
    tables.write_csv(folder / "tables.csv", table)
    tables.write_csv(folder / "improvements.csv", gains, verdict=True)
    figures = _figures(folder, rows)
    page.write(folder / "index.html", table, gains, figures, {**chosen, **_provenance()})
    click.echo(f"{len(table)} rows in {folder / 'tables.csv'}; see {folder / 'index.html'}")


def _figures(folder: Path, rows: list[Any]) -> list[tuple[str, Path]]:
    if find_spec("matplotlib") is None:
        click.echo("figures are left out: pip install 'coterie[paper]' installs what draws them", err=True)
        return []
    import matplotlib as mpl

    from coterie.experiments.figures import gap_figure, save

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "coterie"
    made = []
    asked = {
        "sufficient": ("sufficient", "random", "Plentiful data"),
        "scarce_random": ("scarce", "random", "Scarce data, actions logged at random"),
        "scarce_linucb": ("scarce", "linucb", "Scarce data, actions logged by LinUCB"),
    }
    for name, (experiment, logging, title) in asked.items():
        if any((row.experiment, row.logging) == (experiment, logging) for row in rows):
            save(gap_figure(rows, experiment, logging, title), folder, name)
            made.append((f"{title}: mean gap over seeds with standard errors.", folder / f"{name}.svg"))
    return made


def _provenance() -> dict[str, Any]:
    import numpy as np

    import coterie

    versions = {"python": platform.python_version(), "numpy": np.__version__, "coterie": coterie.__version__}
    return {**versions, "machine": platform.machine(), "cores": os.cpu_count()}
