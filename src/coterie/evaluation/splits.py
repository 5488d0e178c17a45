"""Splits of a log into rows to learn from and rows to be judged by.

Takes: `LoggedRows`, a way to split, how often.
Gives: `Split` objects: who is learned from, who is judged; thinned for learning curves.
Next: `tuning`, which splits the training part once more, and `held_out`.

- "time": the last part of the log, cut into as many blocks as there are splits; a block is judged by what
  was learned from all rows before it.
- "random": within each user, every row is judged once in `folds` splits.
- "users": users are dealt into folds; those who are judged have no row to learn from.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from coterie.errors import LogError, ParameterError
from coterie.evaluation.rows import LoggedRows
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray

Way = Literal["time", "random", "users"]


@dataclass(frozen=True, eq=False)
class Split:
    """One cut: `train` and `test` (n,) mark rows; rows in neither are not used.

    `key` (n,) in [0, 1) is the same for all splits: the rows whose key is below a fraction are the
    training part of that fraction, so that smaller parts lie inside larger ones.
    """

    number: int
    train: NDArray[np.bool_]
    test: NDArray[np.bool_]
    key: FloatArray

    def part(self, fraction: float) -> FloatArray:
        """Factor (n,) of each row's weight when a fraction of the training part is learned from."""
        return np.where(self.train & (self.key < fraction), 1.0, 0.0)

    def inner(self, fraction: float, rng: np.random.Generator) -> tuple[FloatArray, NDArray[np.bool_]]:
        """The same part cut again at random: three quarters to learn from, the rest to tune by."""
        part = self.part(fraction)
        aside = rng.random(len(part)) < 0.25  # noqa: PLR2004
        return np.where(aside, 0.0, part), aside & (part > 0)


def splits_of(
    rows: LoggedRows, way: Way, number: int, share: float, rng: np.random.Generator
) -> Iterator[Split]:
    """Stream of splits; `share` is the part of the log that is judged (by time: by all splits together).

    >>> from coterie.logs import Logs
    >>> from coterie.evaluation.rows import rows_of
    >>> rows = rows_of(Logs.from_arrays([0] * 4 + [1] * 4, np.ones((8, 1)), np.ones(8)))
    >>> cuts = list(splits_of(rows, "random", 2, 0.5, np.random.default_rng(0)))
    >>> [cut.test.reshape(2, 4).sum(axis=1).tolist() for cut in cuts]
    [[2, 2], [2, 2]]
    """
    key = rng.random(len(rows))
    if way == "time":
        yield from _by_time(rows, number, share, key)
        return
    folds = folds_of(share)
    for repeat in range(0, number, folds):
        fold = _dealt_users(rows, folds, rng) if way == "users" else _dealt_rows(rows, folds, rng)
        for k in range(min(folds, number - repeat)):
            test = fold == k
            yield _checked(Split(repeat + k, ~test, test, key), way)


def folds_of(share: float) -> int:
    """Folds of which each is about this share of the log.

    >>> folds_of(0.2), folds_of(0.9)
    (5, 2)
    """
    return max(2, round(1 / share))


def backward_steps(rows: LoggedRows) -> int:
    """Rows that are earlier than the row before them; 0 for a log in the order of time."""
    return 0 if rows.time is None else int(np.count_nonzero(np.diff(rows.time) < 0))


def _by_time(rows: LoggedRows, number: int, share: float, key: FloatArray) -> Iterator[Split]:
    """Blocks of about equal size; rows of the same time stay together."""
    if rows.time is None:
        raise ParameterError("split is 'time' and the log has no time column; name one by time=")
    ordered = np.sort(rows.time)
    if ordered[0] == ordered[-1]:
        raise LogError("all rows have the same time, so none lies before another; split at random instead")
    places = (1 - share + share * np.arange(number + 1) / number) * len(ordered)
    edges = [*ordered[np.minimum(places[:-1].astype(np.int64), len(ordered) - 1)], np.inf]
    for k in range(number):
        train = rows.time < edges[k]
        test = (rows.time >= edges[k]) & (rows.time < edges[k + 1])
        if test.any():
            yield _checked(Split(k, train, test, key), "time")


def _dealt_rows(rows: LoggedRows, folds: int, rng: np.random.Generator) -> IntArray:
    """Fold (n,) of each row: a user's rows are shuffled and dealt in turn, from a random fold on."""
    order = np.lexsort((rng.random(len(rows)), rows.user))
    count = np.bincount(rows.user, minlength=len(rows.users))
    first = np.cumsum(count) - count
    turn = np.arange(len(rows)) - np.repeat(first, count)
    start = rng.integers(0, folds, len(rows.users))
    fold = np.empty(len(rows), dtype=np.int64)
    fold[order] = (turn + np.repeat(start, count)) % folds
    return fold


def _dealt_users(rows: LoggedRows, folds: int, rng: np.random.Generator) -> IntArray:
    """Fold (n,) of each row, all rows of a user in one."""
    if len(rows.users) < folds:
        raise LogError(
            f"the log has {len(rows.users)} users and a split by users needs at least {folds}; "
            "split at random within users"
        )
    return np.asarray(rng.permutation(len(rows.users)) % folds)[rows.user]


def _checked(split: Split, way: Way) -> Split:
    if not split.train.any() or not split.test.any():
        empty = "learned from" if not split.train.any() else "judged by"
        raise LogError(
            f"split {split.number} ({way}) leaves no row to be {empty}; give fewer splits or another share"
        )
    return split
