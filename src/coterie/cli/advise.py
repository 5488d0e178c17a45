"""`coterie advise`: what a log can teach, and which algorithm suits it."""

from typing import Any

import click

from coterie.cli.command import Command
from coterie.cli.fit import open_logs
from coterie.cli.options import log_options, logging_options, require_one_kind_of_action
from coterie.cli.output import format_option, in_options, print_one, progress_bar


@click.command(
    cls=Command,
    epilog="Example:  coterie advise events.parquet --user user --action 'f*' --reward reward --prefer reach",
)
@click.argument("logs")
@log_options
@logging_options
@click.option(
    "--prefer",
    type=click.Choice(["caution", "reach"]),
    help="Estimate the gap too small (less bias) or too large (less noise).",
)
@click.option(
    "--failure-prob",
    type=float,
    default=0.01,
    show_default=True,
    help="Probability with which the radii may fail, between 0 and 1.",
)
@format_option
def command(logs: str, prefer: Any, failure_prob: float, form: str, **options: Any) -> None:
    """Say what LOGS can teach: users, actions, rewards, how separable users are, and what to fit."""
    from coterie.advice import advise

    if not options["action"] and options["item"] is None:
        context = click.get_current_context(silent=True)
        raise click.UsageError("Missing option '--action' (or '--item' with '--items')", context)
    require_one_kind_of_action(options)
    opened = open_logs(logs, options)
    with progress_bar() as progress:
        advice = advise(opened, prefer=prefer, failure_prob=failure_prob, progress=progress)
    text = "\n".join(_line(line) for line in str(advice).splitlines())
    print_one(advice.plain(), form, text)


def _line(line: str) -> str:
    """A line with its indentation, parameters named as options."""
    indent = len(line) - len(line.lstrip())
    return " " * indent + in_options(line)
