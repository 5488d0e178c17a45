"""Where one request ends and the next begins: rows of a table cut so that no request is cut in two.

Takes: pieces of a table, read by several threads.
Gives: `Cut`s in the order of the table: whole requests, few enough to be held several times over.
Next: `requests`, which turns each into users and action sets.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.errors import LogError
from coterie.logs.decode import is_list
from coterie.logs.sources import Piece
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.serving.met import Met

ACTIONS_AT_A_TIME = 1 << 17


@dataclass(frozen=True, eq=False)
class Cut:
    """Whole requests: their rows (Arrow) and where each begins (None: each row is one).

    `first` and `done` are the numbers in the table of the first row and of the row after the last.
    """

    rows: Any
    start: IntArray | None
    first: int
    done: int


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a piece without what is to be skipped, and the number of the first in the table."""

    rows: Any
    first: int


def numbered(pieces: Iterable[Piece], skip: int) -> Iterator[tuple[Piece, int, int]]:
    """Pieces that do not lie in the first `skip` rows, the number of their first row, rows to leave out.

    Those that do are not read where their length is known without.
    """
    done = 0
    for piece in pieces:
        first, done = done, done + int(piece.held.num_rows)
        if done > skip:
            yield piece, first, max(0, skip - first)


def wide(parts: Iterable[Rows], sets: str) -> Iterator[Cut]:
    """Cuts of a table with a request in each row, whose actions are lists in column `sets`."""
    import pyarrow.compute as pc

    for part in parts:
        n = part.rows.num_rows
        actions = pc.sum(pc.list_value_length(part.rows.column(sets))).as_py() or 0
        step = max(1, ACTIONS_AT_A_TIME * n // max(actions, 1))
        for at in range(0, n, step):
            rows = part.rows.slice(at, step)
            yield Cut(rows, None, part.first + at, part.first + at + rows.num_rows)


def long(parts: Iterable[Rows], request: str, user: str, met: Met) -> Iterator[Cut]:
    """Cuts of a table with a row per action, by the ids in column `request`, which must not come again."""
    held: Rows | None = None
    for part in parts:
        rows, first = part.rows, part.first
        if held is not None:  # the last request may go on: only its own rows are joined
            ids = rows.column(request)
            starts = _starts(ids)
            goes_on = ids[0].equals(held.rows.column(request)[-1])
            head = (int(starts[1]) if len(starts) > 1 else len(ids)) if goes_on else 0
            held = Rows(_joined(held.rows, rows.slice(0, head)), held.first) if head else held
            rows, first = rows.slice(head), first + head
            if not rows.num_rows:
                continue
            yield _checked(held, request, user, met)
        last = int(_starts(rows.column(request))[-1])
        if last:
            yield _checked(Rows(rows.slice(0, last), first), request, user, met)
        held = Rows(rows.slice(last), first + last)
    if held is not None:
        yield _checked(held, request, user, met)


def is_wide(kind: Any, item: bool) -> bool:
    """Whether a column of this type holds whole action sets: lists of items, or of vectors."""
    return is_list(kind) and (item or is_list(kind.value_type))


def _checked(part: Rows, request: str, user: str, met: Met) -> Cut:
    """Cut of rows that hold whole requests, each of one user and none of them met before."""
    ids, who = part.rows.column(request), part.rows.column(user)
    start = _starts(ids)
    changes = np.setdiff1d(_starts(who), start)
    if len(changes):
        row = int(changes[0])
        raise LogError(
            f"request {ids[row].as_py()!r} names more than one user ({who[row - 1].as_py()!r} and "
            f"{who[row].as_py()!r}); a request is for one"
        )
    again = met.first_again(ids.take(start))
    if again is not None:
        name = ids[int(start[again])].as_py()
        raise LogError(f"the rows of request {name!r} are not adjacent; sort the requests by request first")
    return Cut(part.rows, start, part.first, part.first + part.rows.num_rows)


def _starts(column: Any) -> IntArray:
    """First row of every run of equal values."""
    import pyarrow.compute as pc

    differs = pc.not_equal(column.slice(1), column.slice(0, len(column) - 1))
    return np.append(0, 1 + np.flatnonzero(differs.to_numpy(zero_copy_only=False))).astype(np.int64)


def _joined(left: Any, right: Any) -> Any:
    """Two record batches as one."""
    import pyarrow as pa

    return pa.Table.from_batches([left, right]).combine_chunks().to_batches()[0]
