"""`coterie fit`: from a log to a model file."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from coterie.cli.command import Command
from coterie.cli.options import (
    action_columns,
    algorithm_of,
    algorithm_options,
    log_options,
    require_one_kind_of_action,
    require_unread,
)
from coterie.cli.output import format_option, in_options, print_one, progress_bar


@click.command(
    cls=Command,
    epilog="Example:  coterie fit events.parquet --user user --action 'f*' --reward reward "
    "--noise estimate --graph-scale 0.3 --out model.coterie",
)
@click.argument("logs")
@log_options
@algorithm_options
@click.option("--out", required=True, metavar="FILE", help="File to write the model to.")
@click.option("--compact", is_flag=True, help="Keep only what deciding needs: no explaining, no updating.")
@format_option
def command(logs: str, out: str, compact: bool, form: str, **options: Any) -> None:
    """Fit an algorithm to LOGS (a file, a glob or a folder) and write the model."""
    if not options["action"] and options["item"] is None:
        raise click.UsageError("Missing option '--action' (or '--item' with '--items')", _context())
    require_one_kind_of_action(options)
    algorithm = algorithm_of(options)
    require_folder(out)
    require_unread(out, logs, options["items"])
    opened = open_logs(logs, options)
    with progress_bar() as progress:
        model = algorithm.fit(opened, progress=progress)
        model.save(out, compact=compact)
    report = model.report
    text = "\n".join(map(in_options, str(report).splitlines()))
    print_one({**asdict(report), "model": out}, form, f"{text}\nWritten to {out}.")


def open_logs(logs: str, options: dict[str, Any]) -> Any:
    """Lazy logs that the options describe."""
    from coterie.logs import read_logs
    from coterie.logs.sources import open_source

    action = None
    if options["action"]:
        taken = ("user", "reward", "weight", "time", "propensity", "candidates")
        named = {options[name] for name in taken if options.get(name)}
        action = action_columns(options["action"], open_source(logs).columns(), named)
    return read_logs(
        logs,
        user=options["user"],
        reward=options["reward"],
        action=action[0] if action is not None and len(action) == 1 else action,
        item=options["item"],
        items=options["items"],
        weight=options["weight"],
        propensity=options.get("propensity"),
        time=options.get("time"),
        candidates=options.get("candidates"),
        intercept=options["intercept"],
        text_ids=options["text_ids"],
        on_bad=options["on_bad"],
    )


def require_folder(out: str) -> None:
    """Refuse a folder that is not there before the work, not after it."""
    from coterie.errors import FileError

    if not Path(out).parent.is_dir():
        raise FileError(f"there is no folder {str(Path(out).parent)!r} to write {out!r} into; make it first")
    if Path(out).is_dir():
        raise FileError(f"{out!r} is a folder; name a file to write the model to")


def _context() -> click.Context | None:
    return click.get_current_context(silent=True)
