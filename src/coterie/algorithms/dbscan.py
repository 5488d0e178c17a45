r"""DBSCAN: users in one dense region of ridge estimates are pooled, decided optimistically.

The paper's DBSCAN_Improve: "a variant of CLUB that replaces its original clustering mechanism with the
DBSCAN algorithm". Ester, Kriegel, Sander, Xu (1996); scikit-learn does the clustering.
"""

from dataclasses import dataclass, field
from typing import Literal

from coterie import checks
from coterie.algorithms.compose import Slots, fit, scale_of, statistics_of
from coterie.confidence import Confidence
from coterie.decision import Bonus, OnlineBeta
from coterie.logs import Logs
from coterie.model import Model
from coterie.model.settings import settings_of
from coterie.neighbourhood.chance_distance import chance_distance
from coterie.neighbourhood.clustered import JoinDense
from coterie.pooling import PriorOnce
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics


@dataclass(frozen=True, kw_only=True)
class DBSCAN:
    """Pool the users of one dense region; users in none ("noise") are served alone.

    Parameters
    ----------
    radius : "auto" or float
        Distance, in scaled units, within which estimates count as near. "auto" takes the typical distance
        of two users who want the same (`chance_distance`). It errs to the small side: a larger
        one chains clusters together, and with few rows per user most are alone. The one used is kept in
        `model.parameters["radius_used"]`.
    min_users : int
        Users within the radius, oneself included, that make a dense region.
    confidence, bonus, rescale
        Only the ridge of `Confidence` matters; the multiplier is the online literature's, with as many
        rounds as there are logged rows.

    Notes
    -----
    Laws that it does not obey: edges do not grow with a gap (there is none); a rotation of the features,
    or a change in one user's rows, may move a user on the border of two regions to the other one.

    Examples
    --------
    >>> import coterie as ct
    >>> logs = ct.Logs.from_arrays(["a", "b", "c"], [[1.0], [1.0], [1.0]], [3.0, 3.2, 9.0])
    >>> DBSCAN(radius=0.5, min_users=2).fit(logs).neighbours("a").tolist()
    ['a', 'b']
    """

    radius: Literal["auto"] | float = "auto"
    min_users: int = 5
    confidence: Confidence = field(default_factory=Confidence)
    bonus: Bonus = field(default_factory=lambda: Bonus(sign=1, form="squared"))
    rescale: bool = True

    def __post_init__(self) -> None:
        checks.number_or("radius", self.radius, ("auto",))
        checks.at_least("min_users", self.min_users, 1)

    def fit(self, data: UserStatistics | Logs, *, progress: Progress = silent) -> Model:
        """Fitted model of statistics or logs."""
        stats = statistics_of(data, progress)
        radius = self._radius(stats)
        slots = Slots(
            name="DBSCAN",
            confidence=self.confidence,
            edges=JoinDense(radius, int(self.min_users)),
            prior=PriorOnce(),
            bonus=self.bonus,
            rescale=self.rescale,
            beta=OnlineBeta(rounds=stats.n_samples),
        )
        return fit(stats, slots, {**settings_of(self), "radius_used": radius}, progress)

    def _radius(self, stats: UserStatistics) -> float:
        if not isinstance(self.radius, str):
            return float(self.radius)
        return chance_distance(stats, self.confidence, scale_of(stats, rescale=self.rescale))
