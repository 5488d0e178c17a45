"""Items: a table of action vectors, looked up by item id.

Takes: an item table (file or dataframe) with one row per item.
Gives: `Items`: ids, their vectors, and the row of each id.
Next: `decode`, which joins logs to it, and the command line, which joins requests to it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.errors import LogError
from coterie.logs.decode import as_text, first_length, is_list, lists, numbers, plain, users
from coterie.logs.formats import Kinds
from coterie.logs.sources import open_source, require_columns
from coterie.packed import FloatArray
from coterie.user_ids import Ids, UserIndex, as_ids


@dataclass(frozen=True, eq=False)
class Items:
    """Item ids and their action vectors (n_items, d)."""

    index: UserIndex
    vectors: FloatArray
    features: tuple[str, ...]

    @property
    def ids(self) -> Ids:
        """Item ids."""
        return self.index.ids

    def rows(self, column: Any) -> NDArray[np.int64]:
        """Row of each item of an Arrow column, -1 where it is null or unknown."""
        column = plain(column)
        if column.null_count == len(column):
            return np.full(len(column), -1, dtype=np.int64)
        ids = users(column, "item", "item")
        numbered = isinstance(ids, np.ndarray)
        if numbered != (self.ids.dtype.kind in "iu"):
            here, there = ("integers", "text") if numbered else ("text", "integers")
            raise LogError(f"item ids are {here} here and {there} in the item table; cast one of them")
        if numbered:
            rows = self.index.rows(ids)
        else:
            encoded = ids.dictionary_encode()
            of_distinct = self.index.rows(np.array(encoded.dictionary.to_pylist(), dtype=str))
            rows = of_distinct[encoded.indices.fill_null(0).to_numpy()]
        return np.where(np.asarray(column.is_valid()), rows, -1)


def read_items(source: object, item: str, action: tuple[str, ...] = ()) -> Items:
    """Item table: `item` names the id column; `action` the feature columns (default: all the others)."""
    import pyarrow as pa

    opened = open_source(source)
    names = opened.columns()
    require_columns(names, [item, *action], "the item table")
    features = action or tuple(name for name in names if name != item)
    if not features:
        raise LogError(f"the item table has no column but {item!r}; it needs columns of action vectors")
    kinds: Kinds = {**dict.fromkeys(features, "number"), item: "id"}
    pieces = [piece.rows for piece in opened.pieces([item, *features], 1 << 16, kinds)]
    if not pieces:
        raise LogError("the item table is empty; it needs a row per item")
    rows = pa.Table.from_batches(_with_one_kind(pieces, item)).combine_chunks().to_batches()[0]
    vectors, features = _vectors(rows, features)
    if not np.isfinite(vectors).all():
        bad = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise LogError(f"row {bad} of the item table has NaN, infinity or no number in its action vector")
    column = plain(rows.column(item))
    if column.null_count:
        row = int(np.argmax(np.asarray(column.is_null())))
        raise LogError(
            f"row {row} of the item table has no item id (null in column {item!r}); each needs one"
        )
    ids = users(column, item, "item")
    if not isinstance(ids, np.ndarray):
        ids = as_ids(np.array(ids.to_pylist()))
    index = UserIndex(ids)
    if (twice := index.first_duplicate()) is not None:
        raise LogError(
            f"item {twice!r} occurs more than once in the item table; one row per item is required"
        )
    return Items(index, vectors, features)


def _with_one_kind(pieces: list[Any], item: str) -> list[Any]:
    """Pieces whose ids are all of one type: text, if some pieces have text and others integers."""
    if len({piece.column(item).type for piece in pieces}) == 1:
        return pieces
    at = pieces[0].schema.get_field_index(item)
    return [piece.set_column(at, item, as_text(plain(piece.column(at)))) for piece in pieces]


def _vectors(rows: Any, features: tuple[str, ...]) -> tuple[FloatArray, tuple[str, ...]]:
    """Action vectors from one list column or from one column per feature."""
    first = rows.column(features[0])
    if len(features) > 1 or not is_list(first.type):
        return np.column_stack([numbers(rows.column(name), name) for name in features]), features
    dim = first_length(first)
    matrix, faults = lists(first, features[0], dim)
    for what, where in faults.items():
        raise LogError(f"row {int(np.argmax(where))} of the item table has {what}")
    if not dim:
        raise LogError(f"column {features[0]!r} of the item table has no list with a number in it")
    return matrix, tuple(f"{features[0]}[{j}]" for j in range(dim))
