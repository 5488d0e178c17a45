r"""Facts about a log, each a number that a person can use.

Takes: `UserStatistics` and what was `Watched`.
Gives: `Facts`.
Paper: regularity (lambda_a, its smoothed form), delta-sufficient users, the thresholds of both algorithms.
Next: `recommend`.
"""

import math
from dataclasses import dataclass

import numpy as np

from coterie import packed, theory
from coterie.advice.watch import Watched
from coterie.confidence import IID, Confidence, estimate_noise
from coterie.errors import LogError
from coterie.evaluation.offers import offers_of_column, shared_offers
from coterie.logs import Logs
from coterie.packed import FloatArray
from coterie.statistics import UserStatistics

_QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_SAME = 1e-12
_GAPS = (2.0, 1.0, 0.5, 0.25, 0.1)
_DIRECTIONS = 256


@dataclass(frozen=True)
class Rewards:
    """Kind ("binary", "two values", "counts", "few values", "bounded" or "real"), ends, mean and noise.

    `noise` is the residual standard deviation within users, None where too few rows are left for it.
    """

    kind: str
    low: float
    high: float
    mean: float
    noise: float | None


@dataclass(frozen=True)
class Counts:
    """Rows per user: quantiles by share of users, and how many users have none, one, fewer than d."""

    quantiles: dict[str, float]
    none: int
    one: int
    fewer_than_d: int


@dataclass(frozen=True)
class Actions:
    r"""How actions cover the space.

    `effective_rank` is the exponential of the entropy of the eigenvalues of the mean a a'; `rank` counts
    those that are not 0; `covered` is the share of users whose own actions span all coordinates.
    `regularity` is lambda_a, the smallest of the eigenvalues, in the units of the longest action.
    """

    longest: float | None
    mean_square: float
    rank: int
    effective_rank: float
    covered: float
    regularity: float
    smoothed: float | None
    candidates: int | None
    constant: tuple[str, ...]
    duplicated: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Sufficiency:
    """Users who are delta-sufficient at a gap (in scaled units), and the count that it takes."""

    gap: float
    needed: float
    users: int


@dataclass(frozen=True)
class Facts:
    """Everything that is known of a log before an algorithm is fitted."""

    rows: int
    users: int
    dim: int
    time: tuple[str, str] | None
    backward: int
    counts: Counts
    rewards: Rewards
    actions: Actions
    sufficient: tuple[Sufficiency, ...]
    propensities: tuple[float, float] | None


def facts_of(
    logs: Logs, stats: UserStatistics, sample: UserStatistics, seen: Watched, failure_prob: float
) -> Facts:
    """Facts of a log that was summed and watched; `sample` are the users on whom dear sums are spent."""
    actions = _actions(logs, stats, sample, seen)
    rewards = _rewards(sample, seen)
    return Facts(
        rows=seen.n_rows,
        users=stats.n_users,
        dim=stats.dim,
        time=seen.span(),
        backward=seen.backward,
        counts=counts_of(stats),
        rewards=rewards,
        actions=actions,
        sufficient=_sufficient(stats, actions, rewards, failure_prob),
        propensities=seen.propensities if seen.propensities[0] <= 1 else None,
    )


def counts_of(stats: UserStatistics) -> Counts:
    """Rows per user.

    >>> sums = {"moment": np.zeros((3, 1)), "gram": np.zeros((3, 1)), "reward_square": np.zeros(3)}
    >>> stats = UserStatistics.from_arrays(users=[1, 2, 3], count=[0, 1, 5], **sums)
    >>> counts_of(stats).quantiles["50%"], counts_of(stats).one
    (1.0, 1)
    """
    values = np.quantile(stats.count, _QUANTILES)
    return Counts(
        quantiles={f"{share:.0%}": float(v) for share, v in zip(_QUANTILES, values, strict=True)},
        none=int(np.count_nonzero(stats.count == 0)),
        one=int(np.count_nonzero((stats.count > 0) & (stats.count <= 1))),
        fewer_than_d=int(np.count_nonzero(stats.count < stats.dim)),
    )


def scale_of(stats: UserStatistics) -> float:
    """Length that actions are divided by when fitting."""
    longest = stats.max_norm
    return longest if longest is not None and longest > 1 + 1e-9 else 1.0


def _rewards(sample: UserStatistics, seen: Watched) -> Rewards:
    try:
        noise: float | None = estimate_noise(sample)
    except LogError:
        noise = None
    return Rewards(_kind(seen), seen.low, seen.high, seen.total / seen.n_rows, noise)


def _kind(seen: Watched) -> str:
    few = seen.kinds
    if few is not None and few <= {0.0, 1.0}:
        return "binary"
    if few is not None and len(few) == 2:  # noqa: PLR2004
        return "two values"
    if few is not None:
        return "few values"
    if seen.whole and seen.low >= 0:
        return "counts"
    return "bounded" if seen.low >= 0 and seen.high <= 1 else "real"


def _actions(logs: Logs, stats: UserStatistics, sample: UserStatistics, seen: Watched) -> Actions:
    scale = scale_of(stats)
    mean = stats.packed_gram.sum(axis=0) / max(stats.n_samples, 1.0)
    square = packed.unpack(mean[np.newaxis])[0]
    values = np.maximum(np.linalg.eigvalsh(square), 0.0)
    share = values[values > 0] / values.sum() if values.any() else np.ones(1)
    vectors = _candidate_vectors(logs, seen)
    regularity = float(values[0]) / scale**2 if values[0] > values[-1] * stats.dim * _SAME else 0.0
    names = stats.features or tuple(f"coordinate {j}" for j in range(stats.dim))
    return Actions(
        longest=stats.max_norm,
        mean_square=float(np.trace(square)),
        rank=int(np.count_nonzero(values > values[-1] * stats.dim * _SAME)),
        effective_rank=float(np.exp(-(share * np.log(share)).sum())),
        covered=_covered(sample),
        regularity=regularity,
        smoothed=_smoothed(vectors, regularity, scale),
        candidates=None if vectors is None else vectors[1],
        constant=tuple(n for n, c in zip(names, seen.constant, strict=True) if c and n != "intercept"),
        duplicated=_duplicated(square, names),
    )


def _covered(stats: UserStatistics) -> float:
    """Share of users whose Gram has full rank; those with fewer rows than d cannot."""
    possible = np.flatnonzero(stats.count >= stats.dim)
    full = 0
    for part in packed.chunks(len(possible), stats.dim):
        values = np.linalg.eigvalsh(packed.unpack(stats.packed_gram[possible[part]]))
        full += int(np.count_nonzero(values[:, 0] > values[:, -1] * stats.dim * _SAME))
    return full / stats.n_users


def _duplicated(square: FloatArray, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Pairs of coordinates whose difference has no length."""
    size = np.diag(square)
    apart = size[:, np.newaxis] + size - 2 * square
    same = (apart <= _SAME * (size[:, np.newaxis] + size)) & (size > 0)
    return tuple((names[j], names[k]) for j, k in np.argwhere(np.triu(same, 1)).tolist())


def _candidate_vectors(logs: Logs, seen: Watched) -> tuple[FloatArray, int] | None:
    """Some candidates (n, d), and the size of the largest set; None where no sets were named."""
    offers = offers_of_column(logs, seen.candidates) if seen.candidates else shared_offers(logs, 1)
    return None if offers is None else (offers.vector[offers.code], int(offers.length.max()))


def _smoothed(vectors: tuple[FloatArray, int] | None, regularity: float, scale: float) -> float | None:
    r"""The smoothed regularity with the variance of (theta' a)^2 that the candidates show.

    The variance is the largest one over the coordinates' principal directions and random ones: a lower
    estimate of the bound that the paper wants, so the result errs upwards.
    """
    if vectors is None or regularity <= 0:
        return None
    action = vectors[0] / scale
    _, _, principal = np.linalg.svd(action - action.mean(axis=0), full_matrices=False)
    extra = np.random.default_rng(0).standard_normal((_DIRECTIONS, action.shape[1]))
    directions = np.vstack([principal, extra / np.linalg.norm(extra, axis=1, keepdims=True)])
    variance = float(((action @ directions.T) ** 2).var(axis=0).max())
    return theory.smoothed_regularity(regularity, variance, vectors[1])


def _sufficient(
    stats: UserStatistics, actions: Actions, rewards: Rewards, failure_prob: float
) -> tuple[Sufficiency, ...]:
    """Who is delta-sufficient at which gap, with lambda_a (or its smoothed form) from the data."""
    x = actions.regularity if actions.smoothed is None else actions.smoothed
    if not x > 0 or rewards.noise is None or not rewards.noise > 0:
        return ()
    found = []
    for gap in _GAPS:
        needed = theory.sufficient_samples(
            stats.n_users, stats.dim, failure_prob, IID(x), gap / rewards.noise
        )
        if math.isfinite(needed):
            found.append(Sufficiency(gap, needed, int(np.count_nonzero(stats.count >= needed))))
    return tuple(found)


def confidence_of(rewards: Rewards, failure_prob: float) -> Confidence:
    """Settings by which radii are measured: the noise as estimated, 1 where it could not be."""
    return Confidence(noise=rewards.noise if rewards.noise is not None else 1.0, failure_prob=failure_prob)
