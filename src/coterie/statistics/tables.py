"""Which row of the sums a user has: a table of ids that grows, in order of first appearance.

Takes: the ids of one batch after the other, integers or text.
Gives: the row of each; in the end all ids. About 20 bytes an integer, 30 and its own a text.
Next: `sums`.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.errors import LogError
from coterie.logs import Batch
from coterie.user_ids import LONGEST_ID, Ids

_FULL = 2 / 3  # of the slots, at most


class Table(Protocol):
    """Ids seen so far, each with a row in order of first appearance."""

    def __len__(self) -> int:
        """Count the ids."""

    def rows(self, ids: Any) -> NDArray[np.int64]:
        """Row of each id, new ones added."""

    def ids(self) -> Ids:
        """Ids in the order of their rows."""


def table_for(batch: Batch) -> Table:
    """Empty table of the kind of ids that a batch has."""
    return IntegerTable(batch.user.dtype) if isinstance(batch.user, np.ndarray) else TextTable()


class IntegerTable:
    """Ids of integer type in an open hash table."""

    def __init__(self, dtype: Any) -> None:
        from coterie.statistics import _kernels

        self._kernels = _kernels
        self._n = 0
        self._keys, self._rows = _kernels.empty_table(1 << 12, dtype)

    def __len__(self) -> int:
        return self._n

    def rows(self, ids: Any) -> NDArray[np.int64]:
        """Row of each id, new ones added."""
        if not isinstance(ids, np.ndarray):
            raise _mixed(_oddest(ids), "text", "integers")
        ids = self._alike(ids)
        out = np.empty(len(ids), dtype=np.int64)
        for part in _parts(len(ids)):  # so that the table grows by what is new, not by what might be
            while self._n + len(ids[part]) > _FULL * len(self._keys):
                self._grow()
            self._n = self._kernels.look_up_or_add(ids[part], self._keys, self._rows, self._n, out[part])
        return out

    def ids(self) -> Ids:
        """Ids in the order of their rows."""
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
        old, slots = self.ids(), 2 * len(self._keys)
        del self._keys, self._rows
        self._keys, self._rows = self._kernels.empty_table(slots, old.dtype)
        self._kernels.look_up_or_add(old, self._keys, self._rows, 0, np.empty(len(old), dtype=np.int64))


class TextTable:
    """Ids of text type in an open hash table; their bytes are kept end to end."""

    def __init__(self) -> None:
        from coterie.statistics import _kernels

        self._kernels = _kernels
        self._n = 0
        self._tags, self._rows = _kernels.empty_table(1 << 12, np.uint32)
        self._starts, self._kept = np.zeros(1 << 12, dtype=np.int64), np.zeros(1 << 16, dtype=np.uint8)

    def __len__(self) -> int:
        return self._n

    def rows(self, ids: Any) -> NDArray[np.int64]:
        """Row of each id, new ones added."""
        if isinstance(ids, np.ndarray):
            raise _mixed(ids[0].item(), "an integer", "text")
        begin, data = _bytes_of(ids)
        out = np.empty(len(ids), dtype=np.int64)
        for part in _parts(len(ids)):
            self._make_room(part.stop - part.start, int(begin[part.stop] - begin[part.start]))
            self._n = self._kernels.look_up_or_add_text(
                begin[part.start : part.stop + 1], data, self._tags, self._rows, self._starts, self._kept,
                self._n, out[part],
            )  # fmt: skip
        return out

    def ids(self) -> Ids:
        """Ids in the order of their rows, at the width of the longest."""
        starts = self._starts[: self._n + 1]
        self._require_short(starts)
        longest = self._kernels.code_points(starts, self._kept, np.empty((self._n, 0), dtype=np.uint32))
        points = np.zeros((self._n, max(longest, 1)), dtype=np.uint32)
        self._kernels.code_points(starts, self._kept, points)
        return points.view(f"<U{points.shape[1]}").reshape(self._n)

    def _make_room(self, texts: int, size: int) -> None:
        """Room for so many new texts of so many bytes in all."""
        if (needed := self._n + texts + 1) > len(self._starts):
            self._starts = _longer(self._starts, needed)
        if (needed := int(self._starts[self._n]) + size) > len(self._kept):
            self._kept = _longer(self._kept, needed)
        slots = len(self._tags)
        while self._n + texts > _FULL * slots:
            slots *= 2
        if slots > len(self._tags):
            del self._tags, self._rows
            self._tags, self._rows = self._kernels.empty_table(slots, np.uint32)
            self._kernels.rehash_text(self._starts, self._kept, self._n, self._tags, self._rows)

    def _require_short(self, starts: NDArray[np.int64]) -> None:
        """Refuse an id that is kept at no fixed width: too long, or ending in NUL."""
        length = np.diff(starts)
        last = self._kept[np.maximum(starts[1:] - 1, 0)]
        for row in np.flatnonzero((length > LONGEST_ID) | ((last == 0) & (length > 0))).tolist():
            name = self._kept[starts[row] : starts[row + 1]].tobytes().decode()
            if len(name) > LONGEST_ID or name.endswith("\0"):
                raise LogError(
                    f"user id {name[:40]!r}, of {len(name)} characters, cannot be kept; "
                    f"at most {LONGEST_ID} characters are allowed, the last of them not NUL"
                )


def _parts(n: int, step: int = 1 << 14) -> list[slice]:
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def _bytes_of(texts: Any) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Where each text of an Arrow array begins (and the last one ends), and the bytes of all."""
    import pyarrow as pa

    if not pa.types.is_large_string(texts.type):
        texts = texts.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    begin = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return begin, np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, np.uint8)


def _longer(array: NDArray[Any], needed: int) -> NDArray[Any]:
    longer = np.zeros(max(needed, len(array) * 3 // 2), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


def _mixed(user: object, kind: str, others: str) -> LogError:
    return LogError(
        f"user {user!r} is {kind} where the users before are {others}; cast the column, or pass text_ids=True"
    )


def _oddest(ids: Any) -> str:
    """A text id that is not written as integers are, if there is one."""
    names: list[str] = ids.drop_null().to_pylist()
    return next((name for name in names if not name.isdigit() or name != str(int(name))), names[0])
