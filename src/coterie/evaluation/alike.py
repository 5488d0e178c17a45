"""How often two algorithms, fitted on everything, decide differently.

Takes: the models of the whole log; sets of actions drawn from the log.
Gives: `Alike`: by group of users and pair of algorithms, the share of sets that are decided differently.
Next: `compare`.

Rows held out cannot tell two algorithms that decide alike, and need not: whichever of them is used, the
users get the same.
"""

from dataclasses import dataclass, field

import numpy as np

from coterie.decision import ActionSets, choose
from coterie.evaluation.rows import LoggedRows
from coterie.logs.logs import default_threads
from coterie.model import Model
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray

SETS, SIZE = 10_000, 20
_FEWEST = 1000  # sets of a group below which nothing is said about it
_NUMBERS_AT_A_TIME = 1 << 21


@dataclass(frozen=True, eq=False)
class Sets:
    """A user (n,) and the log's rows (n, K) whose actions she is to choose among, all drawn at random."""

    user: IntArray
    row: IntArray
    action: FloatArray

    @classmethod
    def drawn(cls, rows: LoggedRows, rng: np.random.Generator, n: int = SETS) -> "Sets":
        """Sets of a log; every user has as many as any other, or one more."""
        user = rng.permutation(np.resize(rng.permutation(len(rows.users)), n))
        return cls(user, rng.integers(0, len(rows), (n, SIZE)), rows.action)

    def picked(self, model: Model, at: IntArray) -> IntArray:
        """Place (n,) of the model's choice in each set; `at` (n,) are rows of the model, -1: never seen."""
        asked = np.where(at >= 0, at, model.n_users)
        n, size = self.row.shape
        place = np.empty(n, dtype=np.int64)
        step = max(1, _NUMBERS_AT_A_TIME // (size * self.action.shape[1]))
        for start in range(0, n, step):
            part = self.row[start : start + step]
            vector = self.action[part.ravel()] / model.scale
            sets = ActionSets(vector, size * np.arange(len(part)), np.full(len(part), size))
            threads = default_threads()
            made = choose(model.policy, asked[start : start + step], sets, model.bonus, threads=threads)
            place[start : start + step] = made.index[:, 0]
        return place


@dataclass(eq=False)
class Alike:
    """Choices (n,) of each algorithm's model of the whole log."""

    sets: Sets
    place: dict[str, IntArray] = field(default_factory=dict)

    def add(self, name: str, model: Model, at: IntArray) -> None:
        """Add an algorithm's model; `at` (U,) is each user's row in it, -1 to ask as for one never seen."""
        self.place[name] = self.sets.picked(model, at[self.sets.user])

    def apart(self, a: str, b: str, users: IntArray) -> float | None:
        """Share of a group's sets that a and b decide differently; None where the group has too few sets."""
        in_group = np.isin(self.sets.user, users)
        if np.count_nonzero(in_group) < _FEWEST:
            return None
        return float(np.mean(self.place[a][in_group] != self.place[b][in_group]))
