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
from coterie.logs.decode import is_list, lists, numbers, users
from coterie.logs.sources import open_source
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
        ids = users(column, "item")
        if isinstance(ids, np.ndarray):
            return self.index.rows(ids)
        present = np.asarray(ids.is_valid())
        rows = np.full(len(ids), -1, dtype=np.int64)
        rows[present] = self.index.rows(np.array(ids.drop_null().to_pylist(), dtype=str))
        return rows


def read_items(source: object, item: str, action: tuple[str, ...] = ()) -> Items:
    """Item table: `item` names the id column; `action` the feature columns (default: all the others)."""
    import pyarrow as pa

    opened = open_source(source)
    names = opened.columns()
    if item not in names:
        raise LogError(f"the item table has no column {item!r}; it has {', '.join(names)}")
    features = action or tuple(name for name in names if name != item)
    pieces = list(opened.pieces([item, *features], 1 << 16, {}))
    if not pieces:
        raise LogError("the item table is empty; it needs a row per item")
    rows = pa.Table.from_batches([piece.rows for piece in pieces]).combine_chunks().to_batches()[0]
    vectors, features = _vectors(rows, features)
    if not np.isfinite(vectors).all():
        bad = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise LogError(f"row {bad} of the item table has NaN, infinity or no number in its action vector")
    ids = users(rows.column(item), item)
    if not isinstance(ids, np.ndarray):
        if ids.null_count:
            raise LogError(f"column {item!r} of the item table has a row without an item id")
        ids = as_ids(np.array(ids.to_pylist()))
    index = UserIndex(ids)
    if (twice := index.first_duplicate()) is not None:
        raise LogError(
            f"item {twice!r} occurs more than once in the item table; one row per item is required"
        )
    return Items(index, vectors, features)


def _vectors(rows: Any, features: tuple[str, ...]) -> tuple[FloatArray, tuple[str, ...]]:
    """Action vectors from one list column or from one column per feature."""
    first = rows.column(features[0])
    if len(features) > 1 or not is_list(first.type):
        return np.column_stack([numbers(rows.column(name), name) for name in features]), features
    dim = len(first[0].as_py() or [])
    matrix, faults = lists(first, features[0], dim)
    if faults:
        raise LogError(f"the item table has {next(iter(faults))}")
    return matrix, tuple(f"{features[0]}[{j}]" for j in range(dim))
