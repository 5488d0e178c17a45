"""From Arrow columns to arrays: users, action vectors, numbers; nothing is judged here but types.

Takes: an Arrow record batch and the `Columns` that say which column is what.
Gives: a `Batch` with NaN where a value is missing, and the faults that only Arrow can see.
Next: `batch`, which checks it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.errors import LogError
from coterie.logs.batch import NULL_USER, Batch, Faults, Names
from coterie.packed import FloatArray
from coterie.user_ids import as_ids

ActionReader = Callable[[Any], tuple[FloatArray, Faults]]


@dataclass(frozen=True)
class Columns:
    """Which column of the table is what; `action` has d names, or one that holds lists, or is empty."""

    user: str
    reward: str
    action: tuple[str, ...] = ()
    item: str | None = None
    weight: str | None = None
    propensity: str | None = None
    time: str | None = None
    candidates: str | None = None
    text_ids: bool = False
    features: tuple[str, ...] | None = None

    def all(self) -> list[str]:
        """Every named column, once."""
        extra = [self.item, self.weight, self.propensity, self.time, self.candidates]
        names = [self.user, *self.action, self.reward, *(name for name in extra if name is not None)]
        return list(dict.fromkeys(names))

    def numbers(self) -> list[str]:
        """Columns that must hold numbers in a file without types, where nothing can be a list."""
        extra = [name for name in (self.weight, self.propensity) if name is not None]
        return [*self.action, self.reward, *extra]


def decode(
    rows: Any, columns: Columns, read_action: ActionReader, *, intercept: bool, lenient: bool
) -> tuple[Batch, Faults]:
    """Arrays of one record batch; `lenient` takes text for a number where it is one."""
    action, faults = read_action(rows)
    if intercept:
        action = np.hstack([action, np.ones((len(action), 1))])

    def optional(name: str | None) -> FloatArray | None:
        return None if name is None else numbers(rows.column(name), name, lenient)

    user = plain(rows.column(columns.user))
    if columns.text_ids:
        user = as_text(user)
    if user.null_count:
        faults = {f"{NULL_USER} (null in column {columns.user!r})": np.asarray(user.is_null()), **faults}
    batch = Batch(
        user=users(user, columns.user),
        action=action,
        reward=numbers(rows.column(columns.reward), columns.reward, lenient),
        weight=optional(columns.weight),
        propensity=optional(columns.propensity),
        time=None if columns.time is None else rows.column(columns.time).to_numpy(zero_copy_only=False),
        candidates=None if columns.candidates is None else rows.column(columns.candidates),
    )
    return batch, faults


def names_of(columns: Columns, features: Sequence[str]) -> Names:
    """What messages call the columns."""
    return Names(tuple(features), columns.reward, columns.weight)


def plain(column: Any) -> Any:
    """Column without its dictionary, if it has one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return column
    values = column.dictionary
    return (pc.cast(values, pa.large_string()) if _is_text(values.type) else values).take(column.indices)


def as_text(column: Any) -> Any:
    """Integer ids as text; others as they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.cast(column, pa.large_string()) if pa.types.is_integer(column.type) else column


def users(column: Any, name: str, what: str = "user") -> Any:
    """Ids as integers (0 where one is missing) or as Arrow text (null where one is missing)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = plain(column)
    if pa.types.is_integer(column.type):
        known = column.fill_null(0) if column.null_count else column
        return as_ids(known.to_numpy(zero_copy_only=False), f"column {name!r}")
    if _is_text(column.type):
        return pc.cast(column, pa.large_string())
    if pa.types.is_null(column.type):
        return pc.cast(column, pa.string())
    hint = (
        " (whole numbers become decimals where some are missing or too large)"
        if pa.types.is_floating(column.type)
        else ""
    )
    raise LogError(
        f"{what} column {name!r} holds {column.type} values{hint}; "
        f"{what} ids must be integers or text: cast it"
    )


def numbers(column: Any, name: str, lenient: bool = False) -> FloatArray:
    """Numeric column as float64, NaN where a value is missing or (`lenient`) is text that is no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if lenient and _is_text(kind):
        return _parsed(column)
    countable = pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    if not (countable or pa.types.is_decimal(kind) or pa.types.is_null(kind)):
        example = next((value for value in column.to_pylist() if value is not None), None)
        raise LogError(f"column {name!r} holds {kind} values ({example!r}); numbers are required: cast it")
    if kind != pa.float64():
        column = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def columns_reader(names: tuple[str, ...], *, lenient: bool = False) -> ActionReader:
    """Reader of an action kept as one column per feature."""

    def read(rows: Any) -> tuple[FloatArray, Faults]:
        return side_by_side([_any_float(rows.column(name), name, lenient) for name in names]), {}

    return read


def side_by_side(columns: Sequence[NDArray[Any]]) -> FloatArray:
    """Matrix (n, d) of d columns, row after row in memory.

    >>> side_by_side([np.array([1.0, 2.0]), np.array([3.0, 4.0])]).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    from coterie.logs import _kernels

    matrix = _matrix(len(columns[0]), len(columns))
    _kernels.side_by_side(columns, matrix)
    return matrix


def _matrix(n: int, dim: int) -> FloatArray:
    """Room for n vectors, from the memory that Arrow keeps at hand: new pages cost more than filling them."""
    import pyarrow as pa

    return np.frombuffer(pa.allocate_buffer(8 * n * dim), dtype=np.float64).reshape(n, dim)


def _any_float(column: Any, name: str, lenient: bool) -> NDArray[Any]:
    """The same as `numbers`, a complete column of 32-bit numbers as it is."""
    import pyarrow as pa

    if column.type == pa.float32() and not column.null_count:
        return np.asarray(column.to_numpy())
    return numbers(column, name, lenient)


def list_reader(name: str, dim: int) -> ActionReader:
    """Reader of an action kept as a list in one column; a list of another length is a fault."""

    def read(rows: Any) -> tuple[FloatArray, Faults]:
        return lists(rows.column(name), name, dim)

    return read


def lists(column: Any, name: str, dim: int) -> tuple[FloatArray, Faults]:
    """Matrix (B, dim) of a list column, rows of another length zero and marked."""
    import pyarrow.compute as pc

    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), -1).to_numpy(zero_copy_only=False))
    odd = lengths != dim
    flat = numbers(column.filter(~odd).flatten() if odd.any() else column.flatten(), name)
    if not odd.any():
        return flat.reshape(len(column), dim), {}
    matrix = np.zeros((len(column), dim))
    matrix[~odd] = flat.reshape(-1, dim)
    seen = {f"a list of {n} numbers" if n >= 0 else "no list": lengths == n for n in np.unique(lengths[odd])}
    return matrix, {
        f"{what} in column {name!r}, where {dim} are required": rows for what, rows in seen.items()
    }


def is_list(kind: Any) -> bool:
    """Whether an Arrow type is some list."""
    import pyarrow as pa

    tests = ("is_list", "is_large_list", "is_fixed_size_list", "is_list_view", "is_large_list_view")
    return any(getattr(pa.types, test)(kind) for test in tests)


def first_length(column: Any) -> int:
    """Length of the first list that is neither null nor empty, 0 where there is none."""
    import pyarrow.compute as pc

    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False))
    return int(lengths[np.argmax(lengths > 0)]) if len(lengths) else 0


def item_reader(item: str, matrix: FloatArray, row_of: Callable[[Any], NDArray[np.int64]]) -> ActionReader:
    """Reader of an action given by an item id; an item that the table lacks is a fault."""

    def read(rows: Any) -> tuple[FloatArray, Faults]:
        at = row_of(rows.column(item))
        unknown = at < 0
        faults = {f"an item (column {item!r}) that the item table lacks": unknown} if unknown.any() else {}
        return matrix[np.maximum(at, 0)], faults

    return read


def _parsed(texts: Any) -> FloatArray:
    """Numbers that texts stand for; NaN for none (an infinity stays one, to be named as such)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(pc.cast(texts, pa.large_string()))
    try:
        return np.asarray(pc.cast(trimmed, pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        return np.array([_number(text) for text in trimmed.to_pylist()], dtype=np.float64)


def _number(text: str | None) -> float:
    """Number as Arrow reads it: Python's `1_000` and digits of other scripts are none."""
    try:
        return float(text) if text is not None and text.isascii() and "_" not in text else np.nan
    except ValueError:
        return np.nan


def _is_text(kind: Any) -> bool:
    return str(kind) in {"string", "large_string", "string_view"}
