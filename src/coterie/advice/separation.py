r"""Do users want different things, and can pairs of them be told apart?

Takes: `UserStatistics` and the noise.
Gives: `Differences` over all users, `Pairs` of a sample of them.
Paper: ||theta_u - theta_v|| against alpha (CI_u + CI_v), the condition of both algorithms.
Next: `recommend`.
"""

import math
import warnings
from dataclasses import dataclass

import numpy as np

from coterie import packed
from coterie.confidence import Confidence, estimate
from coterie.errors import CoterieWarning
from coterie.neighbourhood.chance_distance import chance_distance
from coterie.packed import FloatArray
from coterie.statistics import UserStatistics

MOST_USERS = 1000
_QUANTILES = (0.1, 0.5, 0.9)
_LEAST_SCALE = 0.01
_RARE = 2.0  # times the typical chance distance: a pair of users who are alike is seldom this far apart


@dataclass(frozen=True)
class Differences:
    r"""Whether users differ at all, from sums alone.

    With one regression for everybody (rank p, residual sum P) against one per user (ranks q in all, residual
    sum O) of n rows, `p_value` is that of F = ((P - O) / (q - p)) / (O / (n - q)) if nobody differed.
    `between` is the variance of rewards that users' differences make, (P - O - (q - p) R^2) / n, never below
    0; `crossover` the count R^2 d / between from which a user's own regression errs less than everybody's;
    `signal` the mean square of rewards that users' own regressions explain beyond chance.
    """

    p_value: float
    between: float
    crossover: float
    signal: float


@dataclass(frozen=True)
class Pairs:
    """Distances of pairs of `users` sampled users, and the sums of their radii, both as quantiles.

    `separated` is the share of pairs that are provably different, by `graph_scale`; `chance` the typical
    distance of two users who are alike, and `scale_of_chance` the graph_scale whose median threshold is twice
    that; `stuck` the share of users whose radius is not below that of a user without data.
    """

    users: int
    distance: dict[str, float]
    threshold: dict[str, float]
    separated: dict[str, float]
    chance: float
    scale_of_chance: float
    stuck: float


def differences_of(stats: UserStatistics, noise: float | None) -> Differences | None:
    """Test and sizes of the users' differences; None where too few rows are left to tell.

    >>> def of(second):
    ...     rows = {"users": [1, 2], "count": [100, 100], "gram": [[[100.0]], [[100.0]]]}
    ...     sums = {"moment": [[100.0], [second]], "reward_square": [199.0, second**2 / 100 + 99]}
    ...     return differences_of(UserStatistics.from_arrays(**rows, **sums), 1.0)
    >>> round(of(100.0).p_value, 3), of(0.0).p_value < 0.001, round(of(0.0).between, 3)
    (1.0, True, 0.245)
    """
    from scipy.special import fdtrc

    if noise is None:
        return None
    own, freedom_own = 0.0, 0.0
    for part in packed.chunks(stats.n_users, stats.dim):
        explained, rank = packed.least_squares(stats.packed_gram[part], stats.moment[part])
        own += float(np.maximum(stats.reward_square[part] - explained, 0.0).sum())
        freedom_own += float(rank.sum())
    gram, moment = stats.packed_gram.sum(axis=0, keepdims=True), stats.moment.sum(axis=0, keepdims=True)
    explained, rank = packed.least_squares(gram, moment)
    pooled = max(float(stats.reward_square.sum() - explained[0]), own)
    n, more = stats.n_samples, freedom_own - float(rank[0])
    if more < 1 or n - freedom_own < 1:
        return None
    between = max((pooled - own - more * noise**2) / n, 0.0)
    if own <= 0:
        p_value = 0.0 if pooled > 0 else 1.0
    else:
        p_value = float(fdtrc(more, n - freedom_own, (pooled - own) / more / (own / (n - freedom_own))))
    crossover = noise**2 * stats.dim / between if between > 0 else math.inf
    signal = max((float(stats.reward_square.sum()) - own - freedom_own * noise**2) / n, 0.0)
    return Differences(p_value, between, crossover, signal)


def pairs_of(
    stats: UserStatistics, confidence: Confidence, scale: float, graph_scales: tuple[float, ...]
) -> Pairs | None:
    """Pairs among at most `MOST_USERS` random users with data; None where there are no two."""
    from scipy.spatial.distance import pdist

    known = np.flatnonzero(stats.count > 0)
    if len(known) < 2:  # noqa: PLR2004
        return None
    if len(known) > MOST_USERS:
        known = np.sort(np.random.default_rng(0).choice(known, MOST_USERS, replace=False))
    some = stats.taking(known)
    with warnings.catch_warnings():  # what it says is said by `stuck`, of the sample alone
        warnings.simplefilter("ignore", CoterieWarning)
        estimates = estimate(some, confidence, scale)
    distance = pdist(estimates.theta)
    i, j = np.triu_indices(len(known), 1)
    threshold = estimates.radius[i] + estimates.radius[j]
    chance = chance_distance(some, confidence, scale)
    middle = float(np.median(threshold))
    by_chance = rounded(min(max(_RARE * chance / middle, _LEAST_SCALE), 1.0)) if middle > 0 else 1.0
    return Pairs(
        users=len(known),
        distance=_quantiles(distance),
        threshold=_quantiles(threshold),
        separated={
            f"{g:g}": float((distance > g * threshold).mean())
            for g in sorted({*graph_scales, by_chance}, reverse=True)
        },
        chance=chance,
        scale_of_chance=by_chance,
        stuck=float((estimates.radius >= estimates.empty_radius).mean()),
    )


def rounded(value: float) -> float:
    """Two significant digits: more would claim to know more.

    >>> rounded(0.3172), rounded(14.2)
    (0.32, 14.0)
    """
    return float(np.format_float_positional(value, 2, unique=False, fractional=False))


def _quantiles(values: FloatArray) -> dict[str, float]:
    found = np.quantile(values, _QUANTILES)
    return {f"{share:.0%}": float(v) for share, v in zip(_QUANTILES, found, strict=True)}
