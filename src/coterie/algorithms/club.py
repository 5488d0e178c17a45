r"""CLUB: edges between users are deleted when their estimates differ; connected components are pooled.

 Delete       (u, v) iff ||theta-hat_u - theta-hat_v|| > alpha (f(N_u) + f(N_v))  WithinOnlineRadius
              f(N) = sqrt((1 + ln(1 + N)) / (1 + N))
 Aggregate    connected components, not one-hop neighbours                        ConnectedComponents
 Decide       argmax theta' a + beta a' M^-1 a, optimistic                        decision.OnlineBeta

After Gentile, Li and Zappella 2014, "Online clustering of bandits", as the paper's tables need it.
"""

from dataclasses import dataclass, field

from coterie import checks
from coterie.algorithms.compose import Slots, fit, scale_of, statistics_of
from coterie.algorithms.linucb import online_bonus
from coterie.confidence import Confidence
from coterie.decision import Bonus, OnlineBeta
from coterie.errors import LogError
from coterie.logs import Logs
from coterie.model import Model
from coterie.model.settings import settings_of
from coterie.neighbourhood import ConnectedComponents, EdgeRule, ReplayedDeletion, WithinOnlineRadius
from coterie.neighbourhood.components import rows_in_order
from coterie.pooling import PriorOnce
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics


@dataclass(frozen=True, kw_only=True)
class CLUB:
    r"""CLUB on a log: its last graph, or its graph deleted edge by edge as the rows came.

    Law not obeyed: one user alone is served as by every algorithm (beta differs). With `replay=True`
    also: row order (an edge deleted early stays deleted), and adding then removing a user (statistics are
    refused). At graph_scale 0.1, the paper's, nearly every edge goes and CLUB equals LinUCB.

    Parameters
    ----------
    graph_scale : float
        alpha, the factor of the radii f.
    replay : bool
        Delete edges after every row, with the estimates of that moment; needs logs. Otherwise all pairs
        are tested once, with the final estimates.
    confidence, bonus, rescale
        Of the first only `ridge` counts; see `LinUCB`.

    Examples
    --------
    f(1) = 0.92, so that pairs up to 1.84 apart stay joined: a to b and b to c, and so a to c.

    >>> import coterie as ct
    >>> logs = ct.Logs.from_arrays(["a", "b", "c", "d"], [[1.0]] * 4, [0.0, 2.0, 4.0, 9.0])
    >>> model = CLUB(graph_scale=1.0, confidence=Confidence(ridge=0.25)).fit(logs)
    >>> model.neighbours("a").tolist(), model.neighbours("d").tolist()
    (['a', 'b', 'c'], ['d'])
    """

    graph_scale: float = 0.1
    replay: bool = False
    confidence: Confidence = field(default_factory=Confidence)
    bonus: Bonus = field(default_factory=online_bonus)
    rescale: bool = True

    def __post_init__(self) -> None:
        checks.at_least("graph_scale", self.graph_scale, 0)

    def fit(self, data: UserStatistics | Logs, *, progress: Progress = silent) -> Model:
        """Fitted model of statistics or logs; of logs only with `replay`."""
        stats = statistics_of(data, progress)
        slots = Slots(
            name="CLUB (replayed)" if self.replay else "CLUB",
            confidence=self.confidence,
            edges=self._edges(data, stats),
            prior=PriorOnce(),
            bonus=self.bonus,
            rescale=self.rescale,
            beta=OnlineBeta(stats.n_samples),
        )
        return fit(stats, slots, settings_of(self), progress)

    def _edges(self, data: UserStatistics | Logs, stats: UserStatistics) -> EdgeRule:
        if not self.replay:
            return ConnectedComponents(WithinOnlineRadius(self.graph_scale))
        if not isinstance(data, Logs):
            raise LogError(
                "CLUB(replay=True) goes through the rows in their order and was given statistics, which "
                "keep no order; give logs, or replay=False"
            )
        rows = rows_in_order(data, stats, scale_of(stats, rescale=self.rescale))
        return ReplayedDeletion(rows, self.graph_scale, self.confidence.ridge)
