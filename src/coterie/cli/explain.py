"""`coterie explain`: who lends to a user and why, and what became of each candidate action."""

from dataclasses import asdict
from functools import partial
from typing import Any

import click

from coterie.cli.command import Command
from coterie.cli.decide import load_model, own_columns
from coterie.cli.output import format_option, print_one, print_rows

_COLUMNS = ("user", "lends", "distance", "threshold", "count", "share", "reason")


@click.command(cls=Command, epilog="Example:  coterie explain model.coterie 17 --actions actions.csv")
@click.argument("model")
@click.argument("user")
@click.option(
    "--actions",
    metavar="FILE",
    help="Table of candidate actions, one a row, with the model's action columns: compare them.",
)
@click.option(
    "--item",
    metavar="COLUMN",
    help="Column of --actions that names them (default: they are numbered from 0).",
)
@format_option
def command(model: str, user: str, actions: str | None, item: str | None, form: str) -> None:
    """Say who lends to USER under MODEL, how much, and why others do not.

    With --actions also what each candidate action is worth and how sure that is, what would have been
    chosen on the user's own data alone, and which features put the chosen action ahead. An id that begins
    with a dash goes after two: coterie explain MODEL -- -17. With --format csv there is one row per user of
    the model, or one per candidate action where there are some.
    """
    from coterie.model_file import load

    if item is not None and actions is None:
        raise click.UsageError("--item names the actions of --actions; give that table too")
    fitted = load_model(load(model), model)
    vectors, names = (None, None) if actions is None else _candidates(fitted, actions, item)
    explanation = fitted.explain(typed(user, fitted.users.dtype.kind), vectors, names=names)
    if form == "csv":
        print_rows(_rows(explanation), form)
    else:
        print_one(asdict(explanation), form, str(explanation))


def _rows(explanation: Any) -> list[dict[str, Any]]:
    """A row per candidate action, or per user of the model where there is none."""
    compared = explanation.comparison
    if compared is not None:
        return [
            {
                **asdict(one),
                "chosen": one.index == compared.chosen,
                "own_choice": one.index == compared.own_choice,
            }
            for one in compared.candidates
        ]
    rows = [{**asdict(n), "lends": True} for n in explanation.neighbours]
    rows += [{**asdict(n), "share": 0.0, "lends": False} for n in explanation.left_out]
    return [{name: row[name] for name in _COLUMNS} for row in rows]


def _candidates(model: Any, path: str, item: str | None) -> tuple[Any, list[object] | None]:
    """Vectors (K, d) of a table of actions, and their names where a column has them."""
    from coterie.errors import ActionError
    from coterie.logs import read_items
    from coterie.logs.sources import open_source

    source = open_source(path)
    present = source.columns()
    own = own_columns(model, present) or tuple(name for name in present if name != item)
    if len(own) not in {1, model.dim}:
        raise ActionError(
            f"{source.name} has {len(own)} columns of actions ({', '.join(own)}) and the model was fitted on "
            f"{model.dim} coordinates; give its columns{_listed(model)}"
        )
    if item is None:
        return _numbered(source, own, model.dim), None
    table = read_items(path, item, own)
    return table.vectors, table.ids.tolist()


def _listed(model: Any) -> str:
    return f": {', '.join(model.features[: model.dim])}" if model.features else ""


def _numbered(source: Any, own: tuple[str, ...], dim: int) -> Any:
    """Vectors of actions that have no names."""
    import numpy as np

    from coterie.serving.vectors import ActionColumns, vectors

    columns, kinds = ActionColumns(own, None, None, dim), dict.fromkeys(own, "number")
    found = [np.empty((0, dim))]
    for piece in source.pieces(list(own), 1 << 14, kinds if len(own) > 1 else {}):
        found.append(vectors(piece.rows, columns, partial(_place, sum(map(len, found)))))
    return np.concatenate(found)


def _place(first: int, row: int) -> str:
    """What a message calls a row of a piece that begins at row `first`."""
    return f"action {first + row}"


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
