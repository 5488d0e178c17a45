"""`coterie evaluate`: which algorithm to use, by the log itself."""

from pathlib import Path
from typing import Any

import click

from coterie.cli.command import Command
from coterie.cli.fit import open_logs, require_folder
from coterie.cli.options import log_options, logging_options, require_one_kind_of_action, require_unread
from coterie.cli.output import Column, format_option, print_one, print_rows, progress_bar

_SIGNS = {"pessimistic": -1, "greedy": 0, "optimistic": 1}


@click.command(
    cls=Command,
    epilog="Example:  coterie evaluate events.parquet --user user --action 'f*' --reward reward "
    "--run run --out model.coterie",
)
@click.argument("logs")
@log_options
@logging_options
@click.option(
    "--algorithm",
    "algorithms",
    multiple=True,
    metavar="NAME",
    help="Algorithm to compare; repeat it. All that this version knows unless named.",
)
@click.option(
    "--split",
    type=click.Choice(["time", "random", "users"]),
    help="Judge by the future, by rows held out within users, or by users held out. Default: time if --time "
    "is given, else random.",
)
@click.option("--splits", type=int, default=5, show_default=True, help="How many splits.")
@click.option("--share", type=float, default=0.2, show_default=True, help="Share of the log held out.")
@click.option(
    "--fractions",
    default="0.1,0.3,1",
    show_default=True,
    metavar="SHARES",
    help="Shares of the training part to learn from, for the learning curve.",
)
@click.option(
    "--few", type=float, default=20, show_default=True, help="Users with fewer training rows are few."
)
@click.option(
    "--metric",
    type=click.Choice(["auto", "scaled_error", "squared_error", "log_likelihood", "choice"]),
    default="auto",
    show_default=True,
    help="What the verdict goes by; auto: the scaled error, unless choosing says otherwise.",
)
@click.option(
    "--sign",
    type=click.Choice(list(_SIGNS)),
    default="greedy",
    show_default=True,
    help="Subtract the width from the estimate when deciding, leave it out, or add it.",
)
@click.option(
    "--clip", type=float, metavar="WEIGHT", help="Add off-policy values with no weight above this one."
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of splits and resampling.")
@click.option("--run", "folder", metavar="FOLDER", help="Folder to keep the evaluation in (JSON, Parquet).")
@click.option("--out", metavar="FILE", help="File to write the winner to, fitted on the whole log.")
@format_option
def command(logs: str, folder: str | None, out: str | None, form: str, **options: Any) -> None:
    """Compare algorithms on LOGS without knowing the truth, and say which one to use."""
    from coterie.evaluation import Plan, evaluate_rows, fitted_winner
    from coterie.evaluation.rows import rows_of

    if not options["action"] and options["item"] is None:
        context = click.get_current_context(silent=True)
        raise click.UsageError("Missing option '--action' (or '--item' with '--items')", context)
    require_one_kind_of_action(options)
    plan = Plan(**_plan(options))
    if folder is not None and Path(folder).is_file():
        from coterie.errors import FileError

        raise FileError(f"{folder!r} is a file; name a folder to write the run to")
    if out is not None:
        require_folder(out)
        require_unread(out, logs, options["items"])
    opened = open_logs(logs, options)
    with progress_bar() as progress:
        rows = rows_of(opened, progress)
        run = evaluate_rows(rows, plan, progress=progress)
        if folder is not None:
            run.save(folder)
        if out is not None:
            fitted_winner(rows, run, plan).save(out)
    if form == "csv":
        from coterie.evaluation.run import table

        print_rows(table(run.scores), form)
    elif form == "json":
        print_one(_object(run), form, "")
    else:
        _print(run, folder, out)


def _plan(options: dict[str, Any]) -> dict[str, Any]:
    """Keywords of a `Plan`."""
    from coterie.evaluation.candidates import CANDIDATES

    return {
        "algorithms": list(options["algorithms"] or CANDIDATES),
        "split": options["split"],
        "splits": options["splits"],
        "share": options["share"],
        "fractions": _numbers(options["fractions"]),
        "few": options["few"],
        "metric": options["metric"],
        "clip": options["clip"],
        "sign": _SIGNS[options["sign"]],
        "confidence": options["confidence"],
        "seed": options["seed"],
    }


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is no list of numbers such as 0.1,0.3,1",
            ctx=click.get_current_context(silent=True),
            param_hint="'--fractions'",
        ) from None


def _object(run: Any) -> dict[str, Any]:
    """The run as one object."""
    from coterie.evaluation.run import table

    names = ("verdicts", "scores", "differences", "calibration", "values")
    return {
        "settings": dict(run.settings),
        "counts": dict(run.counts),
        "notes": list(run.notes),
        **{name: table(getattr(run, name)) for name in names},
    }


def _print(run: Any, folder: str | None, out: str | None) -> None:
    """Tables for a person, the verdict last."""
    full = max(run.settings["fractions"])
    _print_scores(run, full)
    if run.values:
        _print_values(run.values)
    for note in run.notes:
        click.echo(f"Note: {note}")
    for sentence in dict.fromkeys(verdict.sentence for verdict in run.verdicts):
        click.echo(sentence)
    if folder is not None:
        click.echo(f"Kept in {Path(folder)}.")
    if out is not None:
        click.echo(f"Written to {out}.")


def _print_scores(run: Any, full: float) -> None:
    """One row per algorithm: error for all users and for those with few rows, value of choosing."""
    cells = {(s.algorithm, s.metric, s.group): s for s in run.scores if s.fraction == full}
    names = list(dict.fromkeys(name for name, _, _ in cells))
    wanted = {
        "squared error": ("squared_error", "all"),
        "few rows": ("squared_error", "few"),
        "R2": ("r2", "all"),
        "choice": ("choice", "all"),
    }
    rows = []
    for name in names:
        row: dict[str, Any] = {"algorithm": name}
        for title, (metric, group) in wanted.items():
            row[title] = _interval(cells.get((name, metric, group)))
        rows.append(row)
    print_rows(rows, "table", {"algorithm": Column("algorithm")})


def _print_values(values: Any) -> None:
    """Off-policy values: reward per decision, with lower bounds and what the weights look like."""
    rows = [
        {
            "algorithm": one.algorithm,
            "estimator": one.estimator,
            "value": _interval(one),
            "bernstein": one.bernstein,
            "betting": one.betting,
            "effective": one.effective,
            "mean_weight": one.mean_weight,
            "largest_weight": one.largest_weight,
            "matched": one.matched,
        }
        for one in values
    ]
    columns = {
        "value": Column("value"),
        "bernstein": Column("at least (Bernstein)", 3),
        "betting": Column("at least (betting)", 3),
        "effective": Column("effective rows", 1),
        "mean_weight": Column("mean weight", 2),
        "largest_weight": Column("largest", 1),
        "matched": Column("matched", 0),
    }
    print_rows(rows, "table", columns)


def _interval(score: Any) -> str | None:
    """Value and interval in one cell."""
    if score is None or score.value is None:
        return None
    if score.low is None:
        return f"{score.value:.3g}"
    return f"{score.value:.3g} ({score.low:.3g}, {score.high:.3g})"
