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
from coterie.mixture import gaussians
from coterie.mixture.expect import Sums, expect
from coterie.mixture.gaussians import Schedule
from coterie.mixture.leaders import leaders
from coterie.mixture.points import Beliefs, Found, Search, Start
from coterie.mixture.population import Population, inverse
from coterie.mixture.posterior import posterior_of
from coterie.packed import FloatArray
from coterie.progress import Progress, silent

Kind = Literal["points", "gaussian", "gaussians"]
KINDS: tuple[Kind, ...] = ("points", "gaussian", "gaussians")

_BROADER = 4.0  # how much wider than its own error the mean of the centres is believed to be
_UNSEEN = 0.1  # part of a round spread in what is believed about centres: a few do not show every direction
_VAGUE = 100.0  # how much wider than what all rows tell of it the one point is believed to be
_DIFFER = 1.35  # log likelihood ratio of a variance that may be zero, at 5 %: half of 2.71
_SIZES, _SETTLE = (
    (1.0, 0.5, 0.25, 0.1, 0.05, 0.02),
    3,
)  # round spreads tried beside the one learned; steps of each
_SCATTERED = 40  # users at whom points begin that part as they cool
_AGAIN = (0.6, 1.0, 0.8, 0.6)  # heats at which points go on with as many new ones among them
_COSTLY = 40  # from so many points on, fewer of these are tried
_NEW = 10  # least number of new ones
_ROUNDS = 8
_WORTH = 1e-4  # least gain, as a share of the bound, that is worth another round
_PROMISING = 0.9  # share of what the others explain that points must reach to be worth looking further
_PROMISE = 2.0  # given up once so many times the last gain does not reach the others' evidence
_ROUNDER = (0.3, 1.0, 3.0, 10.0, 100.0)  # weight of a round spread, beside what the rows tell of it
_PULL = 10.0  # users' worth of the one Gaussian's spread that every spread is drawn to
_FEW, _MANY = ((2, 1), (4, 3)), ((8, 2), (16, 2))  # numbers of Gaussians, and starts of each
_OPTIMISM = 1.5  # price of a parameter in units of log evidence
_TIGHTER = 0.5  # spread of a part beside that of the whole, at the start
_TIGHT = 0.05  # the same where points have been found
_MOST_AROUND_POINTS = 40
_TRIAL, _SHORT = Schedule(25), Schedule(40, 2e-5)


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
    """One Gaussian for all users, its evidence less its price, and users' posterior means under it.

    Without a spread half of its parameters would be at their boundary, so they cost half. Its centre costs
    what points pay for in their bound: half a logarithm per coordinate, as their beliefs about it are
    `_BROADER` times as wide as what the rows tell.
    """

    population: Population
    evidence: float
    price: float
    theta: FloatArray


def compete(users: Sums, settings: Settings, progress: Progress = silent) -> Contest:
    """Winner among the kinds that may be tried."""
    rng = np.random.default_rng(settings.seed)
    progress("learning the population", 0, 4)
    whole = _whole(users, settings)
    found: dict[Kind, Found] = {}
    if "gaussian" in settings.kinds or len(users) <= 2 * users.dim:
        found["gaussian"] = whole.population, whole.evidence
    progress("learning the population", 1, 4)
    several = "gaussians" in settings.kinds
    parts = (
        _cut_up(users, whole, (whole.population, whole.evidence), _FEW, settings, rng) if several else None
    )
    progress("learning the population", 2, 4)
    if "points" in settings.kinds:
        limit = max(
            (evidence for _, evidence in (*found.values(), *([parts] if parts else ()))), default=-np.inf
        )
        found["points"] = _best_points(users, whole, limit, settings, rng)
    progress("learning the population", 3, 4)
    if several:
        parts = _best_gaussians(users, whole, parts, found.get("points"), settings, rng)
        if parts is not None:
            found["gaussians"] = parts
    if not found:
        found["gaussian"] = whole.population, whole.evidence
    kind = max(found, key=lambda one: _evidence(found[one]))
    population = found[kind][0]
    if kind != "points":
        population = gaussians.with_doubt(users, population, settings.reach)
    progress("learning the population", 4, 4)
    return Contest(population, kind, {one: evidence for one, (_, evidence) in found.items()})


def _whole(users: Sums, settings: Settings) -> _Whole:
    """One Gaussian: its spread as it is, or drawn to a round one as far as that explains more."""
    start = gaussians.everybody(users, settings.noise)
    full = gaussians.learn(users, start, noise=settings.noise, threads=settings.threads)
    mass = len(users) * float(posterior_of(users, full[0]).own.mean()) ** 2
    free = users.dim * (users.dim + 1) / 2
    best, paid, last = full, free, full[0]
    round_one = _rounded(full[0])
    for share in _ROUNDER:
        last, evidence = gaussians.learn(
            users, last, round_one, weight_of_base=share * max(mass, 1.0), noise=settings.noise,
            schedule=_SHORT, threads=settings.threads,
        )  # fmt: skip
        price = max(free / (1 + share), 1.0)
        if evidence - price > best[1] - paid:
            best, paid = (last, evidence), price
    centre = users.dim * float(np.log1p(_BROADER)) / 2
    price = paid / 2 + float(np.log(len(users))) / 2 + centre
    return _Whole(best[0], best[1] - price, price, posterior_of(users, best[0]).theta)


def _rounded(population: Population) -> Population:
    """The same with a spread that has no direction."""
    dim = population.dim
    trace = float(np.trace(packed.unpack(population.spread)[0]))
    return replace(population, spread=packed.pack(np.eye(dim) * trace / dim)[np.newaxis])


def _best_points(
    users: Sums, whole: _Whole, limit: float, settings: Settings, rng: np.random.Generator
) -> Found:
    """Points from several starts, then with new ones among them for as long as that gains; or only one."""
    centre, round_one = whole.population.centre[0], _rounded(whole.population).spread[0]
    doubt = gaussians.with_doubt(users, whole.population, settings.reach).doubt[0]
    spread = whole.population.spread[0] + _BROADER * doubt
    known = settings.noise is not None
    search = Search(users, Beliefs.of(centre, spread + _UNSEEN * round_one), known, settings.threads, limit)
    alike, differ = _alike(users, whole, settings)

    def some(k: int) -> FloatArray:
        return whole.theta[rng.choice(len(users), min(len(users), k), replace=False)]

    led = leaders(posterior_of(users, whole.population))
    starts = [Start(led, 1.0), Start(led, 0.6), Start(some(_SCATTERED), 0.2)]
    best = search.best(starts, whole.population.noise)
    if best[1] - alike[1] < _PROMISING * (limit - alike[1]):
        return best if differ else max(alike, best, key=_evidence)
    for _ in range(_ROUNDS):
        here = best[0].centre
        more = [Start(np.vstack([here, some(max(_NEW, len(here)))]), heat) for heat in _heats(len(here))]
        gained = search.best(more, best[0].noise)
        gain = gained[1] - best[1]
        best = gained if gain > 0 else best
        if gain < _WORTH * abs(best[1]) or best[1] + _PROMISE * gain < limit:
            break
    best = search.final(best)
    return best if differ else max(alike, best, key=_evidence)


def _alike(users: Sums, whole: _Whole, settings: Settings) -> tuple[Found, bool]:
    """One point, with the prices of the one Gaussian that it competes with; whether users surely differ."""
    gram = users.gram.sum(axis=0) / whole.population.noise
    gram[packed.diagonal_positions(users.dim)] += 1e-9 * gram[packed.diagonal_positions(users.dim)].max()
    covariance, _ = inverse(gram[np.newaxis] / _VAGUE)
    centre = whole.population.centre
    search = Search(users, Beliefs.of(centre[0], covariance[0]), settings.noise is not None, settings.threads)
    point, _ = search.final(search.best([Start(centre, 1.0)], whole.population.noise))
    certain = replace(point, doubt=np.zeros_like(point.doubt))
    evidence = expect(users, certain).evidence
    differ = _most_of_round(users, whole, point, settings.noise) - evidence > _DIFFER
    return (point, evidence - whole.price), differ


def _most_of_round(users: Sums, whole: _Whole, point: Population, noise: float | None) -> float:
    """Largest log evidence of a round spread around one centre: a spread is learned slowly towards zero."""
    round_one = replace(_rounded(whole.population), centre=point.centre, noise=point.noise)
    found = []
    for size in _SIZES:
        population = replace(round_one, spread=size * round_one.spread)
        for _ in range(_SETTLE):
            seen = expect(users, population)
            population = replace(
                population,
                centre=population.centre + seen.first / seen.mass[:, np.newaxis],
                noise=seen.residual / users.n_samples if noise is None else noise,
            )
        found.append(expect(users, population).evidence)
    return max(found)


def _evidence(found: Found) -> float:
    return found[1]


def _best_gaussians(
    users: Sums,
    whole: _Whole,
    parts: Found | None,
    exact: Found | None,
    settings: Settings,
    rng: np.random.Generator,
) -> Found | None:
    """Several Gaussians: more parts while they promise to win, or tight ones around points that win."""
    limit = -np.inf if exact is None else exact[1]
    if parts is not None and parts[0].n_components == _FEW[-1][0] and parts[1] > limit:
        parts = _cut_up(users, whole, parts, _MANY, settings, rng) or parts
    if exact is not None and exact[1] > max(whole.evidence, -np.inf if parts is None else parts[1]):
        return _around(users, whole, exact, settings) or parts
    return parts


def _cut_up(
    users: Sums,
    whole: _Whole,
    best: Found,
    sizes: tuple[tuple[int, int], ...],
    settings: Settings,
    rng: np.random.Generator,
) -> Found | None:
    """Best of ever more parts, None where not even the first number gains."""
    found = None
    for k, n_starts in sizes:
        if k * 2 * users.dim > len(users):
            break
        tried = _cut(users, whole, [_parts(whole, k, rng) for _ in range(n_starts)], settings)
        if tried[1] <= (best if found is None else found)[1]:
            break
        found = tried
    return found


def _heats(n_points: int) -> tuple[float, ...]:
    return _AGAIN if n_points < _COSTLY else _AGAIN[:2] if n_points < 4 * _COSTLY else _AGAIN[1:2]


def _around(users: Sums, whole: _Whole, exact: Found, settings: Settings) -> Found | None:
    """Gaussians of one spread, tightly around points; given up soon unless they do better."""
    around, bound = exact
    k = around.n_components
    if not 1 < k <= _MOST_AROUND_POINTS:
        return None
    spread = np.repeat(_TIGHT * _rounded(whole.population).spread, k, axis=0)
    population = replace(around, spread=spread, doubt=np.zeros_like(spread))
    certain = replace(around, doubt=np.zeros_like(spread))
    centres = max(expect(users, certain).evidence - bound, 0.0)  # what the points paid for their centres

    def learned(start: Population, schedule: Schedule, share: float = 0.0) -> Found:
        mass = len(users) * float(posterior_of(users, start).own.mean()) ** 2 if share else 0.0
        population, evidence = gaussians.learn(
            users, start, _rounded(start), weight_of_base=share * mass, noise=settings.noise,
            schedule=schedule, shared=True, threads=settings.threads,
        )  # fmt: skip
        free = users.dim * (users.dim + 1) / 2 / (1 + share)
        return population, evidence - centres * population.n_components / k - free / 2

    best: Found = population, -np.inf
    for schedule in (_TRIAL, _SHORT):
        best = learned(best[0], schedule)
        if best[1] <= bound:
            return None
    start = _without_overlaps(best[0])
    return max((best, *(learned(start, _SHORT, share) for share in _ROUNDER)), key=_evidence)


def _without_overlaps(population: Population) -> Population:
    """The same with Gaussians made one whose centres are nearer than two users of one are on average."""
    precision = packed.unpack(population.precision[0])[0]
    kept: list[int] = []
    centre, weight = population.centre.copy(), population.weight.copy()
    for k in np.argsort(-weight, kind="stable").tolist():
        away = centre[kept] - centre[k]
        near = np.flatnonzero(np.einsum("ki,ij,kj->k", away, precision, away) < 2 * population.dim)
        if not len(near):
            kept.append(k)
            continue
        other = kept[int(near[0])]
        together = weight[other] + weight[k]
        centre[other] += (centre[k] - centre[other]) * weight[k] / together
        weight[other] = together
    return replace(
        population,
        log_weight=np.log(weight[kept]),
        centre=centre[kept],
        spread=population.spread[kept],
        doubt=population.doubt[kept],
    )


def _cut(
    users: Sums,
    whole: _Whole,
    starts: list[Population],
    settings: Settings,
    schedule: Schedule = _SHORT,
) -> Found:
    """Gaussians from the best of the starts, and their penalised evidence."""

    def one(start: Population) -> Found:
        population, evidence = gaussians.learn(
            users, start, whole.population, weight_of_base=_PULL, noise=settings.noise, schedule=schedule
        )
        return population, evidence - whole.price - _price(users, population)

    with ThreadPoolExecutor(settings.threads) as pool:
        return max(pool.map(one, starts), key=_evidence)


def _parts(whole: _Whole, k: int, rng: np.random.Generator) -> Population:
    """Start: users cut in k parts by their posterior means, in the metric of the spread."""
    root = np.linalg.cholesky(packed.unpack(whole.population.spread)[0])
    at = np.linalg.solve(root, (whole.theta - whole.population.centre[0]).T).T
    centre = at[rng.choice(len(at), min(len(at), k), replace=False)]
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
    return float(_OPTIMISM * (price.sum() - price.max()))
