r"""SCLUB: users leave a cluster that they differ from, and clusters that agree become one.

 Split        u leaves c iff ||theta-hat_u - theta-hat_c|| > alpha (f(N_u) + f(N_c))  stages.SplitThenMerge
              f(N) = sqrt((1 + ln(1 + N)) / (1 + N))
 Merge        c and e iff ||theta-hat_c - theta-hat_e|| < alpha (f(N_c) + f(N_e)) / 2
 Decide       argmax theta' a + beta a' M^-1 a, optimistic                            decision.OnlineBeta

After Li, Chen, Li and Leung 2019, "Improved algorithm on online clustering of bandits", as the paper's
tables need it.
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
from coterie.neighbourhood import EdgeRule, SplitThenMerge, StagedSplitMerge
from coterie.neighbourhood.components import rows_in_order
from coterie.pooling import PriorOnce
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics


@dataclass(frozen=True, kw_only=True)
class SCLUB:
    r"""SCLUB on a log: one pass of splits and merges over the final estimates, or stages over the rows.

    Laws not obeyed: relabelling users (they are gone through in the order of the statistics, which is
    ascending after `summarize`); one user alone is served as by every algorithm (beta differs). With
    `staged=True` also row order, and adding then removing a user (statistics are refused).

    Where the literature is uncertain, `staged` follows the code in circulation: a user's
    frequency is compared with the mean of the cluster (the article: with each member's), the factor of
    the frequency test is sqrt 2, halved for merging, and a cluster's estimate is the running one (the
    article: that at the start of the stage). Unlike both, after a row only the clusters that it touched
    are tried for merging; of the others only the frequencies' limit has moved. The prior is the given
    ridge (there: 1).

    Parameters
    ----------
    graph_scale : float
        alpha, the factor of the radii f.
    staged : bool
        Split and merge after every row, in stages of 2, 4, 8, ... rows; needs logs.
    confidence, bonus, rescale
        Of the first only `ridge` counts; see `LinUCB`.

    Examples
    --------
    >>> import coterie as ct
    >>> logs = ct.Logs.from_arrays(["a", "b", "c"] * 20, [[1.0]] * 60, [0.0, 0.1, 5.0] * 20)
    >>> model = SCLUB().fit(logs)
    >>> model.neighbours("a").tolist(), model.neighbours("c").tolist()
    (['a', 'b'], ['c'])
    """

    graph_scale: float = 1.0
    staged: bool = False
    confidence: Confidence = field(default_factory=Confidence)
    bonus: Bonus = field(default_factory=online_bonus)
    rescale: bool = True

    def __post_init__(self) -> None:
        checks.at_least("graph_scale", self.graph_scale, 0)

    def fit(self, data: UserStatistics | Logs, *, progress: Progress = silent) -> Model:
        """Fitted model of statistics or logs; of logs only with `staged`."""
        stats = statistics_of(data, progress)
        slots = Slots(
            name="SCLUB (staged)" if self.staged else "SCLUB",
            confidence=self.confidence,
            edges=self._edges(data, stats),
            prior=PriorOnce(),
            bonus=self.bonus,
            rescale=self.rescale,
            beta=OnlineBeta(stats.n_samples),
        )
        return fit(stats, slots, settings_of(self), progress)

    def _edges(self, data: UserStatistics | Logs, stats: UserStatistics) -> EdgeRule:
        scale, ridge = scale_of(stats, rescale=self.rescale), self.confidence.ridge
        if not self.staged:
            moment, gram = stats.moment / scale, stats.packed_gram / scale**2
            return SplitThenMerge(moment, gram, self.graph_scale, ridge)
        if not isinstance(data, Logs):
            raise LogError(
                "SCLUB(staged=True) goes through the rows in their order and was given statistics, which "
                "keep no order; give logs, or staged=False"
            )
        return StagedSplitMerge(rows_in_order(data, stats, scale), self.graph_scale, ridge)
