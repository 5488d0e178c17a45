r"""A start for exact clusters where users know a good deal themselves: each leader takes those like her.

Takes: users' posteriors under one Gaussian.
Gives: centres to start from.
Paper: none; leader clustering in the metric of the leader's own posterior.
Next: `points`.
"""

import numpy as np

from coterie import packed
from coterie.mixture.posterior import Posterior
from coterie.packed import FloatArray

_WIDE = 3.0  # standard deviations of the squared distance between users who are alike
_MOST = 400


def leaders(found: Posterior) -> FloatArray:
    r"""Centres of groups around those who know most themselves; at most 400, the rest is left out.

    Two users alike with the share rho of their own have posterior means about as far apart as their own
    rows are noisy: with the leader's posterior covariance V,

    .. math:: \tfrac12 (m_u - m_v)' V^{-1} (m_u - m_v) \approx d \rho \pm \sqrt{2 d \rho}
    """
    left, centres = np.argsort(-found.own, kind="stable"), list[FloatArray]()
    while len(left) and len(centres) < _MOST:
        leader = left[0]
        lower = np.tril(packed.unpack(found.factor[leader : leader + 1])[0])
        away = np.einsum("ui,ij->uj", found.theta[left] - found.theta[leader], lower)
        expected = found.theta.shape[1] * found.own[leader]
        near = (away**2).sum(axis=1) / 2 <= expected + _WIDE * np.sqrt(2 * expected)
        near[0] = True
        centres.append(found.theta[left[near]].mean(axis=0))
        left = left[~near]
    return np.array(centres)
