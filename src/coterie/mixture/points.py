r"""Exact clusters: users share a few preference vectors, and who has which is not known.

Takes: `Sums`, and what is believed about a centre.
Gives: a `Population` of points, and a lower bound of its evidence.
Paper: its model of clusters; the spectral start of Kong et al. (2020) was tried and is not needed.
Next: `compete`.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from coterie import packed
from coterie.mixture.expect import Expected, Sums, expect
from coterie.mixture.gaussians import least_noise
from coterie.mixture.merges import joined
from coterie.mixture.population import Population, inverse
from coterie.packed import FloatArray

_WARM_UP = 25  # steps during which the likelihood is tempered, so that centres part one by one
_ALIVE = 0.5  # users that a component must hold to be kept
_EVERY = 4
_COOL = 0.5  # heat from which half of the warm-up is enough


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed about a centre before seeing who has it: N(mean, covariance), packed."""

    mean: FloatArray
    covariance: FloatArray
    precision: FloatArray
    log_det: float

    @classmethod
    def of(cls, mean: FloatArray, covariance: FloatArray) -> "Beliefs":
        """Beliefs with this packed covariance (P,)."""
        precision, log_det = inverse(covariance[np.newaxis])
        return cls(mean, covariance, precision[0], float(log_det[0]))

    def divergence(self, population: Population) -> float:
        """Kullback-Leibler divergence of all centres' posteriors from the beliefs."""
        precision = packed.unpack(self.precision)
        away = population.centre - self.mean
        square = np.einsum("ki,ij,kj->k", away, precision, away)
        doubt = packed.unpack(population.doubt)
        trace = np.einsum("kij,ij->k", doubt, precision)
        log_det = np.linalg.slogdet(doubt)[1]
        return float(0.5 * (square + trace - population.dim - self.log_det - log_det).sum())


@dataclass(frozen=True, eq=False)
class Start:
    """One attempt: centres, and the heat at which they begin to part."""

    centre: FloatArray
    heat: float


@dataclass(frozen=True)
class Schedule:
    """At most so many steps in earnest, until the bound gains less than `gain` of itself."""

    steps: int
    gain: float


_TRIAL, _BRIEF, _FINAL = Schedule(40, 5e-5), Schedule(10, 1e-4), Schedule(150, 1e-6)
_PATIENCE = 20  # rounds of pairs made one, each gaining like the last, that may be needed to win
Found = tuple[Population, float]


def at(start: Start, noise: float) -> Population:
    """Equally likely points at the start's centres."""
    k, size = len(start.centre), packed.packed_size(start.centre.shape[1])
    return Population(np.full(k, -np.log(k)), start.centre, np.empty((0, size)), np.zeros((k, size)), noise)


def learn(
    users: Sums,
    beliefs: Beliefs,
    population: Population,
    *,
    heat: float = 1.0,
    schedule: Schedule = _FINAL,
    known: bool = False,
) -> tuple[Population, float]:
    r"""Population of points from one start, and the evidence's lower bound.

    .. math:: C_k^{-1} = P_0 + \sum_u p_{uk} G_u / s^2, \quad
        c_k = C_k (P_0 m_0 + \sum_u p_{uk} b_u / s^2)

    Centres have a posterior each, so that a component that too few users support costs more than it
    gains and dies out: those are dropped on the way.
    """
    before, alpha = -np.inf, np.ones(population.n_components)
    noise = population.noise if known else None
    for step, warmth in enumerate(_heats(heat, schedule.steps)):
        seen = expect(users, population, heat=warmth)
        if warmth == 1 and step > 1 and len(alpha) == len(seen.mass):
            bound = seen.evidence - beliefs.divergence(population) - _weights_divergence(alpha)
            if abs(bound - before) < schedule.gain * abs(bound) and seen.mass.min() >= _ALIVE:
                break
            before = bound
        if warmth == 1 and step % _EVERY == 0 and seen.mass.min() < _ALIVE and len(seen.mass) > 1:
            population, seen = _without_the_dead(population, seen)
        alpha = 1.0 + seen.mass
        population = _step(users, population, seen, beliefs, warmth, noise)
    return population, float(before)


def _heats(first: float, steps: int) -> Iterator[float]:
    if first < 1:
        yield from np.geomspace(first, 1.0, _WARM_UP if first < _COOL else _WARM_UP // 2)[:-1].tolist()
    for _ in range(steps):
        yield 1.0


def _without_the_dead(population: Population, seen: Expected) -> tuple[Population, Expected]:
    alive = seen.mass >= min(_ALIVE, float(seen.mass.max()))
    some = replace(
        population,
        log_weight=population.log_weight[alive],
        centre=population.centre[alive],
        doubt=population.doubt[alive],
    )
    return some, replace(seen, mass=seen.mass[alive], moments=seen.moments[alive], grams=seen.grams[alive])


def _step(
    users: Sums, population: Population, seen: Expected, beliefs: Beliefs, heat: float, noise: float | None
) -> Population:
    """One maximisation: posteriors of the centres, weights, noise."""
    from scipy.special import digamma

    scale = heat / population.noise
    doubt, _ = inverse(beliefs.precision + scale * seen.grams)
    pulled = packed.unpack(beliefs.precision) @ beliefs.mean + scale * seen.moments
    alpha = 1.0 + seen.mass
    fitted = max(seen.residual / users.n_samples, least_noise(users)) if noise is None else noise
    return replace(
        population,
        log_weight=digamma(alpha) - digamma(alpha.sum()),
        centre=np.einsum("kij,kj->ki", packed.unpack(doubt), pulled),
        doubt=doubt,
        noise=fitted,
    )


def _weights_divergence(alpha: FloatArray) -> float:
    """Kullback-Leibler divergence of the weights' Dirichlet posterior from the flat one."""
    from scipy.special import digamma, gammaln

    total = alpha.sum()
    return float(
        gammaln(total)
        - gammaln(alpha).sum()
        - gammaln(len(alpha))
        + ((alpha - 1) * (digamma(alpha) - digamma(total))).sum()
    )


@dataclass(frozen=True, eq=False)
class Search:
    """Attempts side by side; the number of threads changes nothing. `limit` is the others' evidence."""

    users: Sums
    beliefs: Beliefs
    known: bool
    threads: int
    limit: float = -np.inf

    def best(self, starts: list[Start], noise: float) -> Found:
        """The attempt with the largest bound after a trial, the first if several."""

        def trial(start: Start) -> Found:
            return self._merged(self._learn(at(start, noise), start.heat, _TRIAL), _BRIEF)

        with ThreadPoolExecutor(self.threads) as pool:
            return max(pool.map(trial, starts), key=lambda found: found[1])

    def final(self, found: Found) -> Found:
        """Learned to the end, and with points made one for as long as that explains more."""
        last = self._learn(found[0], 1.0, _FINAL)
        return self._merged(max(found, last, key=lambda one: one[1]), _FINAL, at_a_loss=True)

    def _learn(self, population: Population, heat: float, schedule: Schedule) -> Found:
        return learn(self.users, self.beliefs, population, heat=heat, schedule=schedule, known=self.known)

    def _merged(self, best: Found, schedule: Schedule, *, at_a_loss: bool = False) -> Found:
        """Pairs of points made one and learned again, for as long as the bound gains."""
        while True:
            seen = expect(self.users, best[0])
            fewer = joined(best[0], seen, self.beliefs.mean, self.beliefs.precision, at_a_loss=at_a_loss)
            if fewer is None:
                return best
            tried = self._learn(fewer, 1.0, schedule)
            gain = tried[1] - best[1]
            if gain <= 0:
                return best
            best = tried
            if best[1] + _PATIENCE * gain < self.limit:
                return best
