"""Stage 2, statistics: one pass over the batches, every row added to its user's sums.

Takes: `Logs`.
Gives: `UserStatistics`, users in ascending order; memory is the statistics and a few batches.
Paper: the sums in the equation for M_u and b_u.
Next: `coterie.confidence`.

Rows are decoded by several threads, get their user's row in one, and are added by several again, each
thread to its own users. A user's rows are added in the order of the log by one thread, so that the sums
do not depend on the number of threads, to the last bit.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.checks import at_least
from coterie.errors import LogError, warn
from coterie.logs import Batch, Logs
from coterie.logs.logs import default_threads
from coterie.packed import packed_size
from coterie.progress import Progress, silent
from coterie.statistics.user_statistics import UserStatistics
from coterie.user_ids import LONGEST_ID, Ids, UserIndex, as_ids

_NO_WEIGHT = np.empty(0)


def summarize(
    logs: Logs,
    *,
    threads: int | None = None,
    progress: Progress = silent,
    watch: Callable[[Batch], None] | None = None,
) -> UserStatistics:
    """Per-user sums of a log.

    `watch` is shown every batch once, in the order of the log, so that one pass can serve two purposes.
    Rows left out under `on_bad="drop"` are counted in `dropped` and warned about; a user all of whose
    rows have weight 0 is known and has no data.

    Examples
    --------
    >>> logs = Logs.from_arrays(["b", "a", "b"], [[1.0], [1.0], [0.5]], [1.0, 0.0, 2.0])
    >>> stats = summarize(logs)
    >>> stats.users.tolist(), stats.count.tolist(), stats.moment.tolist()
    (['a', 'b'], [1.0, 2.0], [[0.0], [2.0]])
    """
    threads = default_threads() if threads is None else int(at_least("threads", threads, 1))
    dropped: dict[str, int] = {}
    sums, table, total, done = None, None, logs.n_rows(), 0
    with ThreadPoolExecutor(threads) as pool:
        for batch in logs.batches(threads):
            for kind, n in batch.dropped.items():
                dropped[kind] = dropped.get(kind, 0) + n
            if len(batch):
                table = table or _table_for(batch)
                sums = sums or _Sums(batch.action.shape[1])
                sums.add(table.rows(batch.user), len(table), batch, pool, threads)
            if watch is not None:
                watch(batch)
            done += len(batch) + sum(batch.dropped.values())
            progress("reading rows", done, total)
    if sums is None or table is None:
        lost = f" ({sum(dropped.values())} rows were dropped)" if dropped else ""
        raise LogError(f"there are no usable rows in {logs.source.name}{lost}; at least one is required")
    _tell_dropped(dropped)
    return _finished(sums, table, logs, dropped)


class _Table(Protocol):
    """Ids seen so far, each with a row in order of first appearance."""

    def __len__(self) -> int:
        """Count the ids."""

    def rows(self, ids: Any) -> NDArray[np.int64]:
        """Row of each id, new ones added."""

    def ids(self) -> Ids:
        """Ids in the order of their rows."""


class _IntegerTable:
    """Ids of integer type in an open hash table."""

    def __init__(self, dtype: Any) -> None:
        from coterie.statistics import _kernels

        self._kernels = _kernels
        self._n = 0
        self._keys, self._rows = _kernels.empty_table(1 << 12, dtype)

    def __len__(self) -> int:
        return self._n

    def rows(self, ids: Any) -> NDArray[np.int64]:
        if not isinstance(ids, np.ndarray):
            raise _mixed(_oddest(ids), "text", "integers")
        ids = self._alike(ids)
        while 2 * (self._n + len(ids)) > len(self._keys):
            self._grow()
        out = np.empty(len(ids), dtype=np.int64)
        self._n = self._kernels.look_up_or_add(ids, self._keys, self._rows, self._n, out)
        return out

    def ids(self) -> Ids:
        ordered = np.empty(self._n, dtype=self._keys.dtype)
        taken = self._rows >= 0
        ordered[self._rows[taken]] = self._keys[taken]
        return ordered

    def _alike(self, ids: Ids) -> Ids:
        """Ids in the type of the table, which becomes unsigned where an id is above 2**63 - 1."""
        if ids.dtype == self._keys.dtype:
            return ids
        signed = ids if ids.dtype == np.int64 else self.ids()
        if signed.min(initial=0) < 0:
            raise LogError("user ids below 0 and above 2**63 - 1 cannot be held together; renumber the users")
        self._keys = self._keys.view(np.uint64)  # the same bits, hence in the same slots
        return ids.astype(np.uint64, copy=False)

    def _grow(self) -> None:
        old = self.ids()
        self._keys, self._rows = self._kernels.empty_table(2 * len(self._keys), old.dtype)
        self._kernels.look_up_or_add(old, self._keys, self._rows, 0, np.empty(len(old), dtype=np.int64))


class _TextTable:
    """Ids of text type in a dictionary, asked once per distinct id of a batch."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._known)

    def rows(self, ids: Any) -> NDArray[np.int64]:
        if isinstance(ids, np.ndarray):
            raise _mixed(ids[0].item(), "an integer", "text")
        encoded = ids.dictionary_encode()
        known = self._known
        rows = [known.setdefault(name, len(known)) for name in encoded.dictionary.to_pylist()]
        return np.asarray(np.array(rows, dtype=np.int64)[encoded.indices.to_numpy()])

    def ids(self) -> Ids:
        for name in self._known:
            if len(name) > LONGEST_ID or name.endswith("\0"):
                raise LogError(
                    f"user id {name[:40]!r}, of {len(name)} characters, cannot be kept; "
                    f"at most {LONGEST_ID} characters are allowed, the last of them not NUL"
                )
        return as_ids(list(self._known), "the user column")


class _Sums:
    """Growing arrays: count, moment, Gram, squared rewards, squared length of the longest action.

    Room for twice as many users is made when it runs out.
    """

    def __init__(self, dim: int) -> None:
        from coterie.statistics import _kernels

        self.dim = dim
        self._kernel = _kernels.accumulate_for(dim)
        self.arrays = self._empty(1 << 10)

    def add(self, rows: NDArray[np.int64], n_users: int, batch: Batch, pool: Executor, threads: int) -> None:
        if n_users > len(self.arrays[0]):
            self._grow(n_users)
        weight = _NO_WEIGHT if batch.weight is None else batch.weight
        given = (rows, batch.action, batch.reward, weight, *self.arrays)
        shards = [pool.submit(self._kernel, *given, shard, threads) for shard in range(threads)]
        for shard in shards:
            shard.result()

    def _empty(self, capacity: int) -> tuple[NDArray[np.float64], ...]:
        shapes = ((), (self.dim,), (packed_size(self.dim),), (), ())
        return tuple(np.zeros((capacity, *shape)) for shape in shapes)

    def _grow(self, n_users: int) -> None:
        larger = self._empty(max(n_users, 2 * len(self.arrays[0])))
        for old, new in zip(self.arrays, larger, strict=True):
            new[: len(old)] = old
        self.arrays = larger


def _mixed(user: object, kind: str, others: str) -> LogError:
    return LogError(
        f"user {user!r} is {kind} where the users before are {others}; cast the column, or pass text_ids=True"
    )


def _oddest(ids: Any) -> str:
    """A text id that is not written as integers are, if there is one."""
    names: list[str] = ids.drop_null().to_pylist()
    return next((name for name in names if not name.isdigit() or name != str(int(name))), names[0])


def _table_for(batch: Batch) -> _Table:
    return _IntegerTable(batch.user.dtype) if isinstance(batch.user, np.ndarray) else _TextTable()


def _finished(sums: _Sums, table: _Table, logs: Logs, dropped: Mapping[str, int]) -> UserStatistics:
    """Statistics with the users in ascending order."""
    ids = table.ids()
    columns = [array[: len(ids)] for array in sums.arrays]
    order = np.argsort(ids)
    if not np.array_equal(order, np.arange(len(ids))):
        ids, columns = ids[order], [array[order] for array in columns]
    count, moment, gram, square, longest = columns
    return UserStatistics(
        index=UserIndex(ids),
        count=count,
        moment=moment,
        packed_gram=gram,
        reward_square=square,
        longest=np.sqrt(longest),
        features=logs.features,
        intercept=logs.intercept,
        dropped=dict(dropped),
    )


def _tell_dropped(dropped: Mapping[str, int]) -> None:
    if dropped:
        kinds = "; ".join(f"{n} with {kind}" for kind, n in dropped.items())
        warn(f"{sum(dropped.values())} rows were left out: {kinds}")
