r"""Scattered users: one Gaussian (empirical Bayes), or several with covariances of their own.

Takes: `Sums` and a start.
Gives: a `Population` of Gaussians, with its log evidence.
Paper: none; the steps are closed forms of expectation-maximisation.
Next: `compete`.
"""

from dataclasses import dataclass, replace

import numpy as np

from coterie import packed
from coterie.mixture.expect import Expected, Sums, expect
from coterie.mixture.population import Population, inverse

_FLOOR = 1e-7  # least eigenvalue of a spread, beside the mean one of the starting spread
_NOISE_FLOOR = 1e-12  # least noise variance, beside the mean squared reward
_SIGNAL = 0.7  # share of the pooled residual that is first taken to be differences between users


@dataclass(frozen=True)
class Schedule:
    """How long to learn: at most so many steps, until the evidence gains less than `gain` of itself."""

    steps: int = 100
    gain: float = 1e-5


def least_noise(users: Sums) -> float:
    """Floor of the noise variance, so that noiseless rewards stay legal."""
    mean = users.square.sum() / max(users.n_samples, 1.0)
    return float(max(_NOISE_FLOOR * mean, np.finfo(float).tiny ** 0.5))


def everybody(users: Sums, noise: float | None) -> Population:
    """Start: least squares over all rows, and what that leaves split between users and noise."""
    dim = users.dim
    gram, moment = packed.unpack(users.gram.sum(axis=0)), users.moment.sum(axis=0)
    length = np.trace(gram) / users.n_samples
    centre = np.linalg.solve(gram + 1e-9 * np.trace(gram) * np.eye(dim), moment)
    left = users.square.sum() - 2 * centre @ moment + centre @ gram @ centre
    left = max(left / users.n_samples, least_noise(users))
    spread = packed.pack(np.eye(dim) * _SIGNAL * left / length)[np.newaxis]
    variance = (1 - _SIGNAL) * left if noise is None else noise
    return Population(np.zeros(1), centre[np.newaxis], spread, np.zeros_like(spread), variance)


def learn(
    users: Sums,
    start: Population,
    base: Population | None = None,
    *,
    weight_of_base: float = 0.0,
    noise: float | None = None,
    schedule: Schedule = Schedule(),
    shared: bool = False,
    threads: int = 1,
) -> tuple[Population, float]:
    r"""Population of Gaussians at a maximum of the penalised evidence, and the log evidence there.

    .. math:: S_k = \frac{\sum_u p_{uk} [V_{uk} + (m_{uk} - c_k)(m_{uk} - c_k)'] + \nu S_0}
        {\sum_u p_{uk} + \nu}

    with `S_0` the spread of `base` and nu `weight_of_base`; with `shared` one spread for all, their mean.
    """
    population, before = start, -np.inf
    floor = _FLOOR * np.trace(packed.unpack(start.spread).mean(axis=0)) / users.dim
    for _ in range(schedule.steps):
        seen = expect(users, population, threads=threads)
        if abs(seen.evidence - before) < schedule.gain * abs(seen.evidence):
            break
        before = seen.evidence
        population = _step(users, population, seen, base, weight_of_base, noise, floor)
        if shared:
            mean = np.einsum("k,kj->j", seen.mass / seen.mass.sum(), population.spread)
            population = replace(population, spread=np.repeat(mean[np.newaxis], len(seen.mass), axis=0))
    return population, before


def _step(
    users: Sums,
    population: Population,
    seen: Expected,
    base: Population | None,
    nu: float,
    noise: float | None,
    floor: float,
) -> Population:
    """One maximisation: centres, spreads, weights, noise."""
    mass = np.maximum(seen.mass, 1e-300)[:, np.newaxis]
    moved = seen.first / mass
    second = seen.second - packed.pack(
        mass[..., np.newaxis] * moved[:, :, np.newaxis] * moved[:, np.newaxis, :]
    )
    spread = (second + (0.0 if base is None else nu * base.spread)) / (mass + nu)
    spread[:, packed.diagonal_positions(users.dim)] += floor
    n, k = len(users), len(seen.mass)
    return replace(
        population,
        log_weight=np.log((seen.mass + 1) / (n + k)),
        centre=population.centre + moved * (mass / (mass + nu / 10)),
        spread=spread,
        noise=max(seen.residual / users.n_samples, least_noise(users)) if noise is None else noise,
    )


def with_doubt(users: Sums, population: Population, reach: float) -> Population:
    r"""The same with what is not known about the centres, added to the spreads too.

    .. math:: D_k^{-1} = \sum_u p_{uk} (S_k + s^2 G_u^{-1})^{-1} + I / reach^2

    A user's vector is S_k away from the centre and the centre D_k from its estimate.
    """
    precision = packed.unpack(population.precision[0])
    known = np.zeros_like(precision)
    responsibility = expect(users, population).responsibility
    for part in packed.chunks(len(users), users.dim):
        gram = packed.unpack(users.gram[part]) / population.noise
        for g, prior in enumerate(precision):
            shrunk = prior - prior @ np.linalg.solve(prior + gram, np.broadcast_to(prior, gram.shape))
            known[g] += np.einsum("u,uij->ij", responsibility[part, g], shrunk)
    known = (known + known.swapaxes(1, 2)) / 2 + np.eye(users.dim) / reach**2
    doubt, _ = inverse(packed.pack(known))
    return replace(population, doubt=doubt, spread=population.spread + doubt)
