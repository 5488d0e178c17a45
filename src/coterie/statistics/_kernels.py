"""Compiled sums over rows and the compiled table of integer ids; twins in `_plain.py`.

The dimension is a compile-time constant up to 32, which makes the inner loops three times faster; the
compiled code is cached on disk, one entry a dimension.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

_LARGEST_CONSTANT_DIM = 32

Accumulate = Callable[..., None]


def accumulate_for(dim: int) -> Accumulate:
    """Kernel that adds the rows of one shard of users; see `_plain.accumulate` for what it does."""
    return _compiled(dim if dim <= _LARGEST_CONSTANT_DIM else 0)


@cache
def _compiled(fixed: int) -> Accumulate:
    """Kernel for dimension `fixed`, or for any dimension if that is 0."""

    @nb.njit(nogil=True, cache=True, fastmath={"contract"})
    def accumulate(
        row: Any, action: Any, reward: Any, weight: Any, count: Any, moment: Any, gram: Any, square: Any,
        longest: Any, shard: int, n_shards: int,
    ) -> None:  # fmt: skip
        dim = fixed if fixed > 0 else moment.shape[1]
        a = np.empty(dim)
        for i in range(row.shape[0]):
            u = row[i]
            if (u >> 3) % n_shards != shard:  # eight neighbours share a cache line of `count`
                continue
            w = weight[i] if weight.shape[0] else 1.0
            if w == 0.0:
                continue
            norm = 0.0
            for j in range(dim):
                a[j] = action[i, j]
                norm += a[j] * a[j]
            longest[u] = max(longest[u], norm)
            r = reward[i]
            count[u] += w
            square[u] += w * r * r
            at = 0
            for j in range(dim):
                wa = w * a[j]
                moment[u, j] += wa * r
                for k in range(j + 1):
                    gram[u, at + k] += wa * a[k]
                at += j + 1

    compiled: Accumulate = accumulate
    return compiled


@nb.njit(nogil=True, cache=True)
def look_up_or_add(ids: Any, keys: Any, rows: Any, n_known: int, out: Any) -> int:
    """Number of ids known afterwards; `out` gets each id's row. See `_plain.look_up_or_add`.

    An open table with linear probing: `rows` is -1 where a slot is free, and `keys` has a power of two
    slots, of which at most half may be taken afterwards (the caller grows it beforehand).
    """
    mask = np.uint64(keys.shape[0] - 1)
    for i in range(ids.shape[0]):
        key = ids[i]
        mixed = np.uint64(key)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        slot = (mixed ^ (mixed >> np.uint64(31))) & mask
        while rows[slot] >= 0 and keys[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        if rows[slot] < 0:
            keys[slot] = key
            rows[slot] = n_known
            n_known += 1
        out[i] = rows[slot]
    return n_known


def empty_table(slots: int, dtype: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Free slots: keys and rows."""
    return np.zeros(slots, dtype=dtype), np.full(slots, -1, dtype=np.int64)
