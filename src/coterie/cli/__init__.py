"""The command line: one module per command, loaded when it is called."""

import sys
import warnings

import click

from coterie.cli.command import Program
from coterie.cli.output import in_options

_PROGRAM = "coterie"


@click.command(
    cls=Program,
    epilog="Example:  coterie demo",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="coterie", prog_name=_PROGRAM)
def app() -> None:
    """Decisions for every user from logged interactions, borrowing where the data justify it."""


def main() -> None:
    """Run the command line: one line and status 1 for a mistake in the data, status 2 in the usage."""
    from coterie.errors import CoterieError, CoterieWarning

    with warnings.catch_warnings():
        warnings.showwarning = _show_warning  # type: ignore[assignment]  # the program owns its stderr
        warnings.simplefilter("always", category=CoterieWarning)
        try:
            app.main(prog_name=_PROGRAM, standalone_mode=False)
        except CoterieError as failure:
            _stop(str(failure), 1)
        except click.exceptions.NoArgsIsHelpError as failure:
            click.echo(failure.format_message(), err=True)
            sys.exit(2)
        except click.UsageError as failure:
            where = failure.ctx.command_path if failure.ctx else _PROGRAM
            _stop(f"{failure.format_message().rstrip('.')} (see '{where} --help')", 2)
        except click.ClickException as failure:
            _stop(failure.format_message(), 1)
        except (click.Abort, KeyboardInterrupt):
            _stop("stopped", 130)
        except OSError as failure:
            place = f"{str(failure.filename)!r}: " if failure.filename else ""
            _stop(f"{place}{failure.strerror or failure}", 1)


def _stop(sentence: str, status: int) -> None:
    click.echo(f"{_PROGRAM}: {in_options(sentence)}", err=True)
    sys.exit(status)


def _show_warning(message: Warning | str, *_: object) -> None:
    click.echo(f"{_PROGRAM}: note: {in_options(str(message))}", err=True)
