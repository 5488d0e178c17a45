"""A fitted mixture: decides as every model, and updates a user's posterior without fitting again.

Takes: a `Population`, statistics and settings.
Gives: a `MixtureModel`.
Paper: none.
Next: `coterie.model_file`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from coterie.confidence import Confidence
from coterie.decision import Policy
from coterie.logs.logs import default_threads
from coterie.mixture.population import Population
from coterie.mixture.posterior import posterior
from coterie.mixture.sharing import SharedComponents
from coterie.model.explanation import ComponentShare, Explanation
from coterie.model.model import Evidence, Model
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray, dim_of, unpack
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics

_WORTH_NAMING = 0.005  # least probability of a component that an explanation lists


@dataclass(frozen=True, eq=False, repr=False)
class MixtureModel(Model):
    """A model of users drawn from a learned population, kept beside the posteriors.

    `neighbours` are the users with most shared responsibility; `pooled_count` and `pooled_users` weigh every
    user by the probability that she is of the same component.
    """

    population: Population

    @property
    def n_components(self) -> int:
        """Number of components of the population."""
        return self.population.n_components

    @property
    def noise(self) -> float:
        """Standard deviation of the rewards' noise."""
        return float(np.sqrt(self.population.noise))

    @property
    def responsibility(self) -> FloatArray:
        """Probability (U, K) that each user is of each component."""
        return self._sharing("responsibilities").responsibility[:-1]

    @property
    def labels(self) -> IntArray:
        """Most probable component (U,) of each user."""
        return np.asarray(self.responsibility.argmax(axis=1))

    def updated(self, more: UserStatistics, *, progress: Progress = silent) -> "MixtureModel":
        """Same population, with more rows: the posteriors of the users in `more` are exact again.

        Users who were not there before are met with the population as it was learned.
        """
        stats = self.statistics + more
        policy, evidence = served(stats, self.population, self.confidence, self.scale, progress)
        return replace(self, index=stats.index, policy=policy, evidence=evidence)

    def explain(
        self, user: object, actions: object = None, *, names: Sequence[object] | None = None
    ) -> Explanation:
        """As of every model, with the components, their probabilities and what is the user's own."""
        told = super().explain(user, actions, names=names)
        hood = self._sharing("explanations")
        row = self.index.row(user)
        row = row if row >= 0 else self.n_users
        shared, pooled = hood.shared(row), max(told.pooled_count, np.finfo(float).tiny)
        lenders = [
            replace(
                one,
                share=one.count * (1.0 - one.distance) / pooled,
                reason=one.reason
                if one.user == user
                else f"of one component with probability {1 - one.distance:.3g}",
                distance=float("nan"),
                threshold=float("nan"),
            )
            for one in told.neighbours
        ]
        own = [one for one in lenders if one.user == user and told.seen]
        others = sorted((one for one in lenders if one not in own), key=lambda one: -one.share)
        p = hood.responsibility[row]
        size = hood.responsibility[:-1].sum(axis=0)
        components = tuple(
            ComponentShare(k, float(p[k]), float(size[k]), k < self.population.n_points)
            for k in np.argsort(-p, kind="stable").tolist()
            if p[k] >= _WORTH_NAMING
        )
        rest = float((shared * self.statistics.count).sum()) - sum(one.share for one in lenders) * pooled
        return replace(
            told,
            neighbours=(*own, *others),
            components=components,
            own_information=float(hood.own[row]),
            other_samples=max(rest, 0.0),
        )

    def _sharing(self, what: str) -> SharedComponents:
        hood = self._kept(what).neighbourhood
        assert isinstance(hood, SharedComponents)  # noqa: S101 -- served() makes no other
        return hood


def served(
    stats: UserStatistics,
    population: Population,
    confidence: Confidence,
    scale: float,
    progress: Progress = silent,
) -> tuple[Policy, Evidence]:
    """Posterior of every user as a policy, and who shares components with whom."""
    found = posterior(stats, population, scale, threads=default_threads(), progress=progress)
    hood = SharedComponents(found.responsibility, found.own)
    groups = hood.groups((np.asarray(stats.count),))
    wide = NormalDist().inv_cdf(1 - confidence.failure_prob)
    n = stats.n_users
    policy = Policy(
        group=np.arange(n + 1),
        theta=found.theta,
        factor=found.factor,
        multiplier=np.full(n + 1, max(wide, 0.0)),
        count=groups.sums[0],
        n_pooled=np.rint(groups.n_pooled),
    )
    return policy, Evidence(stats, hood, wide * _lengths(found.factor))


def _lengths(factor: FloatArray) -> FloatArray:
    """Square root of the largest variance of a direction, from packed factors of precisions."""
    longest = np.empty(len(factor))
    dim = dim_of(factor.shape[1]) or 1
    step = max(1, (1 << 20) // dim**2)
    for start in range(0, len(factor), step):
        lower = np.tril(unpack(factor[start : start + step]))
        longest[start : start + step] = 1 / np.linalg.svd(lower, compute_uv=False)[:, -1]
    return longest
