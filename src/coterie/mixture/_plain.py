"""The plain twin of `_kernels.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.packed import pack, unpack

NEGLIGIBLE = 1e-9  # a responsibility below this adds nothing that the sums could show
NOTHING = 1e-60  # added to every variance, so that certainty has an inverse too
LEAST = 1e-10  # least variance of a direction beside the mean one, so that every covariance has an inverse
Array = NDArray[Any]


def expect(
    count: Array, moment: Array, gram: Array, square: Array,
    log_weight: Array, linear: Array, centre: Array, precision: Array, log_det: Array,
    noise: float, heat: float,
    responsibility: Array, totals: Array, mass: Array, first: Array, second: Array,
    moments: Array, grams: Array,
) -> None:  # fmt: skip
    r"""Responsibilities (U, K) of some users, and sums over them added to the last six arguments.

    The first K - G components are points, the last G Gaussian with packed `precision`. `linear`
    (d + d (d + 1) / 2, K) makes the expected squared residual at a centre linear in the user's sums:

    .. math:: D_k = \sum r^2 - 2 b'c_k + c_k' G c_k + tr(G C_k)

    `totals` gets the log evidence and the expected squared residuals; `mass` (K,) the responsibilities;
    `moments` and `grams` the points' sums; `first` and `second` those of theta - c and of its square
    under the Gaussian components. `noise` is a variance; `heat` tempers the likelihood.
    """
    n_points = len(log_weight) - len(centre)
    for u in range(len(count)):
        score, residual, own = _scores(
            count[u], moment[u], gram[u], square[u], linear, centre, precision, log_det, noise
        )
        tempered = heat * score + log_weight
        most = tempered.max()
        weight = np.exp(tempered - most)
        responsibility[u] = weight / weight.sum()
        totals[0] += most + np.log(weight.sum())
        for k, r in enumerate(responsibility[u]):
            if r < NEGLIGIBLE:
                continue
            mass[k] += r
            if k < n_points:
                totals[1] += r * residual[k]
                moments[k] += r * moment[u]
                grams[k] += r * gram[u]
                continue
            covariance, shift, along = own[k - n_points]
            both = covariance + np.outer(shift, shift)
            first[k - n_points] += r * shift
            second[k - n_points] += r * pack(both)
            totals[1] += r * (residual[k] - 2 * noise * shift @ along + (unpack(gram[u]) * both).sum())


def posterior(
    moment: Array, gram: Array, square: Array, count: Array,
    log_weight: Array, linear: Array, points: Array, doubt: Array,
    centre: Array, precision: Array, log_det: Array, noise: float,
    responsibility: Array, theta: Array, factor: Array, own: Array,
) -> None:  # fmt: skip
    r"""Posterior of some users, written into the last four arguments.

    .. math:: m = \sum_k p_k m_k, \quad V = \sum_k p_k [V_k + (m_k - m)(m_k - m)'] = (L L')^{-1}

    `factor` gets L packed, `own` the share of the information on theta that is the user's own. A
    point's covariance rests on everybody's rows, the user's own with her responsibility.
    """
    n_points, dim = len(points), moment.shape[1]
    for u in range(len(count)):
        score, _, parts = _scores(
            count[u], moment[u], gram[u], square[u], linear, centre, precision, log_det, noise
        )
        weight = np.exp(score + log_weight - (score + log_weight).max())
        p = weight / weight.sum()
        responsibility[u] = p
        covariances = [unpack(one) for one in doubt] + [one[0] for one in parts]
        means = [*points, *(c + one[1] for c, one in zip(centre, parts, strict=True))]
        p = np.where(p < NEGLIGIBLE, 0.0, p)
        theta[u] = sum(p[k] * means[k] for k in range(len(p)))
        total = np.zeros((dim, dim))
        share = 0.0
        for k in range(len(p)):
            away = means[k] - theta[u]
            total += p[k] * (covariances[k] + np.outer(away, away))
            mine = p[k] if k < n_points else 1.0
            share += p[k] * mine * (covariances[k] * unpack(gram[u])).sum() / noise
        own[u] = min(1.0, share / dim)
        total += (LEAST * np.trace(total) / dim + NOTHING) * np.eye(dim)
        factor[u] = pack(np.linalg.cholesky(np.linalg.inv(total)))


def _scores(
    count: float, moment: Array, gram: Array, square: float,
    linear: Array, centre: Array, precision: Array, log_det: Array, noise: float,
) -> tuple[Array, Array, list[tuple[Array, Array, Array]]]:  # fmt: skip
    """Log density of a user's rewards under each component, residuals, and the Gaussians' posteriors."""
    residual = square + np.concatenate([moment, gram]) @ linear
    score = -0.5 * count * np.log(2 * np.pi * noise) - 0.5 * residual / noise
    n_points, parts = linear.shape[1] - len(centre), []
    for g, c in enumerate(centre):
        along = (moment - unpack(gram) @ c) / noise
        inside = unpack(precision[g]) + unpack(gram) / noise
        covariance = np.linalg.inv(inside)
        shift = covariance @ along
        score[n_points + g] += 0.5 * (log_det[g] - np.linalg.slogdet(inside)[1] + along @ shift)
        parts.append((covariance, shift, along))
    return score, residual, parts
