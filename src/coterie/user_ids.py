"""User ids: integers or text, brought to one form, and found again by binary search.

Takes: ids as lists, NumPy or Arrow arrays.
Gives: arrays of int64, uint64 or fixed-width text, and a `UserIndex` from id to row.
Next: `coterie.logs`, which reads ids, and `coterie.statistics`, which counts by them.
"""

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.errors import LogError, UnknownUserError

LONGEST_ID = 512  # characters; ids are kept at a fixed width, so one endless id would widen them all
_ASK_KNOWN = "; name one of `users`"

Ids = NDArray[Any]


def as_ids(values: object, where: str = "users") -> Ids:
    """Ids as an array of int64, of uint64 (only where a value needs it) or of text.

    >>> as_ids([3, 1]).dtype.name, as_ids(["b", "a"]).dtype.kind
    ('int64', 'U')
    """
    array = np.asarray(values)
    if array.ndim == 0:
        raise LogError(f"{where} is {repr(values)[:40]}; a list or an array of ids is required")
    if array.ndim != 1:
        raise LogError(f"{where} has shape {array.shape}; one id per row is required, shape (n,)")
    if isinstance(values, list | tuple) and (array.dtype.kind == "f" or len(set(map(type, values))) > 1):
        array = np.array(
            values, dtype=object
        )  # NumPy would make text of 1 in [1, "a"], decimals of [1, 2**63]
    if array.dtype.kind == "O":
        array = _from_objects(array, where)
    if array.dtype.kind in "iu":
        return _integers(array)
    if array.dtype.kind == "T":
        array = np.array(array.tolist(), dtype=str)
    if array.dtype.kind == "U":
        if array.dtype.itemsize // 4 > LONGEST_ID:
            raise LogError(f"{where} has an id longer than {LONGEST_ID} characters; use shorter ids")
        return array
    if len(array) == 0:
        return array.astype(np.int64)
    raise LogError(
        f"{where} holds {array.dtype} values; user ids must be integers or text. "
        "Whole numbers stored as floats usually had missing values: drop those rows and cast to integers"
    )


def _from_objects(array: NDArray[Any], where: str) -> Ids:
    for row, value in enumerate(array.tolist()):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            raise LogError(f"{where} has no value in row {row}; every row needs a user")
    kinds = {type(value) for value in array.tolist()}
    if kinds and kinds <= {str, np.str_}:
        return np.array(array.tolist(), dtype=str)
    if not kinds or all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        low, high = min(array, default=0), max(array, default=0)
        if (low < 0 and high >= 2**63) or low < -(2**63) or high >= 2**64:
            raise LogError(f"{where} holds {low} and {high}, which no integer type holds; renumber the users")
        return np.array(array.tolist(), dtype=np.int64 if high < 2**63 else np.uint64)
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise LogError(f"{where} mixes or holds {names}; user ids must be all integers or all text")


def _integers(array: NDArray[Any]) -> Ids:
    if array.dtype == np.uint64 and len(array) and array.max() > np.uint64(2**63 - 1):
        return array
    return array.astype(np.int64, copy=False)


@dataclass(frozen=True, eq=False)
class UserIndex:
    """Rows of distinct ids, found by binary search, so that it works on a memory-mapped array.

    `ascending` says that the ids are known to be in ascending order, as those of a saved file are, so that
    opening one takes no look at them; otherwise that is found out.

    >>> index = UserIndex(as_ids(["bob", "alice"]))
    >>> index.row("alice"), index.row("carol")
    (1, -1)
    """

    ids: Ids
    ascending: bool = False
    _order: NDArray[np.int64] | None = field(init=False, repr=False)
    _sorted: Ids = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ids = self.ids.view()
        ids.flags.writeable = False
        object.__setattr__(self, "ids", ids)
        ascending = self.ascending or not len(self.ids) or bool(np.all(self.ids[:-1] < self.ids[1:]))
        object.__setattr__(self, "ascending", ascending)
        order = None if ascending else np.argsort(self.ids, kind="stable")
        object.__setattr__(self, "_order", order)
        object.__setattr__(self, "_sorted", self.ids if order is None else self.ids[order])

    def __len__(self) -> int:
        """Count the ids."""
        return len(self.ids)

    def first_duplicate(self) -> object | None:
        """An id that occurs twice, or None."""
        twice = np.flatnonzero(self._sorted[:-1] == self._sorted[1:]) if len(self.ids) else np.array([])
        return self._sorted[int(twice[0])].item() if len(twice) else None

    def row(self, user: object) -> int:
        """Row of one user, or -1."""
        return int(self.rows([user])[0])

    def rows(self, users: object) -> NDArray[np.int64]:
        """Row of each user, -1 where a user is not known; the kind (integer or text) must be the same."""
        wanted = as_ids(users)
        if not len(self.ids) or not len(wanted):
            return np.full(len(wanted), -1, dtype=np.int64)
        self._require_same_kind(wanted)
        at = np.searchsorted(self._sorted, self._comparable(wanted))
        at = np.minimum(at, len(self.ids) - 1)
        found = np.where(self._sorted[at] == wanted, at, -1)
        return found if self._order is None else np.where(found >= 0, self._order[found], -1)

    def rows_of_known(self, users: Sequence[object] | Ids) -> NDArray[np.int64]:
        """Row of each user; a user that is not known is an error that names the nearest ids."""
        rows = self.rows(users)
        if len(rows) and rows.min() < 0:
            missing = as_ids(users)[rows < 0][0].item()
            raise UnknownUserError(f"user {missing!r} is not known{self._nearest(missing)}")
        return rows

    def _comparable(self, wanted: Ids) -> Ids:
        """Cast the needle, never the haystack: NumPy would copy all ids to the wider type."""
        if wanted.dtype == self._sorted.dtype:
            return wanted
        if wanted.dtype.kind == "U":
            return wanted.astype(self._sorted.dtype)  # cut to width; equality is tested on the uncut id
        if wanted.dtype == np.uint64:
            return np.minimum(wanted, np.uint64(2**63 - 1)).astype(np.int64)
        return np.maximum(wanted, 0).astype(np.uint64)

    def _require_same_kind(self, wanted: Ids) -> None:
        mine, given = ("text" if ids.dtype.kind == "U" else "integers" for ids in (self.ids, wanted))
        if mine != given:
            raise UnknownUserError(
                f"user ids here are {mine}, but {wanted[0].item()!r} was asked for; give ids of the same kind"
            )

    def _nearest(self, missing: object) -> str:
        if self.ids.dtype.kind != "U" or len(self.ids) > 100_000:  # noqa: PLR2004
            return _ASK_KNOWN
        names = difflib.get_close_matches(str(missing), self.ids.tolist(), n=3)
        return f"; the nearest ids are {', '.join(map(repr, names))}" if names else _ASK_KNOWN


def union(left: Ids, right: Ids) -> Ids:
    """Ascending ids of both; integers and text cannot be mixed."""
    if len(left) and len(right) and (left.dtype.kind == "U") != (right.dtype.kind == "U"):
        raise LogError("one of the two has integer user ids and the other has text; cast one of them")
    if {left.dtype, right.dtype} == {np.dtype(np.int64), np.dtype(np.uint64)}:
        return _mixed_union(left, right)
    return np.union1d(left, right) if len(left) and len(right) else np.unique(left if len(left) else right)


def _mixed_union(left: Ids, right: Ids) -> Ids:
    signed = left if left.dtype == np.int64 else right
    if len(signed) and signed.min() < 0:
        raise LogError("user ids below 0 and above 2**63 - 1 cannot be held together; renumber the users")
    return np.union1d(left.astype(np.uint64), right.astype(np.uint64))


def joined(names: Iterable[object], limit: int = 5) -> str:
    """A few names for a message."""
    shown = [repr(name) for _, name in zip(range(limit), names, strict=False)]
    return ", ".join(shown)
