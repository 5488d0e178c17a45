"""Stage 1, logs: what was tried for whom and how it went, as a stream of checked batches.

Takes: Parquet, CSV, Arrow IPC (file, glob, folder), dataframes with an Arrow stream, NumPy arrays.
Gives: `Logs`, lazy: a second look reads again; memory is bounded by a few batches.
Paper: the data sets D_u of the problem formulation.
Next: `coterie.statistics`.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any, Literal, TypeVar

import numpy as np

from coterie import checks
from coterie.errors import LogError, ParameterError
from coterie.logs.batch import Batch, checked
from coterie.logs.decode import (
    ActionReader,
    Columns,
    columns_reader,
    decode,
    first_length,
    is_list,
    item_reader,
    list_reader,
    names_of,
)
from coterie.logs.formats import Kinds
from coterie.logs.items import Items, read_items
from coterie.logs.sources import Piece, Source, StreamSource, open_source, require_columns
from coterie.packed import FloatArray
from coterie.user_ids import as_ids

BATCH_ROWS = 1 << 17
_BATCH_NUMBERS = 1 << 22  # of the action matrix of a batch (32 MiB)

A = TypeVar("A")
B = TypeVar("B")
Layout = tuple[ActionReader, tuple[str, ...]]
OnBad = Literal["error", "drop"]


@dataclass(frozen=True, eq=False, repr=False)
class Logs:
    """A log that can be streamed; made by `read_logs` or `Logs.from_arrays`.

    Nothing is read before it is needed, and every pass reads again.

    Examples
    --------
    >>> logs = Logs.from_arrays(["ann", "bob"], [[1.0, 0.0], [0.0, 1.0]], [1.0, 0.5])
    >>> logs.dim, next(logs.batches()).users.tolist()
    (2, ['ann', 'bob'])
    """

    source: Source
    columns: Columns
    items: Items | None = None
    candidates: object = None
    intercept: bool = False
    on_bad: OnBad = "error"
    batch_rows: int = BATCH_ROWS

    @classmethod
    def from_arrays(
        cls,
        user: object,
        action: object,
        reward: object,
        *,
        weight: object = None,
        features: Sequence[str] | None = None,
        intercept: bool = False,
        on_bad: OnBad = "error",
    ) -> "Logs":
        """Logs held in memory: ids (n,), action vectors (n, d), rewards (n,), frequencies (n,).

        `features` names the coordinates, so that the statistics can be added to those of a file.
        """
        import pyarrow as pa

        checks.one_of("on_bad", on_bad, ("error", "drop"))
        vectors = _vectors(action)
        if vectors.ndim != 2 or vectors.shape[1] == 0:  # noqa: PLR2004
            raise LogError(f"action has shape {vectors.shape}; one vector per row is required, shape (n, d)")
        n, dim = vectors.shape
        ids = as_ids(user, "user")
        table = {
            "user": pa.array(ids),
            "action": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), dim),
            "reward": pa.array(_column("reward", reward, n)),
        }
        if weight is not None:
            table["weight"] = pa.array(_column("weight", weight, n))
        if len(ids) != n:
            raise LogError(f"user has {len(ids)} rows and action has {n}; they must be of one length")
        if features is not None and len(features) != dim:
            raise LogError(f"features names {len(features)} coordinates and actions have {dim}")
        named = Columns(
            user="user",
            action=("action",),
            reward="reward",
            weight="weight" if weight is not None else None,
            features=None if features is None else tuple(features),
        )
        source = StreamSource(pa.table(table), called="the arrays given")
        return cls(source, named, intercept=intercept, on_bad=on_bad)

    def __repr__(self) -> str:
        """What is read as what, in one line."""
        action = ", ".join(self.columns.action) or f"item {self.columns.item}"
        return f"<logs of {self.source.name}: {self.columns.user}, {action}, {self.columns.reward}>"

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Names of the action's coordinates, the intercept included."""
        return (*self._layout[1], "intercept") if self.intercept else self._layout[1]

    @property
    def dim(self) -> int:
        """Length of the action vectors, the intercept included."""
        return len(self.features)

    def n_rows(self) -> int | None:
        """Rows, bad ones included, where that is known without reading them."""
        return self.source.n_rows()

    def batches(self, threads: int | None = None) -> Iterator[Batch]:
        """Stream of checked batches in the order of the log, decoded by `threads` threads."""
        pieces = self._pieces()
        if "_layout" not in vars(self):
            looked_at: list[Piece] = []
            vars(self)["_layout"] = self._layout_of(_noted(pieces, looked_at))
            pieces = chain(looked_at, pieces)
        yield from in_order(self._decoded, self._cut(pieces), threads or default_threads())

    def _cut(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Pieces, those of long action vectors cut so that the matrix of a batch stays small."""
        most = max(1, _BATCH_NUMBERS // max(self.dim, 1))
        for piece in pieces:
            if self.batch_rows <= most or piece.held.num_rows <= most:
                yield piece
                continue
            for start in range(0, piece.rows.num_rows, most):
                yield Piece(piece.rows.slice(start, most), piece.where, piece.first_row + start)

    def _pieces(self) -> Iterator[Piece]:
        kind: Literal["number", "text"] = "text" if self.on_bad == "drop" else "number"
        kinds: Kinds = {
            **dict.fromkeys(self.columns.numbers(), kind),
            self.columns.user: "text" if self.columns.text_ids else "id",
            **self._item_kind(),
        }
        return self.source.pieces(self.columns.all(), self.batch_rows, kinds)

    def _item_kind(self) -> Kinds:
        """Items of a text file are read as the item table has them."""
        if self.items is None or self.columns.item is None:
            return {}
        return {self.columns.item: "text" if self.items.ids.dtype.kind == "U" else "id"}

    def _decoded(self, piece: Piece) -> Batch:
        drop = self.on_bad == "drop"
        reader, features = self._layout
        batch, faults = decode(piece.rows, self.columns, reader, intercept=self.intercept, lenient=drop)
        names = names_of(self.columns, features)
        return checked(batch, faults, names, where=piece.where, first_row=piece.first_row, drop=drop)

    @cached_property
    def _layout(self) -> Layout:
        """How actions are read, and what their coordinates are called."""
        return self._layout_of(self._pieces())

    def _layout_of(self, pieces: Iterable[Piece]) -> Layout:
        """Layout, told by the columns' names, or by as many first pieces as it takes to see a list."""
        if self.items is not None and self.columns.item is not None:
            items = self.items
            return item_reader(self.columns.item, items.vectors, items.rows), items.features
        names = self.columns.action
        if len(names) == 1 and (dim := _list_length(pieces, names[0])) is not None:
            told = self.columns.features or tuple(f"{names[0]}[{j}]" for j in range(dim))
            return list_reader(names[0], dim), told
        return columns_reader(names, lenient=self.on_bad == "drop"), names


def read_logs(  # noqa: PLR0913
    source: object,
    *,
    user: str,
    reward: str,
    action: str | Sequence[str] | None = None,
    item: str | None = None,
    items: object = None,
    weight: str | None = None,
    propensity: str | None = None,
    time: str | None = None,
    candidates: object = None,
    intercept: bool = False,
    text_ids: bool = False,
    on_bad: OnBad = "error",
    batch_rows: int = BATCH_ROWS,
) -> Logs:
    """Lazy `Logs` of a file, a glob, a folder or a dataframe.

    Parameters
    ----------
    source : path, glob, folder, list of files, or dataframe
        Parquet, CSV (.csv, .tsv, .csv.gz) or Arrow IPC; hive partitions become columns. A dataframe is
        anything with `__arrow_c_stream__` (pandas, Polars, PyArrow, DuckDB) or a Polars LazyFrame.
    user, reward : str
        Columns of the user id (integer or text) and of the reward.
    action : str or list of str
        One column that holds lists, or one column per coordinate.
    item, items : str, path or dataframe
        In place of `action`: the column of item ids here, and the table that has the same column and
        one action vector per item.
    weight, propensity, time : str, optional
        Column of row frequencies (a row of weight 2 is that row twice), logging probabilities, times.
    candidates : str, list or dataframe, optional
        The action sets that the logging policy chose from: a column with one list per row, or one set for
        all rows (a list of item ids or of vectors, or a table).
    intercept : bool
        Append a constant 1 to every action, in the logs and when deciding.
    text_ids : bool
        Take user ids as text, also where they look like integers. Without it the ids of a CSV file are
        integers if all of them are written as integers are; "007" is text and never user 7.
    on_bad : "error" or "drop"
        What to do with rows that hold NaN, infinities, nulls, negative weights or odd lists: stop at
        the first and name it, or leave them out and count them per kind.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"who": ["ann", "bob"], "x": [0.6, 1.0], "y": [0.8, 0.0], "click": [1, 0]})
    >>> read_logs(table, user="who", action=["x", "y"], reward="click").dim
    2
    """
    checks.one_of("on_bad", on_bad, ("error", "drop"))
    if (action is None) == (item is None):
        raise ParameterError(
            "name the action either by action= (columns) or by item= and items=, not both or neither"
        )
    if (item is None) != (items is None):
        raise ParameterError(
            "item= (the column of item ids) and items= (the table of their vectors) go together"
        )
    named = Columns(
        user=user,
        reward=reward,
        action=() if action is None else (action,) if isinstance(action, str) else tuple(action),
        item=item,
        weight=weight,
        propensity=propensity,
        time=time,
        text_ids=text_ids,
    )
    opened = open_source(source)
    if isinstance(candidates, str) and candidates in opened.columns():
        named, candidates = replace(named, candidates=candidates), None
    if action is not None and not named.action:
        raise ParameterError("action= names no column; name at least one")
    for name in set(named.action) & {user, reward}:
        raise ParameterError(f"action= names column {name!r}, which is the user or the reward; leave it out")
    if twice := [name for name in named.action if named.action.count(name) > 1]:
        raise ParameterError(f"action= names column {twice[0]!r} more than once; name each coordinate once")
    require_columns(opened.columns(), named.all(), opened.name)
    table = None if item is None else read_items(items, item)
    at_a_time = int(checks.at_least("batch_rows", batch_rows, 1))
    return Logs(opened, named, table, candidates, intercept, on_bad, at_a_time)


def default_threads() -> int:
    """Cores that this process may use, at most OMP_NUM_THREADS, which processes beside others are given."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, max(1, int(most))) if most.isdecimal() else cores


def in_order(function: Callable[[A], B], inputs: Iterable[A], threads: int) -> Iterator[B]:
    """Results in the order of the inputs, a few computed ahead by `threads` threads."""
    if threads <= 1:
        yield from map(function, inputs)
        return
    with _left_behind(threads) as pool:
        yield from _pooled(function, inputs, pool, threads)


@contextmanager
def _left_behind(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that nobody waits for in the end: what they are still at ends by itself.

    A generator that was left in the middle may be closed by the garbage collector, in any thread and while
    that thread holds locks of `threading`, so that waiting for others there could wait for itself.
    """
    pool = ThreadPoolExecutor(threads)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _pooled(
    function: Callable[[A], B], inputs: Iterable[A], pool: ThreadPoolExecutor, ahead: int
) -> Iterator[B]:
    waiting: deque[Future[B]] = deque()
    try:
        for one in _one_ahead(inputs):
            waiting.append(pool.submit(function, one))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _one_ahead(inputs: Iterable[A]) -> Iterator[A]:
    """Inputs, the next one being fetched while one is worked on."""
    with _left_behind(1) as fetcher:
        coming = iter(inputs)
        following = fetcher.submit(list, islice(coming, 1))
        while fetched := following.result():
            following = fetcher.submit(list, islice(coming, 1))
            yield fetched[0]


def _noted(pieces: Iterator[Piece], seen: list[Piece]) -> Iterator[Piece]:
    """Pieces, each kept in `seen`, so that a table that can be read once is not read twice."""
    for piece in pieces:
        seen.append(piece)
        yield piece


def _list_length(pieces: Iterable[Piece], name: str) -> int | None:
    """Length of the first list that is not empty; None where the column holds no lists, or no rows."""
    where = ""
    for piece in pieces:
        column = piece.rows.column(name)
        if not is_list(column.type):
            return None
        if length := first_length(column):
            return length
        where = piece.where
    if where:
        raise LogError(f"column {name!r} of {where} has no list with a number in it; one per row is required")
    return None


def _vectors(action: object) -> FloatArray:
    try:
        return np.ascontiguousarray(action, dtype=np.float64)
    except (TypeError, ValueError) as failure:
        raise LogError(
            f"action is not an array of numbers ({failure}); one vector of one length per row is required"
        ) from failure


def _column(name: str, values: Any, n: int) -> Any:
    array = np.asarray(values)
    if array.shape != (n,):
        raise LogError(f"{name} has shape {array.shape}; one number per row is required, shape ({n},)")
    if array.dtype.kind not in "iufb":
        raise LogError(f"{name} holds {array.dtype} values; numbers are required")
    return array.astype(np.float64)
