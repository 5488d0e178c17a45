"""What only the rows tell, and sums do not: kinds of rewards, times, constant features, candidate sets.

Takes: the batches that `summarize` reads, one after the other.
Gives: `Watched`, in bounded memory; a look that has been answered is not taken again.
Next: `facts`.
"""

from typing import Any

import numpy as np

from coterie.errors import LogError
from coterie.evaluation.rows import times
from coterie.logs import Batch, Logs
from coterie.packed import FloatArray

_MOST_KINDS = 20  # distinct rewards that are counted; more of them are a scale
_MOST_SETS = 1000  # candidate sets that are kept


class Watched:
    """What was seen so far; `look` is shown every batch."""

    def __init__(self, logs: Logs) -> None:
        self.logs = logs
        self.n_rows = 0
        self.low, self.high = np.inf, -np.inf
        self.total, self.square = 0.0, 0.0
        self.whole = True
        self.kinds: set[float] | None = set()
        self.first: FloatArray | None = None
        self.constant = np.zeros(0, dtype=bool)
        self.times = (np.inf, -np.inf)
        self.backward, self.no_time, self.last_time = 0, 0, -np.inf
        self.propensities = (np.inf, -np.inf)
        self.bad_propensities = 0
        self.time_kind: str | None = None
        self.candidates: list[Any] = []
        self._kept_sets = 0

    def look(self, batch: Batch) -> None:
        """Take note of a batch."""
        if not len(batch):
            return
        self.n_rows += len(batch)
        self._rewards(batch.reward)
        self._features(batch.action)
        if batch.time is not None:
            self._times(batch.time)
        if batch.propensity is not None:
            self._propensities(batch.propensity)
        if batch.candidates is not None and self._kept_sets < _MOST_SETS:
            some = batch.candidates.slice(0, _MOST_SETS - self._kept_sets)
            self.candidates.append(some)
            self._kept_sets += len(some)

    def _rewards(self, reward: FloatArray) -> None:
        self.low, self.high = min(self.low, float(reward.min())), max(self.high, float(reward.max()))
        self.total += float(reward.sum())
        self.square += float(np.einsum("i,i->", reward, reward))
        self.whole = self.whole and bool((reward == np.floor(reward)).all())
        if self.kinds is not None:
            few = np.unique(reward[:: max(1, len(reward) // 2048)]) if len(self.kinds) else np.unique(reward)
            self.kinds.update(few.tolist())
            if len(self.kinds) > _MOST_KINDS:
                self.kinds = None

    def _features(self, action: FloatArray) -> None:
        """A feature is looked at until it first varies."""
        if self.first is None:
            self.first = action[0].copy()
            self.constant = np.ones(len(self.first), dtype=bool)
        for j in np.flatnonzero(self.constant):
            self.constant[j] = bool((action[:, j] == self.first[j]).all())

    def _times(self, given: Any) -> None:
        time = times(given, self.logs.columns.time or "time")
        self.time_kind = given.dtype.str if given.dtype.kind in "mM" else None
        known = time[np.isfinite(time)]
        self.no_time += len(time) - len(known)
        if not len(known):
            return
        self.backward += int(np.count_nonzero(np.diff(known) < 0)) + int(known[0] < self.last_time)
        self.last_time = float(known[-1])
        self.times = (min(self.times[0], float(known.min())), max(self.times[1], float(known.max())))

    def _propensities(self, p: FloatArray) -> None:
        good = (p > 0) & (p <= 1)
        self.bad_propensities += int(np.count_nonzero(~good))
        if good.any():
            low, high = self.propensities
            self.propensities = min(low, float(p[good].min())), max(high, float(p[good].max()))

    def span(self) -> tuple[str, str] | None:
        """First and last time, as text; None where no time was named."""
        if self.times[0] > self.times[1]:
            return None
        if self.time_kind is None:
            return f"{self.times[0]:g}", f"{self.times[1]:g}"
        first, last = (np.array(int(t)).astype(self.time_kind) for t in self.times)
        return str(first), str(last)

    def require_rewards(self) -> None:
        """Refuse a log in which every reward is the same."""
        if self.low == self.high:
            raise LogError(
                f"every reward is {self.low:g}, so there is nothing to tell good actions from bad; "
                "give a log with at least two different rewards"
            )
