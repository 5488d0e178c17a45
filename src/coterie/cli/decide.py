"""`coterie decide`: from a table of requests to a table of decisions."""

from collections.abc import Sequence
from typing import Any

import click

from coterie.cli.command import Command
from coterie.cli.options import (
    action_columns,
    action_option,
    item_options,
    require_one_kind_of_action,
    require_unread,
)
from coterie.cli.output import format_option, print_one, progress_bar


@click.command(
    cls=Command, epilog="Example:  coterie decide model.coterie requests.parquet --out decisions.parquet"
)
@click.argument("model")
@click.argument("requests")
@click.option(
    "--out", required=True, metavar="FILE", help="File to write decisions to (.parquet, .csv or .arrow)."
)
@click.option(
    "--request",
    metavar="COLUMN",
    help="Column of request ids (without it: request, or the row's number where a row is a request).",
)
@click.option("--user", default="user", show_default=True, metavar="COLUMN", help="Column of user ids.")
@action_option
@item_options
@click.option(
    "--top", type=click.IntRange(min=1), metavar="K", help="Rank the best K actions of each request."
)
@format_option
def command(model: str, requests: str, out: str, form: str, **options: Any) -> None:
    """Decide for every request of REQUESTS with MODEL and write the decisions.

    REQUESTS has one row per action (a request's rows adjacent; columns of the request, the user and the
    action or item), or one row per request with a list of actions or of items. Without --action the
    model's own action columns are looked for, then a column named actions. A run that was killed goes on
    where it was when the same command is given again.
    """
    from coterie.model_file import load
    from coterie.serving import decide_file

    require_one_kind_of_action(options)
    fitted = load_model(load(model), model)
    require_unread(out, model, requests, options["items"])
    reader = _reader(fitted, requests, options)
    depends = _depends(model, requests, reader, options)
    with progress_bar() as progress:
        n = decide_file(fitted, reader, out, top=options["top"], progress=progress, depends=depends)
    print_one({"requests": n, "out": out}, form, f"{n} request{'s' * (n != 1)} decided. Written to {out}.")


def _depends(model: str, requests: str, reader: Any, options: dict[str, Any]) -> str:
    """Everything that the decisions depend on, as a text: files by name, size and time of change."""
    import json
    from dataclasses import astuple

    import coterie
    from coterie.logs.sources import files_at
    from coterie.serving.parts import stamp

    files = [path for place in (model, requests, options["items"]) if place for path in files_at(place)]
    settings = [coterie.__version__, options["top"], astuple(reader.columns), reader.text]
    return json.dumps([*map(stamp, files), *settings])


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

    source = open_source(requests)
    present = source.columns()
    request = options["request"] or ("request" if "request" in present else "")
    item, text, table = options["item"], [], None
    if item is not None:
        own = own_columns(model, open_source(options["items"]).columns())
        table = read_items(options["items"], item, own)
        text += [item] if table.ids.dtype.kind == "U" else []
    text += [options["user"]] if model.users.dtype.kind == "U" else []
    action = () if item else _action(model, options, present, source.name)
    columns = RequestColumns(request, options["user"], action, item)
    return RequestReader.open(requests, columns, table, model.dim, tuple(text))


def _action(model: Any, options: dict[str, Any], present: Sequence[str], name: str) -> tuple[str, ...]:
    """Action columns, those that the model knows in the order in which it was fitted."""
    if options["action"]:
        named = action_columns(options["action"], present, {options["request"] or "", options["user"]})
        own = own_columns(model, named)
        return own if len(own) == len(named) else tuple(named)
    own = own_columns(model, present)
    if not own and "actions" not in present:
        from coterie.errors import LogError

        wanted = (
            f"the model's action columns ({', '.join(_features(model))})" if _features(model) else "lists"
        )
        raise LogError(
            f"{name} has neither {wanted} nor a column 'actions'; it has {', '.join(present)}: name the "
            "action columns by --action, or the items by --item and --items"
        )
    return own or ("actions",)


def own_columns(model: Any, present: Sequence[str]) -> tuple[str, ...]:
    """The model's own columns in its order, if all are present: one a coordinate, or one of lists."""
    features = _features(model)
    if features and set(features) <= set(present):
        return features
    lists = {feature.rpartition("[")[0] for feature in features}
    return tuple(lists) if len(lists) == 1 and lists <= set(present) else ()


def _features(model: Any) -> tuple[str, ...]:
    return tuple(model.features[: model.dim]) if model.features else ()
