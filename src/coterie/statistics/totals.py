"""The sums while they grow: arrays with a row per user, and batches added to them by several threads.

Takes: batches, with the row of each user.
Gives: count, moment, packed Gram, squared rewards and squared length of the longest action per user.
Paper: the sums in the equation for M_u and b_u.
Next: `sums`, which names the rows.

Rows are sorted by user and the users shared out among the threads. Where there are many users, batches are
collected until a user has a few rows, so that her sums, which are then far from the processor, are fetched
once for all of them. A user's rows are added in the order of the log, one after the other, whatever the
batches and the threads: the sums do not depend on these to the last bit.
"""

from concurrent.futures import Executor, Future
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from coterie.logs import Batch
from coterie.packed import FloatArray, packed_size

_NO_WEIGHT = np.empty(0)
_ROWS_PER_USER = 4  # that are collected, memory permitting
_COLLECTED = 1 << 24  # numbers (128 MiB) collected, twice: one part is added, one collected
_GROWTH = 1.25

Given = tuple[NDArray[np.int64], FloatArray, FloatArray, FloatArray]


class Totals:
    """Growing sums; `add` may return before the rows are added, `finish` waits for all."""

    def __init__(self, dim: int, pool: Executor, threads: int) -> None:
        from coterie.statistics import _kernels

        self._kernels = _kernels
        self._kernel = _kernels.accumulate_for(dim)
        self._pool, self._threads = pool, threads
        shapes = ((), (dim,), (packed_size(dim),), (), ())
        self._arrays = tuple(np.zeros((64, *shape)) for shape in shapes)
        self._running: list[Future[None]] = []
        self._rows_at_most = max(1, _COLLECTED // (dim + 3))
        self._rooms: list[Given] = []
        self._collected = 0
        self._n_users = 0

    def add(self, row: NDArray[np.int64], n_users: int, batch: Batch) -> None:
        """Add a batch whose rows belong to these users, of whom there are `n_users` by now."""
        self._n_users = n_users
        given = (row, batch.action, batch.reward, _NO_WEIGHT if batch.weight is None else batch.weight)
        enough = min(_ROWS_PER_USER * n_users, self._rows_at_most)
        if not self._collected and len(row) >= enough:
            self._start(given)
            return
        if self._collected + len(row) > self._rows_at_most:
            self._flush()
        self._collect(given)
        if self._collected >= enough:
            self._flush()

    def finish(self, order: NDArray[np.int64]) -> tuple[FloatArray, ...]:
        """The arrays, rows in this order, which takes no second copy of the large one."""
        self._flush()
        self._settle()
        self._rooms = []
        for array in self._arrays:
            array.resize((len(order), *array.shape[1:]), refcheck=False)
        if not np.array_equal(order, np.arange(len(order))):
            parts = [part for array in self._arrays for part in self._columns(array)]
            list(self._pool.map(lambda part: self._kernels.permute(order, part), parts))
        return self._arrays

    def _columns(self, array: FloatArray) -> list[FloatArray]:
        """Views of some columns each, so that threads can share one array."""
        flat = array.reshape(len(array), -1)
        return [part for part in np.array_split(flat, self._threads, axis=1) if part.shape[1]]

    def _collect(self, given: Given) -> None:
        if not self._rooms:
            self._rooms = [self._room(given), self._room(given)]
        n = len(given[0])
        if n > len(self._rooms[0][0]):  # a batch too large to be collected with others
            self._start(given)
            return
        for room, values in zip(self._rooms[0], given, strict=True):
            if len(values):
                room[self._collected : self._collected + n] = values
        self._collected += n

    def _room(self, given: Given) -> Given:
        """Empty arrays like the given ones, of the largest length; memory is taken as they are filled."""
        n = self._rows_at_most
        row, action, reward, weight = given
        return (
            np.empty(n, row.dtype),
            np.empty((n, action.shape[1])),
            np.empty(n, reward.dtype),
            np.empty(n) if len(weight) else _NO_WEIGHT,
        )

    def _flush(self) -> None:
        """Begin to add what was collected, and collect elsewhere."""
        if self._collected:
            row, action, reward, weight = self._rooms[0]
            n = self._collected
            self._start((row[:n], action[:n], reward[:n], weight[:n]))
            self._rooms.reverse()
            self._collected = 0

    def _start(self, given: Given) -> None:
        """Begin to add rows, once those before are."""
        row, action, reward, weight = given
        order = in_user_order(row)
        self._settle()
        if self._n_users > len(self._arrays[0]):
            self._grow()
        ready = (row, np.ascontiguousarray(action), np.ascontiguousarray(reward), weight)
        self._running = [
            self._pool.submit(self._kernel, order[part], *ready, *self._arrays)
            for part in shards(row[order], self._threads)
        ]

    def _settle(self) -> None:
        for running in self._running:
            running.result()
        self._running = []

    def _grow(self) -> None:
        """Room for the users, by moving pages rather than by a second copy where the system can."""
        n = max(self._n_users, int(_GROWTH * len(self._arrays[0])))
        for array in self._arrays:
            array.resize((n, *array.shape[1:]), refcheck=False)


def in_user_order(row: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions sorted by row, equal ones in their own order.

    >>> in_user_order(np.array([5, 0, 5, 0])).tolist()
    [1, 3, 0, 2]
    """
    bits = np.int64(len(row)).item().bit_length()
    keys = (row << bits) | np.arange(len(row))  # one sort of integers, several times faster than a stable one
    keys.sort()
    return np.asarray(keys & ((1 << bits) - 1))


def shards(ascending: NDArray[np.int64], n: int) -> list[slice]:
    """At most `n` slices of ascending rows, about equal, none of which ends inside a run of equal ones.

    >>> [(part.start, part.stop) for part in shards(np.array([0, 0, 0, 1, 2, 3]), 2)]
    [(0, 3), (3, 6)]
    """
    if not len(ascending):
        return []
    middle = ascending[[len(ascending) * at // n for at in range(1, n)]]
    cuts = sorted({0, *np.searchsorted(ascending, middle).tolist(), len(ascending)})
    return [slice(low, high) for low, high in pairwise(cuts)]
