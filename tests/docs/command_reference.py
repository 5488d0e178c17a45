"""The reference of commands, generated from the program: `python -m tests.docs.command_reference`."""

import click

from coterie.cli import app
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "reference" / "commands.md"


def written() -> str:
    """The whole page."""
    context = click.Context(app, info_name="coterie")
    parts = [
        "# Commands\n",
        "Made from the program by `python -m tests.docs.command_reference`; a test compares the two.\n",
    ]
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        if command is not None:
            parts.append(_section(command, click.Context(command, info_name=name, parent=context)))
    return "\n".join(parts)


def _section(command: click.Command, context: click.Context) -> str:
    usage = command.get_usage(context).removeprefix("Usage: ")
    text = " ".join((command.help or "").split())
    rows = [_row(parameter) for parameter in command.params if isinstance(parameter, click.Option)]
    table = ["| option | what it does | default |", "|---|---|---|", *rows]
    example = (command.epilog or "").removeprefix("Example:").strip()
    return "\n".join(
        [f"## {context.command_path}\n", f"`{usage}`\n", f"{text}\n", *table, f"\nExample: `{example}`\n"]
    )


def _row(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    choices = f" One of {', '.join(option.type.choices)}." if isinstance(option.type, click.Choice) else ""
    default = option.to_info_dict()["default"]
    plain = default is not None and default is not False and default != () and "UNSET" not in str(default)
    shown = "required" if option.required else f"`{default}`" if plain else ""
    return f"| {names} | {option.help}{choices} | {shown} |"


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(written())
