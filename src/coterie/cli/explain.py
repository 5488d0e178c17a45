"""`coterie explain`: who lends to a user, and why."""

from dataclasses import asdict

import click

from coterie.cli.command import Command
from coterie.cli.decide import load_model
from coterie.cli.output import format_option, print_one, print_rows

_COLUMNS = ("user", "lends", "distance", "threshold", "count", "share", "reason")


@click.command(cls=Command, epilog="Example:  coterie explain model.coterie 17")
@click.argument("model")
@click.argument("user")
@format_option
def command(model: str, user: str, form: str) -> None:
    """Say who lends to USER under MODEL, how much, and why others do not.

    An id that begins with a dash goes after two: coterie explain MODEL -- -17. With --format csv there is
    one row per user of the model.
    """
    from coterie.model_file import load

    fitted = load_model(load(model), model)
    explanation = fitted.explain(typed(user, fitted.users.dtype.kind))
    if form == "csv":
        rows = [{**asdict(n), "lends": True, "reason": ""} for n in explanation.neighbours]
        rows += [{**asdict(n), "share": 0.0, "lends": False} for n in explanation.left_out]
        print_rows([{name: row[name] for name in _COLUMNS} for row in rows], form)
    else:
        print_one(asdict(explanation), form, str(explanation))


def typed(user: str, kind: str) -> object:
    """User id of the kind that the model has: an integer is written as text on the command line."""
    if kind == "U":
        return user
    try:
        number = int(user)
    except ValueError:
        number = 2**64
    if not -(2**63) <= number < 2**64:
        raise click.BadParameter(
            f"{user!r} is not an integer of 64 bits, as this model's user ids are",
            ctx=click.get_current_context(silent=True),
            param_hint="USER",
        )
    return number
