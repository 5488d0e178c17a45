r"""How far two users who want the same are apart by chance: a radius for clustering their estimates.

Takes: `UserStatistics`, the ridge and the length that actions are divided by.
Gives: one distance, in scaled units.
Paper: none; DBSCAN's radius is left unsaid there.
Next: `clustered`.
"""

import math

import numpy as np

from coterie import packed
from coterie.confidence import Confidence, estimate_noise
from coterie.errors import LogError
from coterie.packed import FloatArray
from coterie.statistics import UserStatistics


def chance_distance(stats: UserStatistics, confidence: Confidence, scale: float = 1.0) -> float:
    r"""Typical distance of the ridge estimates of two users with one preference vector.

    .. math::
        s_u^2 = \hat R^2 \, \mathrm{tr}(M_u^{-1} G_u M_u^{-1})
        + \| \lambda (M_u^{-1} - \bar M_u^{-1}) \hat\theta_u \|^2, \quad
        \bar M_u = \lambda I + N_u \frac{\sum_v G_v}{\sum_v N_v}, \quad
        r = \sqrt{2 \, \mathrm{mean}_u \, s_u^2}

    over users with data. The first term is what the noise does, with R from `estimate_noise` (nothing
    where the logs are too few to estimate it). The second is how far a user's shrinkage strays from that
    of as many rows with the average Gram.

    >>> one = {"count": [50, 50], "moment": [[50.0], [50.0]], "gram": [[[50.0]], [[50.0]]]}
    >>> stats = UserStatistics.from_arrays(users=[1, 2], **one, reward_square=[99.0, 99.0])
    >>> round(chance_distance(stats, Confidence(ridge=50.0)) ** 2, 9)  # noise 1: 2 * 50 / 100**2
    0.01
    """
    known = np.flatnonzero(stats.count > 0)
    if not len(known):
        return 0.0
    stats = stats.taking(known)
    average = stats.packed_gram.sum(axis=0) / stats.n_samples
    noise, squares = _noise(stats), 0.0
    for part in packed.chunks(stats.n_users, stats.dim):
        gram, moment = stats.packed_gram[part] / scale**2, stats.moment[part] / scale
        typical = stats.count[part, np.newaxis] * average / scale**2
        squares += float(noise**2 * _variances(gram, confidence.ridge).sum())
        squares += float((_strays(gram, typical, moment, confidence.ridge) ** 2).sum())
    return math.sqrt(2 * squares / stats.n_users)


def _noise(stats: UserStatistics) -> float:
    try:
        return estimate_noise(stats)
    except LogError:
        return 0.0


def _variances(gram: FloatArray, ridge: float) -> FloatArray:
    """Trace (n,) of M^-1 G M^-1 by the eigenvalues of G."""
    values = np.maximum(np.linalg.eigvalsh(packed.unpack(gram)), 0.0)
    return np.asarray((values / (values + ridge) ** 2).sum(axis=1))


def _strays(gram: FloatArray, typical: FloatArray, moment: FloatArray, ridge: float) -> FloatArray:
    """The differences (n, d) of both shrinkages of the estimates."""
    theta = packed.ridge_solutions(gram, ridge, moment)
    return ridge * (
        packed.ridge_solutions(gram, ridge, theta) - packed.ridge_solutions(typical, ridge, theta)
    )
