"""`coterie fit`: from a log to a model file."""

from dataclasses import asdict
from typing import Any

import click

from coterie.cli.options import action_columns, algorithm_of, algorithm_options, log_options
from coterie.cli.output import format_option, print_one, progress_bar


@click.command(
    epilog="Example:  coterie fit events.parquet --user user --action 'f*' --reward reward "
    "--noise estimate --graph-scale 0.3 --out model.coterie",
)
@click.argument("logs")
@log_options
@algorithm_options
@click.option("--out", required=True, help="File to write the model to.")
@click.option("--compact", is_flag=True, help="Keep only what deciding needs: no explaining, no updating.")
@format_option
def command(logs: str, out: str, compact: bool, form: str, **options: Any) -> None:
    """Fit an algorithm to LOGS (a file, a glob or a folder) and write the model."""
    algorithm = algorithm_of(options)
    opened = open_logs(logs, options)
    with progress_bar() as progress:
        model = algorithm.fit(opened, progress=progress)
        model.save(out, compact=compact)
    report = model.report
    print_one({**asdict(report), "model": out}, form, f"{report}\nWritten to {out}.")


def open_logs(logs: str, options: dict[str, Any]) -> Any:
    """Lazy logs that the options describe."""
    from coterie.logs import read_logs
    from coterie.logs.sources import open_source

    action = None
    if options["action"]:
        named = {options["user"], options["reward"], options["weight"]}
        action = action_columns(options["action"], open_source(logs).columns(), named)
    return read_logs(
        logs,
        user=options["user"],
        reward=options["reward"],
        action=action[0] if action is not None and len(action) == 1 else action,
        item=options["item"],
        items=options["items"],
        weight=options["weight"],
        intercept=options["intercept"],
        on_bad=options["on_bad"],
    )
