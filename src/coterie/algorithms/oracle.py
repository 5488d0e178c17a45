"""Oracle: the clusters are told, as nobody can in practice; what borrowing could at best reach."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from coterie.algorithms.compose import Slots, fit, statistics_of
from coterie.confidence import Confidence
from coterie.decision import Bonus
from coterie.errors import ParameterError
from coterie.logs import Logs
from coterie.model import Model
from coterie.model.settings import settings_of
from coterie.neighbourhood import JoinLabelled
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.pooling import PriorOnce
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics


@dataclass(frozen=True)
class Oracle:
    """Pool the users with one label; a user never seen has none and borrows nothing.

    Parameters
    ----------
    labels : sequence or mapping
        A label per user, aligned with `stats.users`, or a mapping from user to label.

    Examples
    --------
    >>> import coterie as ct
    >>> logs = ct.Logs.from_arrays(["a", "b", "c"], [[1.0], [1.0], [1.0]], [3.0, 5.0, 9.0])
    >>> model = Oracle({"a": 0, "b": 0, "c": 1}, confidence=Confidence(ridge=2.0)).fit(logs)
    >>> model.theta.round(9).tolist()
    [[2.0], [2.0], [3.0]]
    """

    labels: object
    confidence: Confidence = field(default_factory=Confidence, kw_only=True)
    bonus: Bonus = field(default_factory=Bonus, kw_only=True)
    rescale: bool = field(default=True, kw_only=True)

    def fit(self, data: UserStatistics | Logs, *, progress: Progress = silent) -> Model:
        """Fitted model of statistics or logs."""
        stats = statistics_of(data, progress)
        edges = JoinLabelled(self._aligned(stats))
        slots = Slots("Oracle", self.confidence, edges, PriorOnce(), self.bonus, self.rescale)
        parameters = settings_of(self)
        del parameters["labels"]  # kept as an array, in the neighbourhood
        return fit(stats, slots, parameters, progress)

    def _aligned(self, stats: UserStatistics) -> IntArray:
        """Labels as numbers, one per user of the statistics."""
        labels = self.labels
        if isinstance(labels, Mapping):
            missing = [user for user in stats.users.tolist() if user not in labels]
            if missing:
                raise ParameterError(
                    f"labels has no label for {len(missing)} users, {missing[0]!r} among them"
                )
            labels = [labels[user] for user in stats.users.tolist()]
        if isinstance(labels, str) or not isinstance(labels, Sequence | np.ndarray):
            raise ParameterError(
                f"labels is {labels!r}; give a label per user, or a mapping from user to label"
            )
        if len(labels) != stats.n_users:
            raise ParameterError(
                f"labels has {len(labels)} entries; one label per user is required, {stats.n_users} in all"
            )
        codes: dict[object, int] = {}
        plain = labels.tolist() if isinstance(labels, np.ndarray) else labels
        if any(isinstance(label, float) and math.isnan(label) for label in plain):
            raise ParameterError("labels holds NaN; give every user a label, of her own where she has none")
        try:
            return np.array([codes.setdefault(label, len(codes)) for label in plain], dtype=np.int64)
        except TypeError as failure:
            raise ParameterError("labels holds what cannot be compared; give numbers or text") from failure
