"""Requests: which user may choose among which actions, streamed from a file or a dataframe.

Takes: a long table (a row per action, a request's rows adjacent) or a wide one (a row per request, with
a list of actions or of item ids).
Gives: `Requests`, batch by batch: request and user ids, and the action sets laid end to end.
Next: `stream`, which decides them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.decision import ActionSets
from coterie.errors import ActionError, LogError
from coterie.logs import Items
from coterie.logs.decode import is_list, lists, numbers, users
from coterie.logs.logs import BATCH_ROWS, require_columns
from coterie.logs.sources import Source, open_source
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray


@dataclass(frozen=True)
class RequestColumns:
    """Which column is what; `action` has d names or one that holds lists, and is empty if `item` is given."""

    request: str = "request"
    user: str = "user"
    action: tuple[str, ...] = ("actions",)
    item: str | None = None


@dataclass(frozen=True, eq=False)
class Requests:
    """Some consecutive requests: ids (Arrow), users, action sets, and the item of each action."""

    request: Any
    user: Any
    sets: ActionSets
    item: Any | None


@dataclass(frozen=True, eq=False)
class RequestReader:
    """A table of requests that can be streamed.

    `items` holds the vectors of items, for requests that name items.
    """

    source: Source
    columns: RequestColumns
    items: Items | None
    dim: int

    @classmethod
    def open(cls, source: object, columns: RequestColumns, items: Items | None, dim: int) -> "RequestReader":
        """Reader of a file or dataframe, its columns checked; `dim` is what an action must have."""
        opened = open_source(source)
        present = opened.columns()
        if not columns.request or columns.request not in present:
            columns = RequestColumns("", columns.user, columns.action, columns.item)
        named = [columns.user, *columns.action, *([columns.item] if columns.item else [])]
        require_columns(present, named, opened.name)
        if (columns.item is None) != (items is None):
            raise LogError(
                "requests that name items need the item table, and the item table needs an item column"
            )
        return cls(opened, columns, items, dim)

    def n_rows(self) -> int | None:
        """Rows of the table, where known."""
        return self.source.n_rows()

    def batches(self, batch_rows: int = BATCH_ROWS) -> Iterator[tuple[Requests, int]]:
        """Stream of requests, each with the number of table rows read so far."""
        import pyarrow as pa

        named = [self.columns.request, self.columns.user, *self.columns.action, self.columns.item]
        wanted = list(dict.fromkeys(name for name in named if name))
        held: Any = None
        done = 0
        for piece in self.source.pieces(wanted, batch_rows, dict.fromkeys(self._number_columns(), "number")):
            first, done = done, done + piece.rows.num_rows
            if self._is_wide(piece.rows):
                yield self._wide(piece.rows, first), done
                continue
            if not self.columns.request:
                raise LogError(
                    f"{self.source.name} has one action per row and no request column, so requests cannot be "
                    "told apart; name the column, or give a list of actions per row"
                )
            rows = piece.rows if held is None else _joined(held, piece.rows)
            last = _starts(rows.column(self.columns.request))[-1]
            if last:
                yield self._long(rows.slice(0, last)), done
            held = rows.slice(last)
        if held is not None:
            yield self._long(pa.RecordBatch.from_arrays(held.columns, schema=held.schema)), done

    def _number_columns(self) -> tuple[str, ...]:
        return self.columns.action if len(self.columns.action) > 1 else ()

    def _is_wide(self, rows: Any) -> bool:
        """Whether each row holds a whole action set."""
        if self.columns.item is not None:
            return is_list(rows.column(self.columns.item).type)
        kind = rows.column(self.columns.action[0]).type
        return len(self.columns.action) == 1 and is_list(kind) and is_list(kind.value_type)

    def _long(self, rows: Any) -> Requests:
        """Requests of a long table: cut where the request id changes."""
        request = rows.column(self.columns.request)
        start = _starts(request)
        length = np.diff(np.append(start, len(request)))
        who = rows.column(self.columns.user)
        other = np.flatnonzero(np.asarray(_differs(who)) & ~np.isin(np.arange(1, len(who)), start))
        if len(other):
            name = request[int(other[0]) + 1].as_py()
            raise LogError(f"request {name!r} names more than one user; a request is for one")
        ids = request.take(start)
        if len(ids.unique()) < len(ids):
            counts = ids.value_counts().to_pylist()
            name = next(entry["values"] for entry in counts if entry["counts"] > 1)
            raise LogError(
                f"the rows of request {name!r} are not adjacent; sort the requests by request first"
            )
        action, item = self._actions(rows, lambda row: f"request {request[row].as_py()!r}")
        return Requests(
            ids, users(who.take(start), self.columns.user), ActionSets(action, start, length), item
        )

    def _wide(self, rows: Any, first: int) -> Requests:
        """Requests of a wide table: one a row."""
        import pyarrow as pa
        import pyarrow.compute as pc

        name = self.columns.item or self.columns.action[0]
        column = rows.column(name)
        length = np.asarray(pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False))
        numbered = pa.array(np.arange(first, first + len(column)))
        ids = rows.column(self.columns.request) if self.columns.request else numbered
        if len(length) and length.min() == 0:
            raise ActionError(f"request {ids[int(length.argmin())].as_py()!r} has an empty action set")
        owner = np.repeat(np.arange(len(column)), length)
        flat = pa.RecordBatch.from_arrays([column.flatten()], names=[name])
        action, item = self._actions(flat, lambda row: f"request {ids[int(owner[row])].as_py()!r}")
        start = np.cumsum(length) - length
        who = users(rows.column(self.columns.user), self.columns.user)
        return Requests(ids, who, ActionSets(action, start, length.astype(np.int64)), item)

    def _actions(self, rows: Any, name_of: Any) -> tuple[FloatArray, Any | None]:
        """Action vectors of flat rows, each checked, and their items."""
        action, bad, item = self._vectors(rows)
        if action.shape[1] != self.dim:
            raise ActionError(
                f"actions in {self.source.name} have {action.shape[1]} coordinates and the model was fitted "
                f"on {self.dim}; give the same coordinates in the same order"
            )
        if not np.isfinite(np.einsum("ij,ij->", action, action)):
            infinite = np.flatnonzero(~np.isfinite(action).all(axis=1))
            raise ActionError(f"{name_of(int(infinite[0]))} has an action with NaN, infinity or no number")
        for what, where in bad.items():
            raise ActionError(f"{name_of(int(np.flatnonzero(where)[0]))} has {what}")
        return action, item

    def _vectors(self, rows: Any) -> tuple[FloatArray, dict[str, Any], Any | None]:
        if self.items is not None and self.columns.item is not None:
            item = rows.column(self.columns.item)
            at = self.items.rows(item)
            bad = {"an item that the item table lacks": at < 0} if (at < 0).any() else {}
            return self.items.vectors[np.maximum(at, 0)], bad, item
        first = rows.column(self.columns.action[0])
        if is_list(first.type):
            matrix, faults = lists(first, self.columns.action[0], self.dim)
            return matrix, dict(faults), None
        by_feature = [numbers(rows.column(name), name) for name in self.columns.action]
        return np.column_stack(by_feature), {}, None


def _starts(request: Any) -> IntArray:
    """First row of every run of equal request ids."""
    return np.concatenate([[0], 1 + np.flatnonzero(np.asarray(_differs(request)))]).astype(np.int64)


def _differs(column: Any) -> Any:
    """Whether each value differs from the one before it (from the second on)."""
    import pyarrow.compute as pc

    if column.null_count:
        raise LogError("a row of the requests has no request or user id; every row needs both")
    return pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)).to_numpy(zero_copy_only=False)


def _joined(left: Any, right: Any) -> Any:
    """Two record batches as one."""
    import pyarrow as pa

    return pa.Table.from_batches([left, right]).combine_chunks().to_batches()[0]
