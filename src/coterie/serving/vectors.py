"""Action vectors of requests: read from columns, lists or an item table, and checked.

Takes: rows with one action each.
Gives: a matrix (rows, d), or the sentence that names the first bad action, its request and its value.
Next: `requests`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.errors import ActionError
from coterie.logs import Items
from coterie.logs.decode import is_list, lists, numbers, side_by_side
from coterie.packed import FloatArray


@dataclass(frozen=True, eq=False)
class ActionColumns:
    """Where the vectors are: `action` (d columns or one of lists), or `item` and its table; each has d."""

    action: tuple[str, ...]
    item: str | None
    items: Items | None
    dim: int

    def coordinate(self, j: int) -> str:
        """What a message calls a coordinate."""
        return repr(self.action[j]) if len(self.action) > 1 else f"coordinate {j} of {self.action[0]!r}"


def vectors(rows: Any, columns: ActionColumns, place: Callable[[int], str]) -> FloatArray:
    """Checked vectors (rows, d); `place` says what a message calls a row."""
    if columns.items is not None and columns.item is not None:
        return _of_items(rows.column(columns.item), columns.items, place)
    action = _read(rows, columns, place)
    if not np.isfinite(np.einsum("ij,ij->", action, action)):
        _require_finite(action, columns, place)
    return action


def plain(column: Any) -> Any:
    """Column without dictionary or view, which not every Arrow function takes."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, plain(column.dictionary)).dictionary_decode()
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column


def _of_items(item: Any, items: Items, place: Callable[[int], str]) -> FloatArray:
    at: NDArray[np.int64] = items.rows(item)
    if len(at) and at.min() < 0:
        row = int(at.argmin())
        value = item[row].as_py()
        raise ActionError(
            f"{place(row)} "
            + ("names no item (null)" if value is None else f"is item {value!r}, which the item table lacks")
            + "; every item needs a row there"
        )
    return items.vectors[at]


def _read(rows: Any, columns: ActionColumns, place: Callable[[int], str]) -> FloatArray:
    first = rows.column(columns.action[0])
    if len(columns.action) == 1 and is_list(first.type):
        matrix, faults = lists(first, columns.action[0], columns.dim)
        if faults:
            row = min(int(where.argmax()) for where in faults.values())
            what = next(what for what, where in faults.items() if where[row])
            raise ActionError(f"{place(row)} has {what}")
        return matrix
    if len(columns.action) != columns.dim:
        raise ActionError(
            f"column {columns.action[0]!r} holds one {first.type} a row and the model was fitted on "
            f"{columns.dim} coordinates; name a column of lists, or one column per coordinate"
        )
    return side_by_side([numbers(rows.column(name), name) for name in columns.action])


def _require_finite(action: FloatArray, columns: ActionColumns, place: Callable[[int], str]) -> None:
    """Name the first action that is not finite; squares that overflow are left alone."""
    bad = np.argwhere(~np.isfinite(action))
    if len(bad):
        row, j = (int(position) for position in bad[0])
        what = "NaN or no number" if np.isnan(action[row, j]) else "infinity"
        raise ActionError(
            f"{place(row)} has {what} in {columns.coordinate(j)}; every coordinate must be finite"
        )
