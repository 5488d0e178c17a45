r"""Which population explains the rewards best: exact points, one Gaussian, or several Gaussians.

Takes: `Sums` of the users to learn from.
Gives: a `Contest`: the winner, and the evidence of every kind that was tried.
Paper: none; the evidence is penalised as `docs/mathematics.md` says.
Next: `posterior`.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from coterie import packed
from coterie.mixture import gaussians, points
from coterie.mixture.expect import Sums
from coterie.mixture.gaussians import Schedule
from coterie.mixture.points import Beliefs, Start
from coterie.mixture.population import Population
from coterie.mixture.posterior import posterior_of
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray
from coterie.progress import Progress, silent

Kind = Literal["points", "gaussian", "gaussians"]
KINDS: tuple[Kind, ...] = ("points", "gaussian", "gaussians")

_BROADER = 4.0  # how much wider than its own error the mean of the centres is believed to be
_POINTS = ((20, (0.1, 0.1, 0.1, 0.2, 0.2)), (40, (0.1, 0.2)))  # components and heats of the first starts
_MORE_POINTS = ((120, (0.2, 0.2)), (400, (0.2,)))
_CROWDED = 0.6  # share of a start's components that live on: above it, more are tried
_PULL = 10.0  # users' worth of the one Gaussian's spread that every spread is drawn to
_SPLITS = ((2, 2), (4, 3), (8, 2), (16, 1))  # numbers of Gaussians, and starts of each
_OPTIMISM = 1.5  # price of a parameter in units of log evidence
_TIGHTER = 0.5  # spread of a part beside that of the whole, at the start
_TIGHT = 0.02  # the same where points have been found
_MOST_AROUND_POINTS = 40
_TRIAL, _SHORT = Schedule(12), Schedule(40, 2e-5)


@dataclass(frozen=True, eq=False)
class Contest:
    """The winner; `evidence` maps each kind that was tried to its penalised log evidence."""

    population: Population
    kind: Kind
    evidence: dict[str, float]


@dataclass(frozen=True)
class Settings:
    """What is tried: kinds, the noise variance if it is known, how far a vector may reach, seed, threads."""

    kinds: tuple[Kind, ...] = KINDS
    noise: float | None = None
    reach: float = 1.0
    seed: int = 0
    threads: int = 1


@dataclass(frozen=True, eq=False)
class _Whole:
    """One Gaussian for all users, and their posterior means under it."""

    population: Population
    evidence: float
    theta: FloatArray


def compete(users: Sums, settings: Settings, progress: Progress = silent) -> Contest:
    """Winner among the kinds that may be tried."""
    rng = np.random.default_rng(settings.seed)
    progress("learning the population", 0, 3)
    whole = _whole(users, settings)
    found: dict[Kind, tuple[Population, float]] = {}
    if "gaussian" in settings.kinds:
        boundary = users.dim * (users.dim + 1) / 4
        found["gaussian"] = (whole.population, whole.evidence - boundary)
    progress("learning the population", 1, 3)
    if "points" in settings.kinds:
        found["points"] = _best_points(users, whole, settings, rng)
    progress("learning the population", 2, 3)
    if "gaussians" in settings.kinds and len(users) > users.dim:
        several = _best_gaussians(users, whole, found.get("points"), settings, rng)
        if several is not None:
            found["gaussians"] = several
    if not found:
        found["gaussian"] = (whole.population, whole.evidence)
    kind = max(found, key=lambda one: found[one][1])
    population = found[kind][0]
    if kind != "points":
        population = gaussians.with_doubt(users, population, settings.reach)
    progress("learning the population", 3, 3)
    return Contest(population, kind, {one: evidence for one, (_, evidence) in found.items()})


def _whole(users: Sums, settings: Settings) -> _Whole:
    start = gaussians.everybody(users, settings.noise)
    population, evidence = gaussians.learn(users, start, noise=settings.noise, threads=settings.threads)
    return _Whole(population, evidence, posterior_of(users, population).theta)


def _best_points(
    users: Sums, whole: _Whole, settings: Settings, rng: np.random.Generator
) -> tuple[Population, float]:
    """Points from several starts, with more components for as long as they are crowded."""
    doubt = gaussians.with_doubt(users, whole.population, settings.reach).doubt[0]
    beliefs = Beliefs.of(whole.population.centre[0], whole.population.spread[0] + _BROADER * doubt)
    known = settings.noise is not None

    def tried(sizes: tuple[tuple[int, tuple[float, ...]], ...]) -> tuple[Population, float]:
        starts = [Start(whole.theta[_some(len(users), k, rng)], heat) for k, heats in sizes for heat in heats]
        starts.append(Start(whole.population.centre, 1.0))
        return points.best(
            users, beliefs, starts, whole.population.noise, known=known, threads=settings.threads
        )

    best = tried(_POINTS)
    for size in _MORE_POINTS:
        if best[0].n_components < _CROWDED * min(size[0] / 3, len(users)):
            break
        best = max(best, tried((size,)), key=lambda one: one[1])
    return best


def _some(n: int, k: int, rng: np.random.Generator) -> IntArray:
    """Rows of `k` users, or of all if there are fewer."""
    return rng.choice(n, min(n, k), replace=False)


def _best_gaussians(
    users: Sums,
    whole: _Whole,
    exact: tuple[Population, float] | None,
    settings: Settings,
    rng: np.random.Generator,
) -> tuple[Population, float] | None:
    """Several Gaussians: around the points where those beat one Gaussian, else by cutting users in parts."""
    if exact is not None and exact[1] > whole.evidence:
        return _around(users, whole, exact, settings)
    best: tuple[Population, float] | None = None
    limit = whole.evidence - users.dim * (users.dim + 1) / 4
    for k, n_starts in _SPLITS:
        if k * 2 * users.dim > len(users):
            break
        found = _cut(users, whole, [_parts(whole, k, rng) for _ in range(n_starts)], settings)
        if found[1] <= (limit if best is None else best[1]):
            break
        best = found
    return best


def _around(
    users: Sums, whole: _Whole, exact: tuple[Population, float], settings: Settings
) -> tuple[Population, float] | None:
    """Gaussians that start tightly around points, given up soon unless they do better."""
    around, bound = exact
    k = around.n_components
    if not 1 < k <= _MOST_AROUND_POINTS:
        return None
    spread = np.repeat(_TIGHT * whole.population.spread, k, axis=0)
    start = replace(around, spread=spread, doubt=np.zeros_like(spread))
    for schedule in (_TRIAL, _SHORT):
        population, evidence = _cut(users, whole, [start], settings, schedule)
        if evidence <= bound:
            return None
        start = population
    return population, evidence


def _cut(
    users: Sums,
    whole: _Whole,
    starts: list[Population],
    settings: Settings,
    schedule: Schedule = _SHORT,
) -> tuple[Population, float]:
    """Gaussians from the best of the starts, and their penalised evidence."""

    def one(start: Population) -> tuple[Population, float]:
        population, evidence = gaussians.learn(
            users, start, whole.population, weight_of_base=_PULL, noise=settings.noise, schedule=schedule
        )
        return population, evidence - _price(users, population)

    with ThreadPoolExecutor(settings.threads) as pool:
        return max(pool.map(one, starts), key=lambda found: found[1])


def _parts(whole: _Whole, k: int, rng: np.random.Generator) -> Population:
    """Start: users cut in k parts by their posterior means, in the metric of the spread."""
    root = np.linalg.cholesky(packed.unpack(whole.population.spread)[0])
    at = np.linalg.solve(root, (whole.theta - whole.population.centre[0]).T).T
    centre = at[_some(len(at), k, rng)]
    for _ in range(15):
        nearest = _distances(at, centre).argmin(axis=1)
        centre = np.array(
            [at[nearest == c].mean(axis=0) if (nearest == c).any() else centre[c] for c in range(k)]
        )
    size = np.bincount(nearest, minlength=k)
    spread = np.repeat(_TIGHTER * whole.population.spread, k, axis=0)
    return Population(
        np.log((size + 1) / (len(at) + k)),
        whole.population.centre[0] + centre @ root.T,
        spread,
        np.zeros_like(spread),
        whole.population.noise,
    )


def _distances(at: FloatArray, centre: FloatArray) -> FloatArray:
    """Squared distances (U, k), by plain sums that no number of threads changes."""
    return np.stack([((at - one) ** 2).sum(axis=1) for one in centre], axis=1)


def _price(users: Sums, population: Population) -> float:
    r"""Price of the parameters beyond those of one Gaussian.

    A spread learned from n users who know the share rho of their vectors themselves counts as

    .. math:: \frac{d (d + 1)}{2} \frac{n \rho^2}{n \rho^2 + \nu} + d \frac{n \rho}{n \rho + \nu} + 1

    parameters, since the rest of it is the spread that it is drawn to.
    """
    found, dim = posterior_of(users, population), users.dim
    mass = np.maximum(found.responsibility.sum(axis=0), 1e-300)
    rho = np.einsum("uk,u->k", found.responsibility, found.own) / mass
    squares = dim * (dim + 1) / 2 * mass * rho**2 / (mass * rho**2 + _PULL)
    price = squares + dim * mass * rho / (mass * rho + _PULL) + 1
    return float(_OPTIMISM * (price.sum() - price.max()) + dim * (dim + 1) / 4)
