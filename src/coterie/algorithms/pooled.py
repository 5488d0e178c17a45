"""Pooled: every user is served from everybody's data, the baseline that borrows all."""

from dataclasses import dataclass, field

from coterie.algorithms.compose import Slots, fit
from coterie.confidence import Confidence
from coterie.decision import Bonus
from coterie.logs import Logs
from coterie.model import Model
from coterie.model.settings import settings_of
from coterie.neighbourhood import JoinEverybody
from coterie.pooling import PriorOnce
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics


@dataclass(frozen=True, kw_only=True)
class Pooled:
    """One ridge regression for all users.

    Examples
    --------
    >>> import coterie as ct
    >>> logs = ct.Logs.from_arrays(["a", "b"], [[1.0], [1.0]], [3.0, 5.0])
    >>> Pooled(confidence=Confidence(ridge=2.0)).fit(logs).theta.round(9).tolist()
    [[2.0], [2.0]]
    """

    confidence: Confidence = field(default_factory=Confidence)
    bonus: Bonus = field(default_factory=Bonus)
    rescale: bool = True

    def fit(self, data: UserStatistics | Logs, *, progress: Progress = silent) -> Model:
        """Fitted model of statistics or logs."""
        slots = Slots("Pooled", self.confidence, JoinEverybody(), PriorOnce(), self.bonus, self.rescale)
        return fit(data, slots, settings_of(self), progress)
