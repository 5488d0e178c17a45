"""A log held in memory, row by row, so that it can be cut into parts to learn from and to be judged by.

Takes: `Logs`.
Gives: `LoggedRows`; from it the statistics of any part, without copying the actions.
Next: `splits`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.errors import LogError, warn
from coterie.evaluation.offers import Offers, offers_of_column, shared_offers
from coterie.logs import Batch, Logs
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray, packed_size
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics
from coterie.statistics.threads import add_rows
from coterie.user_ids import Ids, UserIndex, as_ids, union

BAD_PROPENSITY = "a propensity that is not above 0 and at most 1"
BAD_TIME = "no time, or none that can be ordered"


@dataclass(frozen=True, eq=False)
class LoggedRows:
    """Rows of a log: `user` (n,) counts into `users` (U,), `action` (n, d) has the intercept inside.

    `time` (n,) is a number that grows with time; `offers` are the candidate sets; `weight`, `propensity`,
    `time` and `offers` are None unless named.
    `dropped` counts the rows left out, per kind of fault, which is allowed if `lenient`.
    """

    users: Ids
    user: IntArray
    action: FloatArray
    reward: FloatArray
    weight: FloatArray | None = None
    propensity: FloatArray | None = None
    time: FloatArray | None = None
    offers: Offers | None = None
    features: tuple[str, ...] | None = None
    intercept: bool = False
    lenient: bool = False
    dropped: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.reward)

    @property
    def weights(self) -> FloatArray:
        """Weight (n,) of each row, 1 where none was named."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def offered(self) -> FloatArray:
        """Actions as a model is asked about them, without the intercept."""
        return self.action[:, :-1] if self.intercept else self.action

    def statistics(self, part: FloatArray) -> tuple[UserStatistics, IntArray]:
        """Statistics of a part, and the row (U,) of each user in them, -1 for users without a row.

        `part` (n,) is the factor of each row's weight, 0 for rows that are not in the part.

        >>> rows = rows_of(Logs.from_arrays(["b", "a", "b"], [[1.0]] * 3, [1.0, 2.0, 4.0]))
        >>> stats, at = rows.statistics(np.array([1.0, 0.0, 1.0]))
        >>> stats.users.tolist(), stats.moment.tolist(), at.tolist()
        (['b'], [[5.0]], [-1, 0])
        """
        dim = self.action.shape[1]
        shapes = ((), (dim,), (packed_size(dim),), (), ())
        sums = tuple(np.zeros((len(self.users), *shape)) for shape in shapes)
        add_rows(self.user, self.action, self.reward, self.weights * part, sums)
        present = np.flatnonzero(sums[0] > 0)
        count, moment, gram, square, longest = (column[present] for column in sums)
        stats = UserStatistics(
            index=UserIndex(self.users[present]),
            count=count,
            moment=moment,
            packed_gram=gram,
            reward_square=square,
            longest=np.sqrt(longest),
            features=self.features,
            intercept=self.intercept,
        )
        at = np.full(len(self.users), -1, dtype=np.int64)
        at[present] = np.arange(len(present))
        return stats, at


def rows_of(logs: Logs, progress: Progress = silent) -> LoggedRows:
    """All rows of a log, read once.

    A propensity outside (0, 1] or a time that cannot be ordered stops the reading by row, or, under
    `on_bad="drop"`, leaves the row out and counts it.
    """
    gathered = _Gathered(logs)
    for batch in logs.batches():
        gathered.add(batch)
        progress("reading rows", gathered.read, logs.n_rows())
    return gathered.rows()


class _Gathered:
    """Batches so far, users as codes into the ids of their batch."""

    def __init__(self, logs: Logs) -> None:
        self.logs, self.read = logs, 0
        self.dropped: dict[str, int] = {}
        self.ids: list[Ids] = []
        self.codes: list[IntArray] = []
        self.columns: dict[str, list[Any]] = {}
        self.candidates: list[Any] = []

    def add(self, batch: Batch) -> None:
        for kind, n in batch.dropped.items():
            self.dropped[kind] = self.dropped.get(kind, 0) + n
        first = self.read
        self.read += len(batch) + sum(batch.dropped.values())
        if not len(batch):
            return
        named = {
            "action": np.ascontiguousarray(batch.action),
            "reward": batch.reward,
            "weight": batch.weight,
            "propensity": batch.propensity,
            "time": None if batch.time is None else times(batch.time, self.logs.columns.time or "time"),
        }
        ids, code = _coded(batch)
        good = self._good(named, first)
        self.ids.append(ids)
        self.codes.append(code if good is None else code[good])
        if batch.candidates is not None:
            self.candidates.append(batch.candidates if good is None else batch.candidates.filter(good))
        for name, values in named.items():
            if values is not None:
                self.columns.setdefault(name, []).append(values if good is None else values[good])

    def _good(self, named: dict[str, Any], first: int) -> NDArray[np.bool_] | None:
        """Rows that can be used, None if all can."""
        faults = dict(_faults(named["propensity"], named["time"]))
        bad = np.logical_or.reduce(list(faults.values())) if faults else np.zeros(1, dtype=bool)
        if not bad.any():
            return None
        if self.logs.on_bad == "error":
            row = int(np.argmax(bad))
            kind = next(kind for kind, rows in faults.items() if rows[row])
            raise LogError(
                f"row {first + row} of {self.logs.source.name} (rows count from 0) has {kind}; mend the row, "
                'or pass on_bad="drop" to leave such rows out and count them'
            )
        counted = np.zeros(len(bad), dtype=bool)
        for kind, rows in faults.items():
            self.dropped[kind] = self.dropped.get(kind, 0) + int(np.count_nonzero(rows & ~counted))
            counted |= rows
        return ~bad

    def rows(self) -> LoggedRows:
        """Everything in one piece."""
        if not sum(map(len, self.codes)):
            lost = f" ({sum(self.dropped.values())} rows were dropped)" if self.dropped else ""
            raise LogError(f"{self.logs.source.name} has no usable rows{lost}; at least one is required")
        self.dropped = {kind: n for kind, n in self.dropped.items() if n}
        if self.dropped:
            kinds = "; ".join(f"{n} with {kind}" for kind, n in self.dropped.items())
            warn(f"{sum(self.dropped.values())} rows were left out: {kinds}")
        users = self.ids[0]
        for ids in self.ids[1:]:
            users = union(users, ids)
        index = UserIndex(users)
        user = np.concatenate([index.rows(ids)[code] for ids, code in zip(self.ids, self.codes, strict=True)])
        present = np.unique(user)
        joined = {name: np.concatenate(parts) for name, parts in self.columns.items()}
        column = offers_of_column(self.logs, self.candidates) if self.candidates else None
        return LoggedRows(
            offers=column or shared_offers(self.logs, len(user)),
            users=users[present],
            user=np.searchsorted(present, user),
            features=self.logs.features,
            intercept=self.logs.intercept,
            lenient=self.logs.on_bad == "drop",
            dropped=self.dropped,
            **joined,
        )


def times(values: NDArray[Any], name: str) -> FloatArray:
    """Times as numbers, NaN where there is none; text and other things are refused.

    >>> times(np.array(["2024-01-02", "NaT"], dtype="datetime64[D]"), "day").tolist()
    [19724.0, nan]
    """
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind in "mM":
        return np.where(np.isnat(values), np.nan, values.astype(np.int64).astype(np.float64))
    known = [value for value in values.tolist() if value is not None]
    if values.dtype.kind == "O" and known and all(hasattr(value, "isoformat") for value in known):
        stamps = np.array(values.tolist(), dtype="datetime64[us]")
        return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64).astype(np.float64))
    example = repr(known[0]) if known else "nothing"
    raise LogError(
        f"time column {name!r} holds {example}, which is not a time; give numbers, dates or time stamps"
    )


def _faults(propensity: FloatArray | None, time: FloatArray | None) -> Iterator[tuple[str, Any]]:
    if propensity is not None:
        yield BAD_PROPENSITY, ~((propensity > 0) & (propensity <= 1))
    if time is not None:
        yield BAD_TIME, ~np.isfinite(time)


def _coded(batch: Batch) -> tuple[Ids, IntArray]:
    """Ascending ids of a batch, and the position of each row's id among them."""
    if isinstance(batch.user, np.ndarray):
        ids, code = np.unique(batch.user, return_inverse=True)
        return ids, code.astype(np.int64)
    encoded = batch.user.dictionary_encode()
    names, place = np.unique(as_ids(encoded.dictionary.to_pylist()), return_inverse=True)
    return names, place[encoded.indices.to_numpy()].astype(np.int64)
