"""The ranges of the paper's alpha_r, alpha_w and alpha_w': how counts decide whom Off-C2LUB joins.

Takes: the number of users, the dimension, the failure probability, the regularity, alpha and the noise.
Gives: the ends of each range as numbers.
Paper: the lemma on the sets R and W; the theorem on the underestimation policy.
Next: `coterie.theory.neighbours`.
"""

import math

from coterie.checks import at_least, positive
from coterie.confidence import Regularity
from coterie.errors import ParameterError
from coterie.theory import checks


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
    root = math.sqrt(checks.regularity_value(regularity)) / positive("noise", noise)
    spread = math.sqrt(checks.log_users(n_users, failure_prob))
    width = math.sqrt(max(2.0, at_least("dim", dim, 1)))
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
    root = math.sqrt(checks.regularity_value(regularity)) / positive("noise", noise)
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


def _lemma_scale(graph_scale: float) -> float:
    """alpha, refused below 1: there radii no longer cover, and the lemma says nothing."""
    if not (graph_scale >= 1 and math.isfinite(graph_scale)):
        raise ParameterError(
            f"graph_scale is {graph_scale}; the lemma on neighbour sets holds from 1 on, so give at least 1"
        )
    return float(graph_scale)
