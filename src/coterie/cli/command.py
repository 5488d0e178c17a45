"""What a command and the program are to click: loaded when asked for, with an example that can be copied."""

import difflib
import textwrap
from importlib import import_module

import click

COMMANDS = ("demo", "advise", "evaluate", "fit", "decide", "explain", "report", "ratings", "paper")


class Command(click.Command):
    """A command whose help ends in its example."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the example."""
        write_example(self.epilog or "", formatter)


class Program(click.Group):
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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names; an unknown one is an error that names the nearest."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"No such command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by the first lines of their help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summary(ctx, name)) for name in COMMANDS])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the example."""
        write_example(self.epilog or "", formatter)

    def _summary(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        return command.get_short_help_str(120) if command else ""


def write_example(text: str, formatter: click.HelpFormatter) -> None:
    """Write 'Example:  command', a long command in lines that the shell joins again."""
    title, _, example = text.partition(":")
    lines = textwrap.wrap(
        example.strip(), formatter.width - 6, break_long_words=False, break_on_hyphens=False
    )
    formatter.write(f"\n{title}:\n")
    formatter.write("  " + " \\\n    ".join(lines) + "\n")
