r"""ARMUL: every user has a vector of her own, drawn to one centre as far as her data let it.

.. math:: \min_{\theta, g} \sum_j n_j \big[ MSE_j(\theta_j) + C \sqrt{d / n_j} \, \|\theta_j - g\| \big]

Duan and Wang, "Adaptive and robust multi-task learning" (Annals of Statistics, 2023), the "vanilla" variant.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from coterie import checks
from coterie.algorithms.compose import Slots, fit, scale_of, statistics_of
from coterie.algorithms.halves import Folds, folds_of, squared_error
from coterie.algorithms.robust_centre import Shrunk, descend, prepared, shrink
from coterie.confidence import Confidence
from coterie.decision import Bonus, OnlineBeta
from coterie.errors import ParameterError
from coterie.logs import Logs
from coterie.model import Model
from coterie.model.settings import settings_of
from coterie.neighbourhood import JoinNobody
from coterie.pooling import PriorOnce
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics

GRID = tuple(round(0.05 * i, 2) for i in range(1, 21))  # the grid of Duan and Wang's own program


@dataclass(frozen=True, kw_only=True)
class ARMUL:
    """Shrink every user's least squares to a shared centre; users without data get the centre.

    Parameters
    ----------
    penalty : float or "validate"
        C. "validate" takes the one of `grid` with the least squared error on rows held out: in two folds if
        fitted on logs (every user's odd and even rows), or on `validation=` where that is given. It is
        kept in `model.parameters["penalty_used"]`. The default is that of Duan and Wang's own program.
    grid : tuple of float
        Penalties to choose from: 0.05, 0.10, ..., 1 unless given, as in that program. It standardises
        actions and rewards; for low noise on unstandardised ones, smaller penalties are worth adding.
    steps, rate : int or None, float
        None solves the problem. A number makes so many proximal gradient steps of length `rate` from 0
        instead: `steps=10, rate=0.01` is the undertrained setting that the paper reports.
    confidence, bonus, rescale
        The width is that of the user's own precision, ridge included; the vectors have no ridge. The
        penalty is in the units in which actions have at most length 1. The multiplier is the online
        literature's, with as many rounds as there are logged rows.

    Notes
    -----
    Laws that it does not obey: one user alone (she gets her least squares, without a ridge); edges and
    gaps (`neighbours` names her alone, and her samples are counted alone, though all users move the
    centre); a pooled precision dominates (the width is her own). With penalty="validate" on logs, row order
    matters, since it says which rows are odd; and statistics alone are refused.

    Examples
    --------
    >>> import coterie as ct
    >>> logs = ct.Logs.from_arrays(["a", "b"], [[1.0], [1.0]], [0.0, 8.0])
    >>> ARMUL(penalty=2.0).fit(logs).theta.round(9).tolist()
    [[1.0], [7.0]]
    """

    penalty: Literal["validate"] | float = 0.1
    grid: tuple[float, ...] = GRID
    steps: int | None = None
    rate: float = 0.01
    confidence: Confidence = field(default_factory=Confidence)
    bonus: Bonus = field(default_factory=lambda: Bonus(sign=1, form="squared"))
    rescale: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.penalty, str):
            checks.number_or("penalty", self.penalty, ("validate",))
        else:
            checks.positive("penalty", self.penalty)
        if not self.grid:
            raise ParameterError("grid is empty; give at least one penalty to choose from")
        for one in self.grid:
            checks.positive("grid", one)
        if self.steps is not None:
            checks.at_least("steps", self.steps, 1)
        checks.positive("rate", self.rate)

    def fit(
        self,
        data: UserStatistics | Logs,
        *,
        validation: UserStatistics | None = None,
        progress: Progress = silent,
    ) -> Model:
        """Fitted model of statistics or logs; `validation`, statistics of other rows, chooses the penalty."""
        stats, folds = self._read(data, validation, progress)
        scale = scale_of(stats, rescale=self.rescale)
        penalty = self.choose(folds, scale, progress) if isinstance(self.penalty, str) else self.penalty
        shrunk = self._solved(stats, (float(penalty),), scale)[0]
        slots = Slots(
            name="ARMUL",
            confidence=self.confidence,
            edges=JoinNobody(),
            prior=PriorOnce(),
            bonus=self.bonus,
            rescale=self.rescale,
            beta=OnlineBeta(rounds=stats.n_samples),
            theta=np.vstack([shrunk.theta, shrunk.centre]),
        )
        return fit(stats, slots, {**self.settings(), "penalty_used": float(penalty)}, progress)

    def settings(self) -> dict[str, Any]:
        """Parameters as plain values, for a model file."""
        return {**settings_of(self), "grid": list(self.grid)}

    def _read(
        self, data: UserStatistics | Logs, validation: UserStatistics | None, progress: Progress
    ) -> tuple[UserStatistics, Folds]:
        """Statistics to fit on, and pairs to learn from and to be judged by."""
        if self.penalty != "validate":
            if validation is not None:
                raise ParameterError(
                    f'validation= was given and penalty is {self.penalty:g}; it is used by penalty="validate"'
                )
            return statistics_of(data, progress), ()
        return folds_of(data, validation, "penalty", progress)

    def choose(self, folds: Folds, scale: float = 1.0, progress: Progress = silent) -> float:
        """Penalty of the grid with the least squared error on the rows held out, the first if several.

        Each fold is a pair of statistics: to learn from, and to be judged by.
        """
        errors = np.zeros(len(self.grid))
        for done, (learned, held) in enumerate(folds):
            rows = learned.index.rows(held.users)
            for k, shrunk in enumerate(self._solved(learned, self.grid, scale)):
                errors[k] += squared_error(np.vstack([shrunk.theta, shrunk.centre])[rows], held, scale)
            progress("choosing the penalty", done + 1, len(folds))
        return self.grid[int(np.argmin(errors))]

    def _solved(self, stats: UserStatistics, penalties: tuple[float, ...], scale: float) -> list[Shrunk]:
        if self.steps is not None:
            return [descend(stats, scale, penalty, int(self.steps), self.rate) for penalty in penalties]
        problem, solved = prepared(stats, scale), dict[float, Shrunk]()
        centre = None
        for penalty in sorted(
            set(penalties), reverse=True
        ):  # each begins where the larger one before it ended
            solved[penalty] = shrink(problem, penalty, centre)
            centre = solved[penalty].centre
        return [solved[penalty] for penalty in penalties]
