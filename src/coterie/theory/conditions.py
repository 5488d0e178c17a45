"""Which of the paper's conditions hold for a data set, so that its guarantees are in force.

Takes: the counts of all users and a `Confidence`; for the lower bound a precision matrix and an action.
Gives: a `Report`: every condition with its two numbers, whether it holds, and a sentence.
Paper: the lemma on R and W; the last lemma; Theorems 1, 2 and 4; the inputs of Algorithms 1 and 2.
Next: `coterie.worlds` and `coterie.evaluation`.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from coterie.checks import at_least, positive
from coterie.confidence import Confidence, Observed
from coterie.errors import ParameterError
from coterie.packed import FloatArray
from coterie.theory import checks
from coterie.theory.sufficiency import min_samples, sufficient_samples
from coterie.theory.verdict import Condition, Report

_SLACK = 1e-9  # rounding allowed on lengths of actions, as `fit` allows it


def check_conditions(
    count: ArrayLike,
    dim: int,
    confidence: Confidence,
    *,
    algorithm: Literal["OffC2LUB", "OffCLUB"] = "OffC2LUB",
    graph_scale: float = 1.0,
    gap: float | None = None,
    max_norm: float | None = None,
) -> Report:
    r"""Report on the conditions that the paper's guarantees for one algorithm rest on.

    .. math:: \lambda \le d \log\left(1 + \tfrac{\min N}{\lambda d}\right) + 2 \log\tfrac{2U}{\delta}, \quad
        \delta \le \frac{2U}{1 + \max N / (\lambda d)}

    and alpha >= 1 (Off-C2LUB) or alpha = 1 with lambda > 1 (Off-CLUB); regularity <= 1/d; N >= N_min.
    Off-CLUB needs the first two as well, though the paper does not print them there. Under `Observed()`
    the last two are left out: no regularity is assumed, and the bounds in terms of counts do not apply. For
    noise R and ||theta|| <= S the right side of the first is multiplied by (R / S)^2. That rewards are
    linear and actions regular cannot be read off counts and is not reported.

    Parameters
    ----------
    count : (U,)
        Samples of all users.
    gap : float, optional
        gamma, the true gap; adds delta-sufficiency for Off-CLUB.
    max_norm : float, optional
        Largest action length, `UserStatistics.max_norm` after scaling; adds that it is at most 1.

    Examples
    --------
    The lambda condition's right side is log(1 + 3 / 1) + 2 log(2 / 0.02) = 1.386 + 9.210:

    >>> from coterie.confidence import IID
    >>> report = check_conditions([3], 1, Confidence(ridge=1.0, failure_prob=0.02, regularity=IID(0.5)))
    >>> round(report["ridge"].limit, 3), report["ridge"].holds, report["smallest count"].holds
    (10.597, True, False)
    """
    if algorithm not in ("OffC2LUB", "OffCLUB"):
        raise ParameterError(
            f"algorithm is {algorithm!r}; the paper has 'OffC2LUB' and 'OffCLUB', so give one"
        )
    number = checks.counts(count)
    rows = [*_scale_rows(algorithm, graph_scale, confidence), *_prior_rows(number, dim, confidence)]
    rows += _regularity_rows(number, dim, confidence)
    if algorithm == "OffCLUB" and gap is not None:
        needed = sufficient_samples(number.size, dim, confidence.failure_prob, confidence.regularity, gap)
        rows.append(
            Condition("delta-sufficient count", float(number.min()), ">=", needed, "Theorem 1 (every user)")
        )
    if max_norm is not None:
        rows.append(Condition("action length", max_norm, "<=", 1 + _SLACK, "the setting"))
    return Report(tuple(rows))


def check_lower_bound(precision: FloatArray, action: ArrayLike, count: float, pooled_count: float) -> Report:
    r"""Report on the conditions of the lower bound, for the cluster's precision M and for M / N.

    .. math:: \|M^{-1/2} a^*\| \le 2 \sqrt2, \qquad \|(M / N)^{-1/2} a^*\| \le 2 \sqrt2, \qquad N_u \ge 8 d

    The paper prints the first, which every action of length at most 1 meets as soon as the smallest
    eigenvalue of M is 1/8, so by the priors alone where lambda |V| >= 1/8. The second does not change when
    every sample is doubled, and with it sqrt(8 d / N) is 2 sqrt 2 times sqrt(d / N). Theorem 4.

    Parameters
    ----------
    precision : (d, d)
        M, the sum of M_v over the true cluster of the user, priors included.
    action : (d,)
        a*, the user's best action.
    count, pooled_count : float
        N_u and the cluster's N.

    Examples
    --------
    M = 4 I, N = 16 and a unit action: 1 / sqrt(4) and 1 / sqrt(4 / 16):

    >>> report = check_lower_bound(4 * np.eye(2), [1.0, 0.0], count=16, pooled_count=16)
    >>> report["norm by M"].value, report["norm by M / N"].value, report.holds
    (0.5, 2.0, True)
    """
    matrix, best = np.asarray(precision, dtype=np.float64), np.asarray(action, dtype=np.float64)
    if best.ndim != 1 or matrix.shape != (best.size, best.size):
        raise ParameterError(
            f"precision has shape {matrix.shape} and action {best.shape}; give shapes (d, d) and (d,)"
        )
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError as error:
        raise ParameterError("precision is not positive definite; give the Gram sum plus a ridge") from error
    norm = float(np.linalg.norm(np.linalg.solve(factor, best)))
    total = positive("pooled_count", pooled_count)
    limit = 2 * math.sqrt(2)
    return Report(
        (
            Condition("norm by M", norm, "<=", limit, "Theorem 4 as printed"),
            Condition("norm by M / N", norm * math.sqrt(total), "<=", limit, "Theorem 4 with M normalised"),
            Condition("count", at_least("count", count, 0), ">=", 8.0 * best.size, "Theorem 4"),
        )
    )


def _scale_rows(algorithm: str, graph_scale: float, confidence: Confidence) -> list[Condition]:
    scale = at_least("graph_scale", graph_scale, 0)
    if algorithm == "OffC2LUB":
        return [Condition("graph_scale", scale, ">=", 1.0, "the lemma on R and W")]
    return [
        Condition("graph_scale", scale, "=", 1.0, "Theorem 1"),
        Condition("ridge of the input", confidence.ridge, ">", 1.0, "Algorithm 2, line 1"),
        Condition("failure_prob of the theorem", confidence.failure_prob, "<", 0.5, "Theorem 1"),
    ]


def _prior_rows(count: FloatArray, dim: int, confidence: Confidence) -> list[Condition]:
    """The two conditions under which a radius is at most 4 R sqrt(max(2, d) log(2U/delta) / (x N))."""
    prior = confidence.ridge * at_least("dim", dim, 1)
    union = checks.log_users(count.size, confidence.failure_prob)
    noise, bound = checks.noise_value(confidence), confidence.theta_bound
    factor = (noise / bound) ** 2 if bound > 0 else math.inf
    largest_ridge = factor * (dim * math.log1p(count.min() / prior) + 2 * union)
    largest_prob = 2 * count.size / (1 + count.max() / prior)
    return [
        Condition("ridge", confidence.ridge, "<=", largest_ridge, "the lemma on R and W"),
        Condition("failure_prob", confidence.failure_prob, "<=", largest_prob, "the lemma on R and W"),
    ]


def _regularity_rows(count: FloatArray, dim: int, confidence: Confidence) -> list[Condition]:
    if isinstance(confidence.regularity, Observed):
        return []
    x = checks.regularity_value(confidence.regularity)
    enough = min_samples(count.size, dim, confidence.failure_prob, x)
    passing = int(np.count_nonzero(count >= enough))
    return [
        Condition("regularity", x, "<=", 1 / dim, "an action length of at most 1"),
        Condition(
            "smallest count",
            float(count.min()),
            ">=",
            enough,
            f"N_min (met by {passing} of {count.size} users)",
        ),
    ]
