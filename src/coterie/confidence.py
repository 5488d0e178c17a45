r"""Stage 3, confidence: how far each user's own estimate can be from the truth.

Takes: `UserStatistics` and a `Confidence`.
Gives: `Estimates`: per user theta-hat and the radius CI_u; and the multiplier beta and N_min.
Paper: the equation for M_u, b_u, CI_u; Algorithm 1, line 2; the appendix on regularity.
Next: `coterie.neighbourhood`.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np

from coterie import checks, packed
from coterie.errors import LogError, ParameterError, warn
from coterie.logs.logs import default_threads, in_order
from coterie.packed import FloatArray
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics

_MIN_DEGREES_OF_FREEDOM = 30  # below this an estimated noise is itself mostly noise


class Regularity(Protocol):
    """What is assumed of the logged actions, so that counts bound eigenvalues."""

    def information(self, gram: FloatArray, count: FloatArray, ridge: float) -> FloatArray:
        r"""Lower bound (n,) on the smallest eigenvalue of each M_u, from packed Grams and counts."""

    def min_samples(self, n_users: int, dim: int, failure_prob: float) -> float:
        """N_min: the count from which that bound is proven."""


@dataclass(frozen=True)
class Smoothed:
    r"""The paper's main assumption, with the smoothed regularity parameter as a known number.

    The smallest eigenvalue of M_u is taken to be `value * N_u / 2`. See `theory.smoothed_regularity`
    for the integral that the paper defines it by. Proven only from N_min samples on.
    """

    value: float

    def __post_init__(self) -> None:
        checks.positive("the regularity of Smoothed", self.value)

    def information(self, gram: FloatArray, count: FloatArray, ridge: float) -> FloatArray:  # noqa: ARG002
        """Half of `value` for every sample."""
        return self.value * count / 2

    def min_samples(self, n_users: int, dim: int, failure_prob: float) -> float:
        """The paper's N_min."""
        return min_samples_of(self.value, n_users, dim, failure_prob)


@dataclass(frozen=True)
class IID:
    r"""The paper's alternative assumption: actions drawn independently, smallest eigenvalue `value`.

    `value` is lambda_a, the smallest eigenvalue of E[a a']; it takes the place of the smoothed
    parameter everywhere, as the appendix prescribes.
    """

    value: float

    def __post_init__(self) -> None:
        checks.positive("the regularity of IID", self.value)

    def information(self, gram: FloatArray, count: FloatArray, ridge: float) -> FloatArray:  # noqa: ARG002
        """Half of `value` for every sample."""
        return self.value * count / 2

    def min_samples(self, n_users: int, dim: int, failure_prob: float) -> float:
        """The paper's N_min, with lambda_a in place of the smoothed parameter."""
        return min_samples_of(self.value, n_users, dim, failure_prob)


@dataclass(frozen=True)
class Observed:
    r"""No assumption: each user's own smallest eigenvalue of `M_u = ridge I + gram` is used.

    The paper's remark "beyond regularity". A user without data has the finite radius
    multiplier / sqrt(ridge); N_min is 0, since it exists only to bound that eigenvalue.
    The radius need not shrink with the count: a user whose actions miss a direction stays wide.
    """

    def information(self, gram: FloatArray, count: FloatArray, ridge: float) -> FloatArray:  # noqa: ARG002
        """The smallest eigenvalue itself."""
        return packed.smallest_eigenvalues(gram) + ridge

    def min_samples(self, n_users: int, dim: int, failure_prob: float) -> float:  # noqa: ARG002
        """Nothing to wait for."""
        return 0.0


@dataclass(frozen=True)
class Confidence:
    """What decides how wide the confidence radii and the bonuses are.

    Parameters
    ----------
    ridge : float
        lambda, the ridge prior, in the units in which actions have at most length 1.
    failure_prob : float
        delta, the probability with which the guarantees may fail.
    noise : float or "estimate"
        R, the sub-Gaussian scale of the rewards' noise; the paper sets it to 1. "estimate" takes the
        residual standard deviation of the users' own least squares: a standard deviation, not a
        sub-Gaussian bound, so the guarantees then hold only as far as the noise is near to Gaussian.
    theta_bound : float
        Largest length of a preference vector; the paper assumes 1 without saying so.
    regularity : Regularity
        `Observed()`, `Smoothed(value)` or `IID(value)`.

    Examples
    --------
    >>> Confidence(noise=0.1).ridge
    0.5
    """

    ridge: float = 0.5
    failure_prob: float = 0.01
    noise: float | Literal["estimate"] = 1.0
    theta_bound: float = 1.0
    regularity: Regularity = field(default_factory=Observed)

    def __post_init__(self) -> None:
        checks.positive("ridge", self.ridge)
        checks.probability("failure_prob", self.failure_prob)
        checks.number_or("noise", self.noise, ("estimate",))
        checks.at_least("theta_bound", self.theta_bound, 0)
        if isinstance(self.regularity, type) or not hasattr(self.regularity, "information"):
            raise ParameterError(
                f"regularity is {self.regularity!r}; give Observed(), Smoothed(value) or IID(value)"
            )

    def resolved(self, stats: UserStatistics) -> "Confidence":
        """Same settings with `noise` as a number, estimated from the statistics where asked for."""
        return replace(self, noise=estimate_noise(stats)) if self.noise == "estimate" else self


@dataclass(frozen=True, eq=False)
class Estimates:
    """Every user's own estimate and how far it can be from the truth, in scaled units.

    `theta` (U, d), `radius` (U,), `count` (U,), the radius of a user without data, and the N_min that
    the regularity asks for.
    """

    theta: FloatArray
    radius: FloatArray
    count: FloatArray
    empty_radius: float
    min_samples: float


def min_samples_of(regularity: float, n_users: int, dim: int, failure_prob: float) -> float:
    r"""N_min as a number.

    .. math:: N_{\min} = \frac{16}{x^2} \log\frac{8 U d}{x^2 \delta}

    with x the regularity (Algorithm 1, line 2).
    """
    square = regularity * regularity
    return 16 / square * math.log(8 * n_users * dim / (square * failure_prob))


def multiplier(
    confidence: Confidence,
    count: FloatArray | float,
    *,
    dim: int,
    n_users: int,
    n_priors: FloatArray | float = 1.0,
    proof: bool = False,
) -> FloatArray:
    r"""Multiplier beta of the confidence width.

    .. math:: \beta = R \sqrt{d \log(1 + N / (\lambda n d)) + 2 \log(2 U / \delta)} + S \sqrt{\lambda}

    Parameters
    ----------
    count : (n,) or float
        N, the samples used.
    n_priors : (n,) or float
        n, how often the ridge prior was added: 1 for Off-CLUB and for a user alone, the users pooled
        for Off-C2LUB (Algorithm 1, decision phase).
    proof : bool
        End in sqrt(lambda n), as the proof of Theorem 2 does, and not in the printed sqrt(lambda).
    """
    assert not isinstance(confidence.noise, str), "resolve the noise first"  # noqa: S101
    prior = confidence.ridge * np.asarray(n_priors, dtype=np.float64)
    log_det = dim * np.log1p(np.asarray(count, dtype=np.float64) / (prior * dim))
    log_union = 2 * math.log(2 * n_users / confidence.failure_prob)
    bias = np.sqrt(prior) if proof else math.sqrt(confidence.ridge)
    spread: FloatArray = confidence.noise * np.sqrt(log_det + log_union) + confidence.theta_bound * bias
    return spread


def estimate(
    stats: UserStatistics, confidence: Confidence, scale: float = 1.0, progress: Progress = silent
) -> Estimates:
    r"""Every user's ridge estimate and radius, after dividing actions by `scale`.

    .. math:: \hat\theta_u = (\lambda I + \sum a a')^{-1} \sum r a, \quad CI_u = \beta_u / \sqrt{i_u}

    with i_u the regularity's `information`. A user without data has estimate 0; her radius is infinite
    under `Smoothed` and `IID` and beta / sqrt(lambda) under `Observed`.
    """
    n, theta, information = stats.n_users, np.empty((stats.n_users, stats.dim)), np.empty(stats.n_users)

    def some(part: slice) -> int:
        gram = stats.packed_gram[part] if scale == 1 else stats.packed_gram[part] / scale**2
        theta[part] = ridge_solutions(gram, confidence.ridge, stats.moment[part] / scale)
        information[part] = confidence.regularity.information(gram, stats.count[part], confidence.ridge)
        return int(part.stop)

    for done in in_order(some, packed.chunks(n, stats.dim), default_threads()):
        progress("estimating", done, n)
    radius = radii(confidence, stats.count, information, stats.dim, stats.n_users)
    nothing = np.zeros((1, stats.packed_gram.shape[1])), np.zeros(1)
    unknown = confidence.regularity.information(*nothing, confidence.ridge)
    empty = float(radii(confidence, np.zeros(1), unknown, stats.dim, stats.n_users)[0])
    enough = confidence.regularity.min_samples(stats.n_users, stats.dim, confidence.failure_prob)
    _warn_of_useless_counts(radius, empty, stats.count, confidence.regularity)
    return Estimates(theta, radius, stats.count, empty, enough)


def factorise(gram: FloatArray, prior: FloatArray | float) -> FloatArray:
    """Square Cholesky factors of `prior I + gram`, refused where rounding leaves the sum no factor."""
    try:
        return packed.factorise(gram, prior)
    except np.linalg.LinAlgError as failure:
        raise _too_small(prior) from failure


def ridge_solutions(
    gram: FloatArray, prior: FloatArray | float, moment: FloatArray, factor: FloatArray | None = None
) -> FloatArray:
    """Solutions of `(prior I + gram) theta = moment`, and packed factors, refused in the same way."""
    try:
        return packed.ridge_solutions(gram, prior, moment, factor)
    except np.linalg.LinAlgError as failure:
        raise _too_small(prior) from failure


def _too_small(prior: FloatArray | float) -> ParameterError:
    return ParameterError(
        f"ridge {float(np.min(prior)):g} is too small beside the sums of the actions; give a larger one"
    )


def radii(
    confidence: Confidence, count: FloatArray, information: FloatArray, dim: int, n_users: int
) -> FloatArray:
    r"""Radius `CI = beta / sqrt(information)` of a user's own estimate, infinite without information."""
    wide = multiplier(confidence, count, dim=dim, n_users=n_users)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(information > 0, wide / np.sqrt(information), np.inf)


def estimate_noise(stats: UserStatistics) -> float:
    r"""Residual standard deviation of every user's own minimum-norm least squares.

    .. math:: \hat R^2 = \frac{\sum_u (\sum r^2 - b_u' G_u^+ b_u)}{\sum_u (N_u - \mathrm{rank}\, G_u)}

    It is a standard deviation: for noise that is not sub-Gaussian at this scale the radii built on it
    are too narrow. Refused where fewer than 30 degrees of freedom are left.
    """

    def some(part: slice) -> tuple[float, float]:
        explained, rank = packed.least_squares(stats.packed_gram[part], stats.moment[part])
        unexplained = np.maximum(stats.reward_square[part] - explained, 0.0)
        return float(unexplained.sum()), float(np.maximum(stats.count[part] - rank, 0.0).sum())

    residual, freedom = 0.0, 0.0
    for more, free in in_order(some, packed.chunks(stats.n_users, stats.dim), default_threads()):
        residual, freedom = residual + more, freedom + free
    if freedom < _MIN_DEGREES_OF_FREEDOM:
        raise LogError(
            f'noise="estimate" has {freedom:g} residual degrees of freedom (samples beyond the rank of '
            f"each user's actions) and needs {_MIN_DEGREES_OF_FREEDOM}; give noise as a number"
        )
    return math.sqrt(residual / freedom)


def _warn_of_useless_counts(
    radius: FloatArray, empty: float, count: FloatArray, regularity: Regularity
) -> None:
    """Say how many users know no more by the radius than a user without data would."""
    stuck = int(np.count_nonzero((radius >= empty) & (count > 0)))
    if isinstance(regularity, Observed) and stuck:
        warn(
            f"{stuck} of {len(count)} users have a radius not below that of a user without data: "
            "in some direction their actions hardly vary, so the bound on how far their estimates can be off "
            "stays as wide as with no rows. The estimates themselves stand, but Off-CLUB tells such users "
            "from hardly anybody and Off-C2LUB joins them to hardly anybody; a smaller graph_scale, which "
            "'coterie evaluate' tunes, or fewer features helps"
        )
