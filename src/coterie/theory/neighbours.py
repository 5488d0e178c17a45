"""Whom Off-C2LUB joins to a user, as far as counts decide it.

Takes: counts, who is truly alike, true distances, the gap in use and the true one, a `Confidence`.
Gives: the ranges of alpha_r, alpha_w and alpha_w', and the sets that the fixed-parameter form uses.
Paper: the lemma on the sets R and W; the theorem on the underestimation policy; "Concrete Form".
Next: `coterie.theory.bounds`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.confidence import Confidence, Regularity
from coterie.errors import ParameterError
from coterie.theory import checks
from coterie.theory.bounds import heterogeneous_share
from coterie.theory.sufficiency import min_samples


@dataclass(frozen=True, eq=False)
class ConcreteSets:
    """Neighbour sets of one user that counts alone decide, and the numbers that the bound takes of them.

    On the event of the lemma on R and W: `homogeneous` (U,) is a subset of R, `heterogeneous` (U,) a
    superset of W, `possible` (U,) a superset of V. `homogeneous_count` is N of the first, `n_possible` the
    size of the last, `share` the conservative eta_W.
    """

    homogeneous: NDArray[np.bool_]
    heterogeneous: NDArray[np.bool_]
    possible: NDArray[np.bool_]
    homogeneous_count: float
    n_possible: int
    share: float


def homogeneous_range(
    n_users: int,
    dim: int,
    failure_prob: float,
    regularity: float | Regularity,
    *,
    graph_scale: float = 1.0,
    noise: float = 1.0,
) -> tuple[float, float]:
    r"""Range [low, high) of alpha_r, which decides the users alike that are pooled.

    .. math:: \left[\frac{\sqrt{x}}{4 (\alpha + 1) \sqrt{L \max\{2, d\}}},\;
        \frac{\sqrt{x}}{2 \alpha \sqrt{L}}\right), \quad L = \log\frac{2U}{\delta}

    Users alike with enough samples are joined for certain where 1/sqrt(N_u) + 1/sqrt(N_v) is at most
    low * gap and cannot be above high * gap; between the two the noise decides, user by user. Both ends
    are divided by `noise`, which the paper sets to 1. Needs alpha >= 1 and the conditions of
    `check_conditions` on lambda and delta. Lemma on R and W.

    Examples
    --------
    delta = 2 / e makes L = 1: 1 / (8 sqrt 2) and 1 / 2:

    >>> low, high = homogeneous_range(1, 2, 2 / math.e, 1.0)
    >>> round(low, 4), round(high, 4)
    (0.0884, 0.5)
    """
    alpha = _lemma_scale(graph_scale)
    root = math.sqrt(checks.regularity_value(regularity)) / checks.positive("noise", noise)
    spread = math.sqrt(checks.log_users(n_users, failure_prob))
    width = math.sqrt(max(2.0, checks.at_least("dim", dim, 1)))
    return root / (4 * (alpha + 1) * spread * width), root / (2 * alpha * spread)


def heterogeneous_range(
    n_users: int,
    failure_prob: float,
    regularity: float | Regularity,
    *,
    graph_scale: float = 1.0,
    noise: float = 1.0,
) -> tuple[float, float]:
    r"""Range (0, high] of alpha_w, which decides the users unlike that may be pooled.

    .. math:: \left(0,\; \frac{\sqrt{x}}{2 (\alpha - 1) \sqrt{L}}\right], \quad L = \log\frac{2U}{\delta}

    At alpha = 1 the upper end is infinite: then only the distance keeps a user unlike out, not the counts.
    Divided by `noise`, which the paper sets to 1. Needs alpha >= 1. Lemma on R and W.

    Examples
    --------
    >>> heterogeneous_range(1, 2 / math.e, 1.0, graph_scale=1.0)
    (0.0, inf)
    >>> round(heterogeneous_range(1, 2 / math.e, 1.0, graph_scale=2.0)[1], 6)
    0.5
    """
    alpha = _lemma_scale(graph_scale)
    root = math.sqrt(checks.regularity_value(regularity)) / checks.positive("noise", noise)
    spread = math.sqrt(checks.log_users(n_users, failure_prob))
    return 0.0, math.inf if alpha == 1 else root / (2 * (alpha - 1) * spread)


def underestimation_factor(
    n_users: int,
    dim: int,
    failure_prob: float,
    regularity: float | Regularity,
    *,
    graph_scale: float = 1.0,
    noise: float = 1.0,
) -> float:
    r"""alpha_w': how scarce data must be for the underestimation policy to pool a user unlike.

    .. math:: \frac{1}{\sqrt{N_u}} + \frac{1}{\sqrt{N_v}} \ge \alpha_w' \|\theta_u - \theta_v\|,
        \quad \alpha_w' = \frac{\sqrt{x}}{4 (\alpha + 1) \sqrt{L \max\{2, d\}}}

    Holds for every user unlike that is pooled, on the event of the lemma on R and W and under its
    conditions. The same number as the lower end of alpha_r. Theorem "Effect of Underestimation Policy".

    Examples
    --------
    >>> round(underestimation_factor(1, 2, 2 / math.e, 1.0), 4)
    0.0884
    """
    return homogeneous_range(n_users, dim, failure_prob, regularity, graph_scale=graph_scale, noise=noise)[0]


def concrete_sets(  # noqa: PLR0913 (one keyword per symbol of the lemma)
    user: int,
    count: ArrayLike,
    *,
    same_cluster: ArrayLike,
    distance: ArrayLike,
    gap: float,
    true_gap: float,
    dim: int,
    confidence: Confidence,
    graph_scale: float = 1.0,
) -> ConcreteSets:
    r"""Concrete neighbour sets of `user`: alpha_r at its lower end, alpha_w at its upper end.

    .. math:: \tilde R = \{u\} \cup \{v : \theta_u = \theta_v,\ s_v \le \alpha_r \hat\gamma,\
        N_v \ge N_{\min}\}, \quad \tilde W = \{v : \gamma \le \|\theta_u - \theta_v\| \le \hat\gamma,\
        s_v \le \alpha_w (\hat\gamma - \gamma),\ N_v \ge N_{\min}\}

    with s_v = 1/sqrt(N_u) + 1/sqrt(N_v). Below N_min the user stands alone. W is empty where the gap in use
    does not exceed the true one, also at alpha = 1, where alpha_w is infinite. Corollary "Concrete Form".

    Parameters
    ----------
    user : int
        Position of u in `count`.
    count, same_cluster, distance : (U,)
        N_v; whether v has the same preferences as u; ||theta_u - theta_v||.
    gap, true_gap : float
        gamma-hat and gamma.

    Examples
    --------
    Three users of a million samples, the last one 0.3 away; the gap in use is 0.2:

    >>> from coterie.confidence import IID
    >>> sets = concrete_sets(0, [1e6] * 3, same_cluster=[True, True, False], distance=[0, 0, 0.3], gap=0.2,
    ...     true_gap=0.3, dim=2, confidence=Confidence(regularity=IID(0.5)))
    >>> sets.homogeneous, sets.share
    (array([ True,  True, False]), 0.0)
    """
    number = checks.counts(count)
    alike = checks.mask("same_cluster", same_cluster, number.size)
    apart = np.asarray(distance, dtype=np.float64)
    if apart.shape != number.shape or not 0 <= user < number.size:
        raise ParameterError(
            f"user is {user} and distance has shape {apart.shape}; give a position below {number.size} "
            f"and one distance per user"
        )
    reach = checks.at_least("gap", gap, 0)
    excess = reach - checks.positive("true_gap", true_gap)
    x, delta = confidence.regularity, confidence.failure_prob
    scale = {"graph_scale": graph_scale, "noise": checks.noise_value(confidence)}
    low, high = homogeneous_range(number.size, dim, delta, x, **scale)
    _, high_w = heterogeneous_range(number.size, delta, x, **scale)
    itself = np.arange(number.size) == user
    enough = number >= min_samples(number.size, dim, delta, x)
    usable = enough & enough[user] & ~itself
    with np.errstate(divide="ignore"):
        scarcity = 1 / np.sqrt(number[user]) + 1 / np.sqrt(number)
    within = (apart >= true_gap) & (apart <= reach)
    homogeneous = itself | (usable & alike & (scarcity <= low * reach))
    none = np.zeros_like(itself)
    heterogeneous = usable & ~alike & within & (scarcity <= high_w * excess) if excess > 0 else none
    possible = itself | (usable & alike & (scarcity <= high * reach)) | heterogeneous
    return ConcreteSets(
        homogeneous,
        heterogeneous,
        possible,
        float(number[homogeneous].sum()),
        int(possible.sum()),
        heterogeneous_share(number, homogeneous | heterogeneous, heterogeneous, confidence.ridge),
    )


def _lemma_scale(graph_scale: float) -> float:
    """alpha, refused below 1: there radii no longer cover, and the lemma says nothing."""
    if not (graph_scale >= 1 and math.isfinite(graph_scale)):
        raise ParameterError(
            f"graph_scale is {graph_scale}; the lemma on neighbour sets holds from 1 on, so give at least 1"
        )
    return float(graph_scale)
