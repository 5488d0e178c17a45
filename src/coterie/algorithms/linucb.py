r"""LinUCB: every user is served from her own data alone, optimistically (the paper's row LinUCB_IND)."""

from dataclasses import dataclass, field

from coterie.algorithms.compose import Slots, fit, statistics_of
from coterie.confidence import Confidence
from coterie.decision import Bonus, OnlineBeta
from coterie.logs import Logs
from coterie.model import Model
from coterie.model.settings import settings_of
from coterie.neighbourhood import JoinNobody
from coterie.pooling import PriorOnce
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics


def online_bonus() -> Bonus:
    """Bonus of the online baselines: added, and the norm squared, as their released code has it."""
    return Bonus(sign=1, form="squared")


@dataclass(frozen=True, kw_only=True)
class LinUCB:
    r"""Ridge regression per user and an upper confidence bound after t logged rows.

    .. math:: \max_a \hat\theta_u' a + \beta_u \, a' M_u^{-1} a, \quad
        \beta_u = \sqrt{d \ln(1 + N_u / d) + 4 \ln t + \ln 2} + 1

    It explores in a test that nothing follows: most of its distance from the paper's algorithms is the
    sign of this bonus. Law not obeyed: one user alone is served as by every algorithm (beta differs).

    Parameters
    ----------
    confidence : Confidence
        Only `ridge` counts; beta has noise scale and bound 1 built in.
    bonus, rescale
        See `Bonus`; `rescale` divides actions by the longest one if that exceeds 1.

    Examples
    --------
    >>> import coterie as ct
    >>> logs = ct.Logs.from_arrays(["a", "b"], [[1.0], [1.0]], [3.0, 6.0])
    >>> model = LinUCB(confidence=Confidence(ridge=2.0)).fit(logs)
    >>> model.theta.round(9).tolist()  # beta = sqrt(ln(1 + 1) + 4 ln 2 + ln 2) + 1, M = 3
    [[1.0], [2.0]]
    >>> round(3 * model.decide("a", [[1.0]]).width, 4), round((6 * 0.693147) ** 0.5 + 1, 4)
    (3.0393, 3.0393)
    """

    confidence: Confidence = field(default_factory=Confidence)
    bonus: Bonus = field(default_factory=online_bonus)
    rescale: bool = True

    def fit(self, data: UserStatistics | Logs, *, progress: Progress = silent) -> Model:
        """Fitted model of statistics or logs."""
        stats = statistics_of(data, progress)
        slots = Slots(
            name="LinUCB",
            confidence=self.confidence,
            edges=JoinNobody(),
            prior=PriorOnce(),
            bonus=self.bonus,
            rescale=self.rescale,
            beta=OnlineBeta(stats.n_samples),
        )
        return fit(stats, slots, settings_of(self), progress)
