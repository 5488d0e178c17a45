"""Whom Off-C2LUB joins to a user, as far as counts decide it.

Takes: counts, who is truly alike, true distances, the gap in use and the true one, a `Confidence`.
Gives: the sets that the fixed-parameter form uses, and the share of users unlike in a pool.
Paper: the lemma on the sets R and W; Theorem 2; the corollary "Concrete Form".
Next: `coterie.theory.bounds`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.checks import at_least, positive
from coterie.confidence import Confidence
from coterie.errors import ParameterError
from coterie.theory import checks
from coterie.theory.ranges import heterogeneous_range, homogeneous_range
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
    reach = at_least("gap", gap, 0)
    excess = reach - positive("true_gap", true_gap)
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


def heterogeneous_share(count: ArrayLike, pooled: ArrayLike, heterogeneous: ArrayLike, ridge: float) -> float:
    r"""Share of what is pooled that comes from users unlike the one served, the prior included.

    .. math:: \eta_W = \frac{|W| \lambda + N_W}{|V| \lambda + N_V}

    `count`, `pooled` (V) and `heterogeneous` (W, within V) are (U,). Theorem 2.

    Examples
    --------
    (1 + 3) / (2 + 8):

    >>> heterogeneous_share([5, 3, 9], [True, True, False], [False, True, False], ridge=1.0)
    0.4
    """
    number = checks.counts(count)
    inside = checks.mask("pooled", pooled, number.size)
    foreign = checks.mask("heterogeneous", heterogeneous, number.size)
    if (foreign & ~inside).any() or not inside.any():
        stray = int(np.count_nonzero(foreign & ~inside))
        raise ParameterError(
            f"pooled has {np.count_nonzero(inside)} users and heterogeneous {stray} outside it; "
            "pool at least one user, and mark only pooled ones"
        )
    weight = positive("ridge", ridge) + number
    return float(weight[foreign].sum() / weight[inside].sum())
