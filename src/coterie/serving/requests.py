"""Requests: which user may choose among which actions, streamed from a file or a dataframe.

Takes: a long table (a row per action, a request's rows adjacent) or a wide one (a row per request, with
a list of actions or of item ids).
Gives: `Requests`, batch by batch: request and user ids, and the action sets laid end to end.
Next: `cuts`, which finds where requests end; `vectors`, which checks the actions; `stream`, which decides.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from coterie.decision import ActionSets
from coterie.errors import ActionError, LogError
from coterie.logs import Items
from coterie.logs.decode import users
from coterie.logs.logs import in_order
from coterie.logs.sources import Piece, Source, open_source, require_columns
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.serving.cuts import Cut, Rows, is_wide, long, numbered, wide
from coterie.serving.met import Met
from coterie.serving.vectors import ActionColumns, plain, vectors
from coterie.user_ids import Ids

REQUEST_ROWS = 1 << 17


@dataclass(frozen=True)
class RequestColumns:
    """Which column is what; `action` has d names or one that holds lists, and is empty if `item` is given.

    An empty `request` stands for the number of the row, which only a wide table can do with.
    """

    request: str = "request"
    user: str = "user"
    action: tuple[str, ...] = ("actions",)
    item: str | None = None

    def all(self) -> list[str]:
        """Every named column, once."""
        named = (self.request, self.user, *self.action, self.item)
        return list(dict.fromkeys(name for name in named if name))


@dataclass(frozen=True, eq=False)
class Requests:
    """Some consecutive requests: ids and users (Arrow), users' ids, action sets, the item of each action."""

    request: Any
    user: Any
    ids: Ids
    sets: ActionSets
    item: Any | None


@dataclass(frozen=True, eq=False)
class RequestReader:
    """A table of requests that can be streamed.

    `items` holds the vectors of items, for requests that name items; `text` the columns that are read as
    text where a format has no types of its own.
    """

    source: Source
    columns: RequestColumns
    items: Items | None
    dim: int
    text: tuple[str, ...] = ()

    @classmethod
    def open(
        cls,
        source: object,
        columns: RequestColumns,
        items: Items | None,
        dim: int,
        text: tuple[str, ...] = (),
    ) -> "RequestReader":
        """Reader of a file or dataframe, its columns checked; `dim` is what an action must have."""
        opened = open_source(source)
        require_columns(opened.columns(), columns.all(), opened.name)
        if (columns.item is None) != (items is None):
            raise LogError(
                "requests that name items need the item table, and the item table needs an item column"
            )
        given = len(columns.action) if len(columns.action) > 1 else dim
        if items is not None:
            given = items.vectors.shape[1]
        if given != dim:
            place = "the item table" if items is not None else opened.name
            raise ActionError(
                f"actions in {place} have {given} coordinates and the model was fitted on {dim}; give the "
                "same coordinates in the same order"
            )
        return cls(opened, columns, items, dim, text)

    def n_rows(self) -> int | None:
        """Rows of the table, where known."""
        return self.source.n_rows()

    def batches(self, batch_rows: int = REQUEST_ROWS) -> Iterator[tuple[Requests, int]]:
        """Stream of requests, each with the number of table rows read so far."""
        for cut in self.cuts(batch_rows):
            yield self.ready(cut), cut.done

    def cuts(
        self, batch_rows: int | None = None, *, skip: int = 0, met: Met | None = None, threads: int = 1
    ) -> Iterator[Cut]:
        """Rows with whole requests, but for the first `skip` rows, of whose requests `met` may know."""
        pieces = numbered(
            self.source.pieces(self.columns.all(), batch_rows or REQUEST_ROWS, self._kinds()), skip
        )
        parts = in_order(self._read, pieces, threads)
        first = next(parts, None)
        if first is None:
            return
        parts = chain([first], parts)
        name = self.columns.item or self.columns.action[0]
        if self._is_wide(first.rows.column(name).type):
            yield from wide(parts, name)
        else:
            yield from long(parts, self.columns.request, self.columns.user, met or Met())

    def ready(self, cut: Cut) -> Requests:
        """Users and checked action sets of some requests; any thread may ask."""
        if cut.start is None:
            return self._wide(cut.rows, cut.first)
        ids, who = cut.rows.column(self.columns.request), cut.rows.column(self.columns.user)
        return self._requests(ids.take(cut.start), who.take(cut.start), cut.start, cut.rows)

    def _read(self, numbered_piece: tuple[Piece, int, int]) -> Rows:
        """Checked rows of a piece."""
        import pyarrow as pa

        piece, first, skip = numbered_piece
        rows = pa.RecordBatch.from_arrays(
            [plain(column) for column in piece.rows.columns], names=piece.rows.schema.names
        )
        self._require_ids(rows, piece)
        return Rows(rows.slice(skip), first + skip)

    def _kinds(self) -> Any:
        coordinates = self.columns.action if len(self.columns.action) > 1 else ()
        return {**dict.fromkeys(coordinates, "number"), **dict.fromkeys(self.text, "text")}

    def _require_ids(self, rows: Any, piece: Piece) -> None:
        """Refuse a row without a request or user id, and ids that cannot be compared."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for what, name in (("request", self.columns.request), ("user", self.columns.user)):
            if not name:
                continue
            column = rows.column(name)
            if pa.types.is_nested(column.type):
                raise LogError(f"{what} column {name!r} holds {column.type} values; ids are numbers or text")
            missing = np.asarray(pc.is_null(column, nan_is_null=True).to_numpy(zero_copy_only=False))
            if missing.any():
                row = piece.first_row + int(missing.argmax())
                raise LogError(
                    f"row {row} of {piece.where} (rows count from 0) has no {what} (null in column "
                    f"{name!r}); every row needs one"
                )

    def _is_wide(self, kind: Any) -> bool:
        """Whether each row holds a whole action set; a long table needs a request column."""
        one_column = self.columns.item is not None or len(self.columns.action) == 1
        found = one_column and is_wide(kind, item=self.columns.item is not None)
        if not found and not self.columns.request:
            raise LogError(
                f"{self.source.name} has one action per row and no request column, so requests cannot be "
                "told apart; name the column, or give a list of actions per row"
            )
        return found

    def _wide(self, rows: Any, first: int) -> Requests:
        """Requests of a wide table: one a row."""
        import pyarrow as pa
        import pyarrow.compute as pc

        name = self.columns.item or self.columns.action[0]
        column = rows.column(name)
        length = np.asarray(pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False))
        numbered = pa.array(np.arange(first, first + len(column)))
        ids = rows.column(self.columns.request) if self.columns.request else numbered
        if length.min() == 0:
            name_of_first = ids[int(length.argmin())].as_py()
            raise ActionError(f"request {name_of_first!r} has an empty action set; at least one is required")
        start = (np.cumsum(length) - length).astype(np.int64)
        flat = pa.RecordBatch.from_arrays([plain(column.flatten())], names=[name])
        return self._requests(ids, rows.column(self.columns.user), start, flat)

    def _requests(self, request: Any, user: Any, start: IntArray, flat: Any) -> Requests:
        """Requests of these ids and users, whose actions begin at these rows of `flat`."""
        columns = ActionColumns(self.columns.action, self.columns.item, self.items, self.dim)

        def place(row: int) -> str:
            owner = int(np.searchsorted(start, row, side="right")) - 1
            return f"action {row - start[owner]} of request {request[owner].as_py()!r}"

        action = vectors(flat, columns, place)
        item = None if self.columns.item is None else flat.column(self.columns.item)
        sets = ActionSets(action, start, np.diff(np.append(start, flat.num_rows)))
        found = users(user, self.columns.user)
        ids = found if isinstance(found, np.ndarray) else np.array(found.to_pylist(), dtype=str)
        return Requests(request, user, ids, sets, item)
