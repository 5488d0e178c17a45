"""The command line: one module per command, loaded when it is called."""

import sys
import warnings
from importlib import import_module

import click

COMMANDS = ("demo", "fit", "decide", "explain")
_PROGRAM = "coterie"


class _Lazy(click.Group):
    """A group whose commands are imported when they are asked for, so that --help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names, in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command object of a module of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"coterie.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by their first lines, without importing what they use."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summary(ctx, name)) for name in COMMANDS])

    def _summary(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        return command.get_short_help_str(120) if command else ""


@click.command(
    cls=_Lazy,
    epilog="Example:  coterie demo",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="coterie", prog_name=_PROGRAM)
def app() -> None:
    """Decisions for every user from logged interactions, borrowing where the data justify it."""


def main() -> None:
    """Run the command line: one line and status 1 for a mistake in the data, status 2 in the usage."""
    from coterie.errors import CoterieError

    warnings.showwarning = _show_warning  # type: ignore[assignment]  # the program owns its stderr
    warnings.simplefilter("always", category=_coterie_warning())
    try:
        app.main(prog_name=_PROGRAM, standalone_mode=False)
    except CoterieError as failure:
        _stop(str(failure), 1)
    except click.UsageError as failure:
        where = failure.ctx.command_path if failure.ctx else _PROGRAM
        _stop(f"{failure.format_message()} (see '{where} --help')", 2)
    except click.ClickException as failure:
        _stop(failure.format_message(), 1)
    except click.Abort:
        _stop("stopped", 130)


def _stop(sentence: str, status: int) -> None:
    click.echo(f"{_PROGRAM}: {sentence}", err=True)
    sys.exit(status)


def _coterie_warning() -> type[Warning]:
    from coterie.errors import CoterieWarning

    return CoterieWarning


def _show_warning(message: Warning | str, *_: object) -> None:
    click.echo(f"{_PROGRAM}: note: {message}", err=True)
