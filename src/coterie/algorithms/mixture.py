r"""Mixture: how much to borrow, and from whom, is learned from all users before each is served.

1  Model        theta_u ~ sum_k w_k N(c_k, S_k);  r = theta_u' a + noise      mixture.population
2  Compete      exact points (S_k = 0), one Gaussian, several Gaussians       mixture.compete
3  Posterior    of each user, given the population and her own rows           mixture.posterior
4  Decide       argmax m_u' a - z sqrt(a' V_u a)                              decision.Bonus
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from coterie import checks
from coterie.algorithms.compose import require_settings, scale_of, statistics_of
from coterie.algorithms.halves import folds_of, squared_error
from coterie.confidence import Confidence, Observed
from coterie.decision import Bonus
from coterie.errors import ParameterError
from coterie.logs import Logs
from coterie.logs.logs import default_threads
from coterie.mixture.compete import KINDS, Contest, Kind, Settings, compete
from coterie.mixture.expect import Sums
from coterie.mixture.population import Population
from coterie.model.mixture_model import MixtureModel, served
from coterie.model.report import FitReport
from coterie.model.settings import settings_of
from coterie.packed import FloatArray, packed_size
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics

_ANY_NOISE = 1.0  # the noise of a `Confidence` of which nothing was said


@dataclass(frozen=True, kw_only=True)
class Mixture:
    r"""Users drawn from a mixture that is learned from their sums, each served by her own posterior.

    Parameters
    ----------
    kind : "evidence", "points", "gaussian" or "gaussians"
        What the population may be: exact clusters, one Gaussian (empirical Bayes), several Gaussians. By
        default all three compete and the penalised evidence chooses.
    learn_from : int
        Users that the population is learned from, drawn at random if there are more; every user gets
        her exact posterior in one pass.
    rng : int
        Seed of that draw and of the starts.
    confidence
        `failure_prob` delta sets the width, z = the normal quantile at 1 - delta. `noise` is learned unless
        it is a number other than 1.0, the value of a `Confidence` in which it is not named. `theta_bound`
        only says how far a vector may reach where nothing is known. `ridge` and `regularity` do not apply
        and are refused.
    bonus, rescale
        See `Bonus`; score = m_u' a + sign * scale * z * sd, the squared form with z * sd^2.

    Notes
    -----
    The width is that of a posterior: right on average over users like these if the model is, with no
    guarantee for the worst user or world, which the paper's radii have.

    Laws that it does not obey: one user alone (there is a population of one to learn); neighbours add up
    (everybody lends in proportion to the probability of sharing a component, and `neighbours` names those
    who share most); edges grow with a gap, and a pooled precision dominates (there are neither gaps nor
    sums of neighbours); a row twice is a weight of two only up to the noise that is learned.

    Examples
    --------
    >>> import coterie as ct
    >>> logs = ct.Logs.from_arrays(list("abcd") * 5, [[1.0]] * 20, [3.0, 3.1, 8.9, 9.0] * 5)
    >>> model = Mixture().fit(logs)
    >>> model.theta[:, 0].round(1).tolist()
    [3.0, 3.1, 8.9, 9.0]
    """

    kind: Kind | Literal["evidence"] = "evidence"
    learn_from: int = 10_000
    rng: int = 0
    confidence: Confidence = field(default_factory=lambda: Confidence(noise="estimate"))
    bonus: Bonus = field(default_factory=Bonus)
    rescale: bool = True

    def __post_init__(self) -> None:
        checks.one_of("kind", self.kind, ("evidence", *KINDS))
        checks.at_least("learn_from", self.learn_from, 1)
        checks.at_least("rng", self.rng, 0)
        _require_settings(self)

    def fit(
        self,
        data: UserStatistics | Logs,
        *,
        validation: UserStatistics | None = None,
        progress: Progress = silent,
    ) -> MixtureModel:
        """Fitted model; with `validation`, statistics of other rows, these choose the kind."""
        stats = statistics_of(data, progress)
        scale = scale_of(stats, rescale=self.rescale)
        contest = self._contest(stats, scale, validation, progress)
        confidence = Confidence(
            failure_prob=self.confidence.failure_prob,
            theta_bound=self.confidence.theta_bound,
            noise=float(np.sqrt(contest.population.noise)),
        )
        policy, evidence = served(stats, contest.population, confidence, scale, progress)
        return MixtureModel(
            algorithm="Mixture",
            parameters=settings_of(self),
            index=stats.index,
            policy=policy,
            confidence=confidence,
            bonus=self.bonus,
            scale=scale,
            features=stats.features,
            intercept=stats.intercept,
            report=_report(stats, contest, scale, policy.n_pooled[:-1]),
            evidence=evidence,
            population=contest.population,
        )

    def settings(self) -> dict[str, Any]:
        """Parameters as plain values, for a model file."""
        return settings_of(self)

    def _contest(
        self, stats: UserStatistics, scale: float, validation: UserStatistics | None, progress: Progress
    ) -> Contest:
        users = self._learned_from(stats, scale)
        if not len(users):
            return _nothing_known(stats.dim, self.confidence)
        kinds = KINDS if self.kind == "evidence" else (self.kind,)
        given = self.confidence.noise
        known = None if isinstance(given, str) or given == _ANY_NOISE else max(given, 1e-9) ** 2
        settings = Settings(kinds, known, self.confidence.theta_bound, int(self.rng), default_threads())
        if validation is None:
            return compete(users, settings, progress)
        return _validated(stats, users, settings, scale, validation, progress)

    def _learned_from(self, stats: UserStatistics, scale: float) -> Sums:
        """Users with data in the order of their ids, or as many of them as are enough."""
        rows = np.argsort(stats.users, kind="stable")
        rows = rows[stats.count[rows] > 0]
        if len(rows) > self.learn_from:
            drawn = np.random.default_rng(int(self.rng)).choice(
                len(rows), int(self.learn_from), replace=False
            )
            rows = rows[np.sort(drawn)]
        return Sums.of(stats, scale, rows)


def _require_settings(given: Mixture) -> None:
    """Refuse settings of the wrong kind, and those that mean nothing here."""
    require_settings(given.confidence, given.bonus, rescale=given.rescale)
    plain = Confidence()
    if given.confidence.ridge != plain.ridge:
        raise ParameterError(
            f"ridge is {given.confidence.ridge:g} and Mixture learns how far to shrink; leave ridge out"
        )
    if not isinstance(given.confidence.regularity, Observed):
        raise ParameterError(
            f"regularity is {given.confidence.regularity!r} and Mixture has no radii; leave regularity out"
        )


def _nothing_known(dim: int, confidence: Confidence) -> Contest:
    """Population of a log without rows: one Gaussian as wide as `theta_bound`."""
    along = np.zeros((1, packed_size(dim)))
    along[0, np.cumsum(np.arange(1, dim + 1)) - 1] = max(confidence.theta_bound, 1e-6) ** 2 / dim
    noise = 1.0 if isinstance(confidence.noise, str) else max(confidence.noise, 1e-9) ** 2
    population = Population(np.zeros(1), np.zeros((1, dim)), along, np.zeros_like(along), noise)
    return Contest(population, "gaussian", {})


def _validated(
    stats: UserStatistics,
    users: Sums,
    settings: Settings,
    scale: float,
    validation: UserStatistics,
    progress: Progress,
) -> Contest:
    """The kind whose posterior means have the least squared error on rows held out."""
    folds_of(stats, validation, "kind", progress)
    contests = [
        compete(
            users,
            Settings((kind,), settings.noise, settings.reach, settings.seed, settings.threads),
            progress,
        )
        for kind in settings.kinds
    ]
    rows = stats.index.rows(validation.users)
    errors = []
    for contest in contests:
        policy, _ = served(stats, contest.population, Confidence(), scale)
        errors.append(squared_error(policy.theta[rows], validation, scale))
    return contests[int(np.argmin(errors))]


def _report(stats: UserStatistics, contest: Contest, scale: float, pooled_users: FloatArray) -> FitReport:
    """What was learned, and by which evidence."""
    k = contest.population.n_components
    what = {
        "points": f"{k} exact clusters" if k > 1 else "everybody alike",
        "gaussian": "users scattered around one centre",
        "gaussians": f"users scattered around {k} centres",
    }[contest.kind]
    tried = ", ".join(f"{kind} {value:.6g}" for kind, value in contest.evidence.items())
    return FitReport(
        algorithm="Mixture",
        n_users=stats.n_users,
        n_samples=stats.n_samples,
        dim=stats.dim,
        noise=float(np.sqrt(contest.population.noise)),
        scale=scale,
        n_groups=k,
        mean_pooled_users=float(pooled_users.mean()),
        search="no",
        notes=(f"The population is taken to be {what}" + (f" (log evidence: {tried})." if tried else "."),),
    )
