"""A checked batch: consecutive rows of a log, all of them fit to be summed.

Takes: decoded columns, bad values marked by NaN or null.
Gives: a `Batch`, or the sentence that names the first bad row; with `drop`, a count per kind of fault.
Next: `coterie.statistics`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.errors import LogError
from coterie.packed import FloatArray
from coterie.user_ids import Ids, as_ids

NULL_USER = "no user"
_LARGEST = 1e100  # beyond it, squares and their weighted sums leave the range of a float64
Faults = dict[str, NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of a log: `user` (B,), `action` (B, d), `reward` (B,), and what else was named.

    `user` is an integer array or an Arrow text array; `users` gives either as NumPy ids. `weight`,
    `propensity`, `time` and `candidates` (an Arrow list per row) are None unless named. `dropped` counts
    the rows left out, per kind of fault.
    """

    user: Any
    action: FloatArray
    reward: FloatArray
    weight: FloatArray | None = None
    propensity: FloatArray | None = None
    time: NDArray[Any] | None = None
    candidates: Any = None
    dropped: Mapping[str, int] = field(default_factory=dict)

    @property
    def users(self) -> Ids:
        """User ids as a NumPy array."""
        return self.user if isinstance(self.user, np.ndarray) else as_ids(np.array(self.user.to_pylist()))

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.reward)


@dataclass(frozen=True)
class Names:
    """What the columns of a batch are called in messages."""

    action: tuple[str, ...]
    reward: str
    weight: str | None


def checked(batch: Batch, faults: Faults, names: Names, where: str, first_row: int, drop: bool) -> Batch:
    """The batch without bad rows; unless `drop`, the first bad row is an error."""
    if not faults and _all_good(batch):
        return batch
    faults = faults | _find_faults(batch, names)
    bad = np.logical_or.reduce(list(faults.values())) if faults else np.zeros(len(batch), dtype=bool)
    if not bad.any():
        return batch
    if not drop:
        row = int(np.flatnonzero(bad)[0])
        kind = next(kind for kind, rows in faults.items() if rows[row])
        raise LogError(
            f"row {first_row + row} of {where} (rows count from 0) has {kind}; "
            'mend the row, or pass on_bad="drop" to leave such rows out and count them'
        )
    return _without(batch, bad, faults)


def _all_good(batch: Batch) -> bool:
    """Whether nothing is NaN, infinite, too large or negative, told from a few sums."""
    with np.errstate(over="ignore"):
        # einsum and not dot: BLAS would wake threads that then stand in the way of the decoding ones
        total = float(np.einsum("i,i->", batch.reward, batch.reward)) + float(
            np.einsum("ij,ij->", batch.action, batch.action)
        )
    weight = batch.weight
    usable = weight is None or not len(weight) or bool(weight.min() >= 0 and weight.max() <= _LARGEST)
    return usable and total <= _LARGEST**2


def _find_faults(batch: Batch, names: Names) -> Faults:
    """Bad rows per kind of fault, in the order in which they are looked for."""
    faults = _not_usable(batch.reward, f"in the reward (column {names.reward!r})")
    within = np.abs(batch.action) <= _LARGEST
    for j in np.flatnonzero(~within.all(axis=0)):  # the intercept, which has no name, is 1
        faults |= _not_usable(batch.action[:, j], f"in feature {names.action[j]!r}")
    if batch.weight is not None:
        faults |= _not_usable(batch.weight, f"in the weight (column {names.weight!r})")
        faults[f"a negative weight (column {names.weight!r})"] = batch.weight < 0
    return {kind: rows for kind, rows in faults.items() if rows.any()}


def _not_usable(values: FloatArray, place: str) -> Faults:
    infinite = np.isinf(values)
    return {
        f"NaN or no number {place}": np.isnan(values),
        f"infinity {place}": infinite,
        f"a number beyond {_LARGEST:g} {place}": (np.abs(values) > _LARGEST) & ~infinite,
    }


def _without(batch: Batch, bad: NDArray[np.bool_], faults: Faults) -> Batch:
    """Keep the good rows and count every bad one once, under its first fault."""
    counted = np.zeros(len(batch), dtype=bool)
    dropped = {}
    for kind, rows in faults.items():
        dropped[kind] = int(np.count_nonzero(rows & ~counted))
        counted |= rows
    good = ~bad
    user = batch.user[good] if isinstance(batch.user, np.ndarray) else batch.user.filter(good)

    def kept(values: Any) -> Any:
        return None if values is None else values[good]

    return Batch(
        user=user,
        action=batch.action[good],
        reward=batch.reward[good],
        weight=kept(batch.weight),
        propensity=kept(batch.propensity),
        time=kept(batch.time),
        candidates=None if batch.candidates is None else batch.candidates.filter(good),
        dropped={kind: n for kind, n in dropped.items() if n},
    )
