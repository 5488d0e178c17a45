r"""X-means: users of one k-means cluster of ridge estimates are pooled, their number chosen by BIC.

The paper's XMeans_Improve: "a variant of CLUB that replaces its original clustering mechanism with the
X-Means algorithm". Pelleg and Moore (2000); scikit-learn's k-means does the two-way splits.
"""

from dataclasses import dataclass, field

from coterie import checks
from coterie.algorithms.compose import Slots, fit, statistics_of
from coterie.confidence import Confidence
from coterie.decision import Bonus, OnlineBeta
from coterie.logs import Logs
from coterie.model import Model
from coterie.model.settings import settings_of
from coterie.neighbourhood.clustered import JoinSplits
from coterie.pooling import PriorOnce
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics


@dataclass(frozen=True, kw_only=True)
class XMeans:
    """Pool the users of one cluster, clusters being cut in two for as long as BIC gains by it.

    Parameters
    ----------
    largest : int, optional
        Largest number of clusters; by default as many as there are users.
    confidence, bonus, rescale
        Only the ridge of `Confidence` matters; the multiplier is the online literature's, with as many
        rounds as there are logged rows.

    Notes
    -----
    The search starts from one cluster and ends when no single cut gains: clusters laid out so evenly that no
    one cut helps (the corners of a cube, say) are left together.

    A cut starts along the direction of the largest variance, so that nothing is random.

    Laws that it does not obey: edges do not grow with a gap (there is none).

    Examples
    --------
    >>> import coterie as ct
    >>> logs = ct.Logs.from_arrays(list("abcdef"), [[1.0]] * 6, [3.0, 3.1, 3.2, 9.0, 9.1, 9.2])
    >>> XMeans().fit(logs).neighbours("a").tolist()
    ['a', 'b', 'c']
    """

    largest: int | None = None
    confidence: Confidence = field(default_factory=Confidence)
    bonus: Bonus = field(default_factory=lambda: Bonus(sign=1, form="squared"))
    rescale: bool = True

    def __post_init__(self) -> None:
        if self.largest is not None:
            checks.at_least("largest", self.largest, 1)

    def fit(self, data: UserStatistics | Logs, *, progress: Progress = silent) -> Model:
        """Fitted model of statistics or logs."""
        stats = statistics_of(data, progress)
        slots = Slots(
            name="X-means",
            confidence=self.confidence,
            edges=JoinSplits(self.largest),
            prior=PriorOnce(),
            bonus=self.bonus,
            rescale=self.rescale,
            beta=OnlineBeta(rounds=stats.n_samples),
        )
        return fit(stats, slots, settings_of(self), progress)
