"""`coterie explain`: who lends to a user, and why."""

from dataclasses import asdict

import click

from coterie.cli.decide import load_model
from coterie.cli.output import format_option, print_one, print_rows


@click.command(epilog="Example:  coterie explain model.coterie 17")
@click.argument("model")
@click.argument("user")
@format_option
def command(model: str, user: str, form: str) -> None:
    """Say who lends to USER under MODEL, how much, and why others do not."""
    from coterie.model_file import load

    fitted = load_model(load(model), model)
    explanation = fitted.explain(typed(user, fitted.users.dtype.kind))
    if form == "csv":
        rows = [{**asdict(n), "lends": True, "reason": ""} for n in explanation.neighbours]
        rows += [{**asdict(n), "share": 0.0, "lends": False} for n in explanation.left_out]
        names = ("user", "lends", "distance", "threshold", "count", "share", "reason")
        print_rows([{name: row[name] for name in names} for row in rows], form)
    else:
        print_one(asdict(explanation), form, str(explanation))


def typed(user: str, kind: str) -> object:
    """User id of the kind that the model has: an integer is written as text on the command line."""
    if kind == "U":
        return user
    try:
        return int(user)
    except ValueError:
        raise click.BadParameter(f"{user!r} is no integer, and this model's user ids are") from None
