"""Who lends to whom: what later stages ask of a neighbourhood, and the three that need no distances.

Takes: a rule's answer for every user.
Gives: sums over lenders, one per group of users that borrow from the same ones; lenders on request.
Paper: the graph G and the data set D-tilde_u of both algorithms.
Next: `coterie.pooling`.

Users are rows 0 to U - 1. Row U stands for a user never seen: a user with no data, who may borrow and
never lends, and who always has a group of her own, the last.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.packed import FloatArray
from coterie.progress import Progress, silent

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """Sums over lenders, once for all users that have the same ones.

    `group` (U + 1,) names each user's group; `sums` holds (G, ...) arrays; `n_pooled` (G,) counts the
    users pooled, the one being served included; `largest_distance` is that of any pair, NaN where it was
    not looked for; `search` says how pairs were compared: "no", "dense" or "tree".
    """

    group: IntArray
    sums: tuple[FloatArray, ...]
    n_pooled: FloatArray
    largest_distance: float = np.nan
    search: str = "no"


@dataclass(frozen=True, eq=False)
class Edges:
    """Lenders of some users as compressed rows: those of `rows[k]` are `lenders[begin[k] : begin[k + 1]]`."""

    rows: IntArray
    begin: IntArray
    lenders: IntArray

    @staticmethod
    def of(rows: IntArray, borrower: IntArray, lender: IntArray) -> "Edges":
        """From pairs of a place in `rows` and a lender.

        >>> edges = Edges.of(np.array([7, 9]), np.array([1, 0, 1]), np.array([9, 7, 3]))
        >>> edges.begin.tolist(), edges.lenders.tolist()
        ([0, 1, 3], [7, 3, 9])
        """
        order = np.lexsort((lender, borrower))
        begin = np.searchsorted(borrower[order], np.arange(len(rows) + 1))
        return Edges(rows, begin, lender[order])


@dataclass(frozen=True, eq=False)
class Trace:
    """Why each user (U,) lends to one: the distance, the threshold that it is compared with, the answer."""

    distance: FloatArray
    threshold: FloatArray
    lends: NDArray[np.bool_]


class Neighbourhood(Protocol):
    """Who lends to whom."""

    @property
    def n_users(self) -> int:
        """Number of users U."""

    def groups(self, columns: tuple[FloatArray, ...], progress: Progress = silent) -> Groups:
        """Sums of per-user columns (U, ...) over the lenders of every user."""

    def trace(self, row: int) -> Trace:
        """Why each user lends to the one in this row, or does not."""

    def reason(self, row: int, other: int, trace: Trace) -> str:
        """One clause on why `other` does not lend to `row`."""


@dataclass(frozen=True)
class Everybody:
    """All users lend to everybody."""

    n_users: int

    def groups(self, columns: tuple[FloatArray, ...], progress: Progress = silent) -> Groups:
        """One sum, and the same again for a user never seen."""
        progress("pooling", 1, 1)
        sums = tuple(np.repeat(column.sum(axis=0, keepdims=True), 2, axis=0) for column in columns)
        group = np.zeros(self.n_users + 1, dtype=np.int64)
        group[-1] = 1
        return Groups(group, sums, np.array([self.n_users, self.n_users + 1.0]))

    def trace(self, row: int) -> Trace:  # noqa: ARG002
        """Everybody, whatever the distance."""
        return Trace(
            np.full(self.n_users, np.nan), np.full(self.n_users, np.inf), np.ones(self.n_users, bool)
        )

    def reason(self, row: int, other: int, trace: Trace) -> str:  # noqa: ARG002
        """Nobody is left out."""
        return "nobody is left out"


@dataclass(frozen=True)
class Alone:
    """Nobody lends to anybody else."""

    n_users: int

    def groups(self, columns: tuple[FloatArray, ...], progress: Progress = silent) -> Groups:
        """Each user's own data; none for a user never seen."""
        progress("pooling", 1, 1)
        sums = tuple(
            np.concatenate([column, np.zeros_like(column, shape=(1, *column.shape[1:]))])
            for column in columns
        )
        return Groups(np.arange(self.n_users + 1), sums, np.ones(self.n_users + 1))

    def trace(self, row: int) -> Trace:
        """Only the user in this row."""
        lends = np.arange(self.n_users) == row
        return Trace(np.full(self.n_users, np.nan), np.full(self.n_users, -np.inf), lends)

    def reason(self, row: int, other: int, trace: Trace) -> str:  # noqa: ARG002
        """Everybody else is left out."""
        return "every user is served from own data alone"


@dataclass(frozen=True, eq=False)
class SameLabel:
    """Users with the same label lend to each other; a user never seen has no label and borrows nothing."""

    labels: IntArray

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.labels)

    def groups(self, columns: tuple[FloatArray, ...], progress: Progress = silent) -> Groups:
        """One sum per label, and an empty one."""
        progress("pooling", 1, 1)
        distinct, group, size = np.unique(self.labels, return_inverse=True, return_counts=True)
        sums = []
        for column in columns:
            total = np.zeros((len(distinct) + 1, *column.shape[1:]))
            np.add.at(total, group, column)
            sums.append(total)
        return Groups(np.append(group, len(distinct)), tuple(sums), np.append(size, 1).astype(np.float64))

    def trace(self, row: int) -> Trace:
        """The users with this row's label."""
        lends = self.labels == self.labels[row] if row < self.n_users else np.zeros(self.n_users, dtype=bool)
        return Trace(np.full(self.n_users, np.nan), np.where(lends, np.inf, -np.inf), lends)

    def reason(self, row: int, other: int, trace: Trace) -> str:  # noqa: ARG002
        """Another label."""
        return "has another label"
