"""`coterie decide`: from a table of requests to a table of decisions."""

from typing import Any

import click

from coterie.cli.options import action_columns, action_option, item_options
from coterie.cli.output import format_option, print_one, progress_bar


@click.command(epilog="Example:  coterie decide model.coterie requests.parquet --out decisions.parquet")
@click.argument("model")
@click.argument("requests")
@click.option("--out", required=True, help="File to write decisions to (.parquet, .csv or .arrow).")
@click.option("--request", default="request", show_default=True, help="Column of request ids.")
@click.option("--user", default="user", show_default=True, help="Column of user ids.")
@action_option
@item_options
@click.option("--top", type=click.IntRange(min=1), help="Rank the best so many actions, not only one.")
@format_option
def command(model: str, requests: str, out: str, form: str, **options: Any) -> None:
    """Decide for every request of REQUESTS with MODEL and write the decisions.

    REQUESTS has one row per action (a request's rows adjacent; columns of the request, the user and the
    action or item), or one row per request with a list of actions or of items. Without --action the
    model's own action columns are looked for, then a column named actions.
    """
    from coterie.model_file import load
    from coterie.serving import decide_file

    fitted = load_model(load(model), model)
    reader = _reader(fitted, requests, options)
    with progress_bar() as progress:
        n = decide_file(fitted, reader, out, top=options["top"], progress=progress)
    print_one({"requests": n, "out": out}, form, f"{n} requests decided. Written to {out}.")


def load_model(loaded: Any, path: str) -> Any:
    """The loaded object, if it is a model."""
    from coterie.errors import FileError
    from coterie.model import Model

    if not isinstance(loaded, Model):
        raise FileError(f"{path!r} holds statistics, not a model; fit one with 'coterie fit'")
    return loaded


def _reader(model: Any, requests: str, options: dict[str, Any]) -> Any:
    from coterie.logs import read_items
    from coterie.logs.sources import open_source
    from coterie.serving import RequestColumns, RequestReader

    present = open_source(requests).columns()
    item, items = options["item"], options["items"]
    action: tuple[str, ...] = ()
    if options["action"]:
        action = tuple(action_columns(options["action"], present, {options["request"], options["user"]}))
    elif item is None:
        own = tuple(model.features[: model.dim]) if model.features else ()
        action = own if own and set(own) <= set(present) else ("actions",)
    columns = RequestColumns(options["request"], options["user"], action, item)
    table = read_items(items, item) if items is not None and item is not None else None
    return RequestReader.open(requests, columns, table, model.dim)
