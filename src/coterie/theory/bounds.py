"""The paper's bounds on the suboptimality gap, with every constant that its proofs give.

Takes: what was pooled for one user as numbers, and a `Confidence`.
Gives: the upper bounds of Theorems 1 and 2 in their forms, and the lower bound.
Paper: the last displays of the proofs of Theorem 1 (Off-CLUB) and Theorem 2 (Off-C2LUB); Theorem 4.
Next: `coterie.theory.conditions`.
"""

import math
from typing import Literal

from coterie.checks import at_least, positive
from coterie.confidence import Confidence, multiplier
from coterie.errors import ParameterError
from coterie.theory import checks
from coterie.theory.sufficiency import min_samples

Theorem = Literal[1, 2, "2-known", "2-fixed"]


def suboptimality_bound(  # noqa: PLR0913 (one keyword per symbol of the theorems)
    theorem: Theorem,
    *,
    confidence: Confidence,
    dim: int,
    n_users: int,
    pooled_count: float,
    n_pooled: float = 1,
    count: float | None = None,
    share: float = 0.0,
    gap: float = 0.0,
    largest_count: float | None = None,
) -> float:
    r"""Upper bound on how far the chosen action's true reward is below the best one's.

    .. math:: \text{Theorem 1:}\quad \frac{2 \beta}{\sqrt{\lambda + x N / 2}},
        \quad \beta = R \sqrt{d \log(1 + N / (\lambda d)) + 2 \log(2U / \delta)} + S \sqrt{\lambda}

    .. math:: \text{Theorem 2:}\quad 2 \Psi + \frac{\sqrt2\, \beta(V)}{\sqrt{x N_V}}, \quad
        \Psi = \frac{\sqrt2\, \beta(V)}{\sqrt{x N_V}} + \frac{2 \lambda U S}{x N_V}
        + \frac{2 \eta_W \hat\gamma}{x}

    .. math:: \beta(V) = R \sqrt{d \log(1 + N_V / (|V| \lambda d)) + 2 \log(2U / \delta)}
        + S \sqrt{|V| \lambda}

    Each is claimed with probability 1 - 2 delta. The paper has R = S = 1, and x is the regularity. Infinite
    where `count` is below N_min, since no eigenvalue is proven there. Whether the remaining conditions hold
    is for `check_conditions` and `is_sufficient` to say. Theorem 2's proof takes the noise of a set chosen
    by looking at rewards for that of a fixed set; see `docs/deviations.md`.

    Parameters
    ----------
    theorem : 1, 2, "2-known" or "2-fixed"
        1: Off-CLUB. 2: Off-C2LUB. "2-known": the corollary for gap = gamma, where nobody unlike is pooled.
        "2-fixed": the fixed-parameter form, where `concrete_sets` gives pooled_count
        (`homogeneous_count`), n_pooled (`n_possible`) and share, and the logarithm takes its largest
        value over users.
    confidence : Confidence
        lambda, delta, R, S and x; the regularity must be a number, `Smoothed` or `IID`.
    pooled_count, n_pooled : float
        N and the users |V| that hold it.
    count : float, optional
        Smallest N_v among the pooled; pooled_count / n_pooled where left out.
    share, gap : float
        eta_W and gamma-hat, for 2 and "2-fixed".
    largest_count : float, optional
        Largest N_v over all users, for "2-fixed" only.

    Examples
    --------
    Without noise beta = sqrt(1) = 1, and lambda + x N / 2 = 1 + 2499:

    >>> from coterie.confidence import IID
    >>> quiet = Confidence(ridge=1.0, noise=0.0, regularity=IID(0.5))
    >>> suboptimality_bound(1, confidence=quiet, dim=1, n_users=1, pooled_count=9996)
    0.04

    Four users, 40000 samples: beta = 2, Psi = 0.02 + 2 * 100 / 20000 + 2 * 0.1 * 0.05 / 0.5 = 0.05:

    >>> bound = suboptimality_bound(
    ...     2, confidence=quiet, dim=1, n_users=100, pooled_count=40000, n_pooled=4, share=0.1, gap=0.05)
    >>> round(bound, 6)
    0.12
    """
    if theorem not in (1, 2, "2-known", "2-fixed"):
        raise ParameterError(
            f"theorem is {theorem!r}; the bounds are of 1, 2, '2-known' and '2-fixed', so give one"
        )
    checks.noise_value(confidence)
    x = checks.regularity_value(confidence.regularity)
    total = at_least("pooled_count", pooled_count, 0)
    heads = at_least("n_pooled", n_pooled, 1)
    smallest = total / heads if count is None else at_least("count", count, 0)
    if total == 0 or smallest < min_samples(n_users, dim, confidence.failure_prob, x):
        return math.inf
    if theorem == 1:
        beta = float(multiplier(confidence, total, dim=dim, n_users=n_users))
        return 2 * beta / math.sqrt(confidence.ridge + x * total / 2)
    inside = total if theorem != "2-fixed" else _largest(largest_count) * heads
    beta = float(multiplier(confidence, inside, dim=dim, n_users=n_users, n_priors=heads, proof=True))
    noise = math.sqrt(2) * beta / math.sqrt(x * total)
    prior = 2 * confidence.ridge * n_users * confidence.theta_bound / (x * total)
    foreign = _share(theorem, share)
    psi = noise + prior + 2 * foreign * at_least("gap", gap, 0) / x
    return 2 * psi + noise


def lower_bound(dim: int, pooled_count: float) -> float:
    r"""Suboptimality that no algorithm beats on its worst instance, given the samples of the true cluster.

    .. math:: \sqrt{8 d / N}

    A worst case over all instances with noise 1 that meet the conditions of `check_lower_bound`, where an
    algorithm that is good at most of them may still fail; not a floor for any one instance. Theorem 4.

    Examples
    --------
    >>> lower_bound(2, 1600)
    0.1
    """
    return math.sqrt(8 * at_least("dim", dim, 1) / positive("pooled_count", pooled_count))


def _largest(largest_count: float | None) -> float:
    if largest_count is None:
        raise ParameterError(
            "largest_count is missing; '2-fixed' needs the largest count over all users, so give it"
        )
    return at_least("largest_count", largest_count, 0)


def _share(theorem: Theorem, share: float) -> float:
    """eta_W, refused outside [0, 1] and, where nobody unlike can be pooled, above 0."""
    most = 0 if theorem == "2-known" else 1
    if not 0 <= share <= most:
        raise ParameterError(f"share is {share}; theorem {theorem!r} allows 0 to {most}, so lower it")
    return share
