"""The sums while they grow: arrays with a row per user, and batches added to them by several threads.

Takes: batches, with the row of each user.
Gives: count, moment, packed Gram, squared rewards and squared length of the longest action per user.
Paper: the sums in the equation for M_u and b_u.
Next: `sums`, which names the rows.

Rows are sorted by user and the users shared out among the threads. Where there are many users, batches are
held until a user has a few rows, so that her sums, which are then far from the processor, are fetched
once for all of them. A user's rows are added in the order of the log, one after the other, whatever the
batches and the threads: the sums do not depend on these to the last bit.
"""

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.logs import Batch
from coterie.packed import FloatArray, packed_size

_ROWS_PER_USER = 8  # that are held, memory permitting
_SPARE = 1.25  # users that the first room is for, to those seen; who does not come takes no memory
_HELD = 1 << 25  # numbers (256 MiB) held at most, but for the last batch

Code = tuple[int, int]


class Totals:
    """Growing sums; `add` may return before the rows are added, `finish` waits for all."""

    def __init__(self, dim: int, pool: Executor, threads: int) -> None:
        from coterie.statistics import _kernels

        self._kernels = _kernels
        self._kernel = _kernels.accumulate_for(dim)
        self._pool, self._threads = pool, threads
        self._shapes = ((), (dim,), (packed_size(dim),), (), ())
        self._arrays: tuple[FloatArray, ...] = ()
        self._running: list[Future[None]] = []
        self._rows_at_most = max(1, _HELD // (dim + 3))
        self._held: list[tuple[NDArray[Any], ...]] = []
        self._n_held = self._n_users = 0

    def add(self, row: NDArray[np.int64], n_users: int, batch: Batch) -> None:
        """Add a batch whose rows belong to these users, of whom there are `n_users` by now."""
        self._n_users = n_users
        weight = () if batch.weight is None else (batch.weight,)
        self._held.append((row, *map(np.ascontiguousarray, (batch.action, batch.reward, *weight))))
        self._n_held += len(row)
        if self._n_held >= min(_ROWS_PER_USER * n_users, self._rows_at_most):
            self._flush()

    def finish(self, order: NDArray[np.int64]) -> tuple[FloatArray, ...]:
        """The arrays, rows in this order, which takes no second copy of the large one."""
        self._flush()
        self._settle()
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

    def _flush(self) -> None:
        """Begin to add the rows held, once those before are."""
        held, self._held, self._n_held = self._held, [], 0
        if not held:
            return
        rows, action, reward, *weight = (list(arrays) for arrays in zip(*held, strict=True))
        keys, code = in_user_order(rows)
        self._settle()
        self._make_room()
        given = action, reward, *(weight or [[]])
        self._running = [
            self._pool.submit(self._kernel, keys[part], code, *given, *self._arrays)
            for part in shards(keys, self._threads, code)
        ]
        if len(rows) > 1:  # much memory, which is given back before more is taken
            self._settle()

    def _settle(self) -> None:
        for running in self._running:
            running.result()
        self._running = []

    def _make_room(self) -> None:
        """Room for the users; the system fills the first with zeros when it is used, by the thread that does.

        More is made by moving pages rather than by a second copy, where the system can.
        """
        if not self._arrays:
            n = int(_SPARE * self._n_users)
            self._arrays = tuple(np.zeros((n, *shape)) for shape in self._shapes)
        elif self._n_users > len(self._arrays[0]):
            for array in self._arrays:
                array.resize((self._n_users, *array.shape[1:]), refcheck=False)


def in_user_order(rows: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], Code]:
    """Keys of the rows of several parts, sorted by user, a user's in their own order, and their code.

    `rows` has the user of each row; see `_plain.accumulate` for what a key is.

    >>> keys, (shift, bits) = in_user_order([np.array([5, 0]), np.array([5])])
    >>> (keys >> shift).tolist(), (keys >> bits & 1).tolist(), (keys & 1).tolist()
    ([0, 5, 5], [0, 0, 1], [1, 0, 0])
    """
    bits = max(len(row) - 1 for row in rows).bit_length()
    shift = bits + (len(rows) - 1).bit_length()
    keys = np.concatenate(
        rows, dtype=np.int64
    )  # one sort of integers, several times faster than a stable one
    keys <<= shift
    start = 0
    for part, row in enumerate(rows):
        keys[start : start + len(row)] |= np.arange(len(row)) + (part << bits)
        start += len(row)
    keys.sort()
    return keys, (shift, bits)


def shards(keys: NDArray[np.int64], n: int, code: Code = (0, 0)) -> list[slice]:
    """At most `n` slices of sorted keys, about equal, none of which ends inside a run of one user's.

    >>> [(part.start, part.stop) for part in shards(np.array([0, 0, 0, 1, 2, 3]), 2)]
    [(0, 3), (3, 6)]
    """
    if not len(keys):
        return []
    first = keys[[len(keys) * at // n for at in range(1, n)]] >> code[0] << code[0]
    cuts = sorted({0, *np.searchsorted(keys, first).tolist(), len(keys)})
    return [slice(low, high) for low, high in pairwise(cuts)]
