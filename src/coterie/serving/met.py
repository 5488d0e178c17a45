"""Which request ids were met before: 8 bytes an id, so that a split request is noticed in any table.

Takes: the ids of one batch after the other.
Gives: the first id that was there before.
Next: `requests`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Met:
    """Ids met so far, as 64-bit keys in a few sorted arrays, the larger ones first."""

    def __init__(self) -> None:
        self._levels: list[NDArray[np.int64]] = []

    def first_again(self, ids: Any) -> int | None:
        """Position of an id (Arrow) that occurs twice or was met before; else None, and all are met.

        >>> import pyarrow as pa
        >>> met = Met()
        >>> met.first_again(pa.array([3, 1])), met.first_again(pa.array([2, 3]))
        (None, 1)
        """
        keys = _keys(ids)
        again = np.zeros(len(keys), dtype=bool)
        for level in self._levels:
            at = np.minimum(np.searchsorted(level, keys), len(level) - 1)
            again |= level[at] == keys
        _, first = np.unique(keys, return_index=True)
        again |= ~np.isin(np.arange(len(keys)), first)
        if again.any():
            return int(again.argmax())
        merged = np.sort(keys)
        while self._levels and len(self._levels[-1]) <= len(merged):
            merged = np.sort(np.concatenate([self._levels.pop(), merged]))
        self._levels.append(merged)
        return None


def _keys(ids: Any) -> NDArray[np.int64]:
    """Integers themselves; of anything else a 64-bit hash of its text, whose collisions are out of reach."""
    import pyarrow as pa

    if pa.types.is_integer(ids.type):
        return np.asarray(ids.to_numpy(zero_copy_only=False)).astype(np.int64)
    return np.array([hash(str(value)) for value in ids.to_pylist()], dtype=np.int64)
