r"""Off-C2LUB: start from no pair, join those provably within a gap (Algorithm 1).

 1  Input        u_test, A_test, D, alpha >= 1, lambda > 0, delta, gamma-hat >= 0
 2  Initialise   no edges; N_min; M_u, b_u, CI_u, theta-hat_u for each u      confidence.estimate
 5  Connect      (u, v) iff ||theta-hat_u - theta-hat_v|| < gamma-hat - alpha (CI_u + CI_v)
                 and min(N_u, N_v) >= N_min                                   neighbourhood.WithinGap
 9  Aggregate    one-hop neighbours; M-tilde_u = lambda n-tilde_u I + sum a a'  pooling.PriorPerUser
12  Decide       argmax theta-tilde' a - beta ||a||_{M-tilde^-1}              decision.Bonus
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from coterie import checks
from coterie.algorithms.compose import Slots, fit
from coterie.algorithms.halves import folds_of
from coterie.algorithms.validated_gap import validated_gap
from coterie.confidence import Confidence
from coterie.decision import Bonus
from coterie.errors import ParameterError
from coterie.logs import Logs
from coterie.model import Model
from coterie.model.settings import settings_of
from coterie.neighbourhood import WithinGap
from coterie.neighbourhood.gaps import GapPolicy
from coterie.pooling import PriorPerUser
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics


@dataclass(frozen=True, kw_only=True)
class OffC2LUB:
    """Off-C2LUB, the algorithm for scarce data.

    Parameters
    ----------
    gap : "over", "under", "validate" or float
        gamma-hat: the paper's over- or under-estimation policy, or a number in scaled units. "validate" takes
        the number with the least squared error on rows held out: in two folds if fitted on logs (every
        user's odd and even rows), or on `validation=`; it is kept in `model.parameters["gap_used"]`, and
        no theorem is about it.
    sharing : "own", "mutual" or "global"
        Whose gap counts: that of the user being served (the paper, so lending is directed), both ends',
        or the smallest one that any user has, for everybody.
    min_samples : "theory" or float
        N_min; counts at or above it pass.
    graph_scale : float
        alpha, the factor of the radii.
    confidence, bonus, rescale
        See `Confidence` and `Bonus`; `rescale` divides actions by the longest one if that exceeds 1.

    Examples
    --------
    >>> import coterie as ct
    >>> logs = ct.Logs.from_arrays([1, 1, 2, 2], [[1.0], [1.0], [1.0], [1.0]], [1.0, 1.0, 1.0, 1.0])
    >>> model = OffC2LUB(gap=0.0, confidence=Confidence(noise=0.1)).fit(logs)
    >>> model.neighbours(1).tolist(), model.decide(1, [[0.5], [1.0]]).index
    ([1], 1)
    """

    gap: float | Literal["under", "over", "validate"] = "over"
    sharing: Literal["own", "mutual", "global"] = "own"
    min_samples: float | Literal["theory"] = "theory"
    graph_scale: float = 1.0
    confidence: Confidence = field(default_factory=Confidence)
    bonus: Bonus = field(default_factory=Bonus)
    rescale: bool = True

    def __post_init__(self) -> None:
        checks.at_least("graph_scale", self.graph_scale, 0)
        checks.number_or("gap", self.gap, ("over", "under", "validate"))
        checks.one_of("sharing", self.sharing, ("own", "mutual", "global"))
        checks.number_or("min_samples", self.min_samples, ("theory",))

    def fit(
        self,
        data: UserStatistics | Logs,
        *,
        validation: UserStatistics | None = None,
        progress: Progress = silent,
    ) -> Model:
        """Fitted model of statistics or logs; `validation`, statistics of other rows, chooses the gap."""
        if self.gap == "validate":
            stats, folds = folds_of(data, validation, "gap", progress)
            gap = validated_gap(self, stats, folds, progress)
            return self._fit(stats, gap, {**self.settings(), "gap_used": gap}, progress)
        if validation is not None:
            raise ParameterError(
                f'validation= was given and gap is {self.gap!r}; it is used by gap="validate"'
            )
        return self._fit(data, self.gap, self.settings(), progress)

    def _fit(
        self,
        data: UserStatistics | Logs,
        gap: float | GapPolicy,
        settings: dict[str, Any],
        progress: Progress,
    ) -> Model:
        slots = Slots(
            name="Off-C2LUB",
            confidence=self.confidence,
            edges=WithinGap(gap, self.graph_scale, self.sharing, self.min_samples),
            prior=PriorPerUser(),
            bonus=self.bonus,
            rescale=self.rescale,
            graph_scale=self.graph_scale,
            idle=None if gap == 0 else "nobody",
            outside=(f"graph_scale {self.graph_scale:g} is below 1",) if self.graph_scale < 1 else (),
        )
        return fit(data, slots, settings, progress)

    def settings(self) -> dict[str, Any]:
        """Parameters as plain values, for a model file."""
        return settings_of(self)
