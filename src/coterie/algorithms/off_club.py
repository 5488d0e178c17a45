r"""Off-CLUB: start from all pairs, drop those provably different (Algorithm 2).

 1  Input        u_test, A_test, D, alpha, lambda > 1, delta
 2  Initialise   all edges; M_u, b_u, CI_u, theta-hat_u for each u            confidence.estimate
 5  Remove       (u, v) iff ||theta-hat_u - theta-hat_v|| > alpha (CI_u + CI_v) neighbourhood.NotSeparated
 9  Aggregate    one-hop neighbours, never connected components               pooling.pool
10  Compute      M-tilde_u = lambda I + sum a a'                              pooling.PriorOnce
12  Decide       argmax theta-tilde' a - beta ||a||_{M-tilde^-1}              decision.Bonus
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from coterie import checks
from coterie.algorithms.compose import Slots, fit, scale_of, statistics_of
from coterie.confidence import Confidence
from coterie.decision import Bonus
from coterie.logs import Logs
from coterie.model import Model
from coterie.model.settings import settings_of
from coterie.neighbourhood import EdgeRule, NotDistinguished, NotSeparated
from coterie.pooling import PriorOnce
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics


@dataclass(frozen=True, kw_only=True)
class OffCLUB:
    """Off-CLUB, the algorithm for plentiful data.

    Parameters
    ----------
    graph_scale : float
        alpha, the factor of the radii; Theorem 1 is about alpha = 1.
    test : "radii" or "ellipsoid"
        How a pair is told apart: by the distance and the sum of the radii, as printed, or by a chi-square
        test of equality at failure_prob in the metric of the two users' own precisions, which is far
        sharper and has no theorem. Give it the noise as it is, or `noise="estimate"`.
    confidence, bonus, rescale
        See `Confidence` and `Bonus`; `rescale` divides actions by the longest one if that exceeds 1.

    Examples
    --------
    >>> import coterie as ct
    >>> logs = ct.Logs.from_arrays(["a", "b"], [[1.0], [1.0]], [0.9, 1.1])
    >>> model = OffCLUB(confidence=Confidence(ridge=2.0)).fit(logs)
    >>> model.neighbours("a").tolist(), model.theta.round(9).tolist()
    (['a', 'b'], [[0.5], [0.5]])
    """

    graph_scale: float = 1.0
    test: Literal["radii", "ellipsoid"] = "radii"
    confidence: Confidence = field(default_factory=Confidence)
    bonus: Bonus = field(default_factory=Bonus)
    rescale: bool = True

    def __post_init__(self) -> None:
        checks.at_least("graph_scale", self.graph_scale, 0)
        checks.one_of("test", self.test, ("radii", "ellipsoid"))

    def fit(self, data: UserStatistics | Logs, *, progress: Progress = silent) -> Model:
        """Fitted model of statistics or logs."""
        alpha, confidence = self.graph_scale, self.confidence
        edges: EdgeRule = NotSeparated(alpha)
        outside = () if alpha == 1 else (f"graph_scale {alpha:g} is not the 1 of Theorem 1",)
        if self.test == "ellipsoid":
            data = statistics_of(data, progress)
            confidence = self.confidence.resolved(data)
            gram = data.packed_gram / scale_of(data, rescale=self.rescale) ** 2
            edges = NotDistinguished(gram, alpha, confidence)
            outside = (*outside, "the test by ellipsoids has no theorem")
        slots = Slots(
            name="Off-CLUB",
            confidence=confidence,
            edges=edges,
            prior=PriorOnce(),
            bonus=self.bonus,
            rescale=self.rescale,
            graph_scale=self.graph_scale,
            idle="everybody",
            ridge_above=1.0,
            outside=outside,
        )
        return fit(data, slots, self.settings(), progress)

    def settings(self) -> dict[str, Any]:
        """Parameters as plain values, for a model file."""
        return settings_of(self)
