"""Compiled sweeps over users: what each component says of each user. The twin is in `_plain.py`."""

from typing import Any

import numba as nb
import numpy as np

from coterie.mixture._plain import LEAST, NEGLIGIBLE, NOTHING


@nb.njit(nogil=True, cache=True)
def expect(
    count: Any, moment: Any, gram: Any, square: Any,
    log_weight: Any, linear: Any, centre: Any, precision: Any, log_det: Any, noise: float, heat: float,
    responsibility: Any, totals: Any, mass: Any, first: Any, second: Any, moments: Any, grams: Any,
) -> None:  # fmt: skip
    """Responsibilities of some users, and sums over them; see `_plain.expect`."""
    n_users, dim = moment.shape
    n_points, n_parts = log_weight.shape[0] - centre.shape[0], log_weight.shape[0]
    residual, score = np.empty(n_parts), np.empty(n_parts)
    lower, inverse = np.empty((centre.shape[0], dim, dim)), np.empty((dim, dim))
    along, shift, column = np.empty((centre.shape[0], dim)), np.empty(dim), np.empty(dim)
    for u in range(n_users):
        _residuals(moment[u], gram[u], square[u], linear, residual)
        flat = -0.5 * count[u] * np.log(2 * np.pi * noise)
        for k in range(n_parts):
            score[k] = flat - 0.5 * residual[k] / noise
        for g in range(centre.shape[0]):
            _gradient(moment[u], gram[u], centre[g], noise, along[g])
            score[n_points + g] += _gain(
                gram[u], precision[g], log_det[g], noise, along[g], lower[g], shift, column
            )
        totals[0] += _softmax(score, log_weight, heat, responsibility[u])
        for k in range(n_parts):
            r = responsibility[u, k]
            if r < NEGLIGIBLE:
                continue
            mass[k] += r
            if k < n_points:
                totals[1] += r * residual[k]
                for i in range(dim):
                    moments[k, i] += r * moment[u, i]
                for f in range(gram.shape[1]):
                    grams[k, f] += r * gram[u, f]
                continue
            g = k - n_points
            _invert(lower[g], inverse)
            _multiply(inverse, along[g], shift)
            value = residual[k] - 2 * noise * _dot(shift, along[g])
            at = 0
            for i in range(dim):
                first[g, i] += r * shift[i]
                for j in range(i + 1):
                    both = inverse[i, j] + shift[i] * shift[j]
                    second[g, at] += r * both
                    value += (1.0 if i == j else 2.0) * gram[u, at] * both
                    at += 1
            totals[1] += r * value


@nb.njit(nogil=True, cache=True)
def posterior(
    moment: Any, gram: Any, square: Any, count: Any,
    log_weight: Any, linear: Any, points: Any, doubt: Any,
    centre: Any, precision: Any, log_det: Any, noise: float,
    responsibility: Any, theta: Any, factor: Any, own: Any,
) -> None:  # fmt: skip
    """Posterior mean, precision factor and own share of some users; see `_plain.posterior`."""
    n_users, dim = moment.shape
    n_points, n_parts = points.shape[0], log_weight.shape[0]
    residual, score = np.empty(n_parts), np.empty(n_parts)
    lower, inverse = np.empty((centre.shape[0], dim, dim)), np.empty((dim, dim))
    along, shift, column = np.empty((centre.shape[0], dim)), np.empty((n_parts, dim)), np.empty(dim)
    total = np.empty((dim, dim))
    for u in range(n_users):
        _residuals(moment[u], gram[u], square[u], linear, residual)
        flat = -0.5 * count[u] * np.log(2 * np.pi * noise)
        for k in range(n_parts):
            score[k] = flat - 0.5 * residual[k] / noise
        for g in range(centre.shape[0]):
            _gradient(moment[u], gram[u], centre[g], noise, along[g])
            score[n_points + g] += _gain(
                gram[u], precision[g], log_det[g], noise, along[g], lower[g], shift[0], column
            )
        _softmax(score, log_weight, 1.0, responsibility[u])
        theta[u], total[:], share = 0.0, 0.0, 0.0
        for k in range(n_parts):
            r = responsibility[u, k]
            if r < NEGLIGIBLE:
                shift[k] = 0.0
                continue
            if k < n_points:
                shift[k] = points[k]
                share += r * _add(total, r, doubt[k], gram[u], noise)
            else:
                g = k - n_points
                _invert(lower[g], inverse)
                _multiply(inverse, along[g], shift[k])
                shift[k] += centre[g]
                share += r * _add_square(total, r, inverse, gram[u], noise)
            theta[u] += r * shift[k]
        for k in range(n_parts):
            r = responsibility[u, k]
            if r >= NEGLIGIBLE:
                for i in range(dim):
                    for j in range(i + 1):
                        total[i, j] += r * (shift[k, i] - theta[u, i]) * (shift[k, j] - theta[u, j])
        own[u] = min(1.0, share / dim)
        _precision_factor(total, inverse, column)
        at = 0
        for i in range(dim):
            for j in range(i + 1):
                factor[u, at] = inverse[i, j]
                at += 1


@nb.njit(nogil=True, cache=True)
def _residuals(moment: Any, gram: Any, square: float, linear: Any, residual: Any) -> None:
    """Expected squared residual under each component, with theta at its centre."""
    dim, n_parts = moment.shape[0], residual.shape[0]
    residual[:] = square
    for i in range(dim):
        value = moment[i]
        for k in range(n_parts):
            residual[k] += value * linear[i, k]
    for f in range(gram.shape[0]):
        value = gram[f]
        for k in range(n_parts):
            residual[k] += value * linear[dim + f, k]


@nb.njit(nogil=True, cache=True)
def _gradient(moment: Any, gram: Any, centre: Any, noise: float, along: Any) -> None:
    """(b - G c) / s^2."""
    at = 0
    for i in range(moment.shape[0]):
        along[i] = moment[i]
        for j in range(i):
            along[i] -= gram[at + j] * centre[j]
            along[j] -= gram[at + j] * centre[i]
        along[i] -= gram[at + i] * centre[i]
        at += i + 1
    for i in range(moment.shape[0]):
        along[i] /= noise


@nb.njit(nogil=True, cache=True)
def _gain(
    gram: Any, precision: Any, log_det: float, noise: float, along: Any, lower: Any, shift: Any, column: Any
) -> float:
    """What integrating over a Gaussian component adds to the log density at its centre."""
    dim = along.shape[0]
    at = 0
    for i in range(dim):
        for j in range(i + 1):
            lower[i, j] = precision[at] + gram[at] / noise
            at += 1
    _factorise(lower, column)
    gained = 0.5 * log_det
    for i in range(dim):
        value = along[i]
        for j in range(i):
            value -= lower[i, j] * shift[j]
        shift[i] = value / lower[i, i]
        gained += 0.5 * shift[i] * shift[i] - np.log(lower[i, i])
    return gained


@nb.njit(nogil=True, cache=True)
def _factorise(square: Any, column: Any) -> None:
    """Lower Cholesky factor of a positive definite matrix, in place."""
    dim = square.shape[0]
    for j in range(dim):
        root = np.sqrt(square[j, j])
        for i in range(j, dim):
            column[i] = square[i, j] / root
            square[i, j] = column[i]
        for i in range(j + 1, dim):
            value = column[i]
            for k in range(j + 1, i + 1):
                square[i, k] -= value * column[k]


@nb.njit(nogil=True, cache=True)
def _invert(lower: Any, inverse: Any) -> None:
    """(L L')^-1 from L, which is overwritten by its own inverse."""
    dim = lower.shape[0]
    for i in range(dim):
        pivot = lower[i, i]
        inverse[i, : i + 1] = 0.0
        for j in range(i):
            value = lower[i, j]
            for k in range(j + 1):
                inverse[i, k] -= value * lower[j, k]
        inverse[i, i] = 1.0
        for k in range(i + 1):
            lower[i, k] = inverse[i, k] / pivot
    inverse[:] = 0.0
    for n in range(dim):
        for i in range(n + 1):
            value = lower[n, i]
            for j in range(i + 1):
                inverse[i, j] += value * lower[n, j]


@nb.njit(nogil=True, cache=True)
def _precision_factor(total: Any, inverse: Any, column: Any) -> None:
    """Cholesky factor of the inverse of a covariance, which is overwritten."""
    dim, trace = total.shape[0], 0.0
    for i in range(dim):
        trace += total[i, i]
    for i in range(dim):
        total[i, i] += LEAST * trace / dim + NOTHING
    _factorise(total, column)
    _invert(total, inverse)
    _factorise(inverse, column)


@nb.njit(nogil=True, cache=True)
def _multiply(lower: Any, vector: Any, product: Any) -> None:
    """Symmetric matrix, of which the lower triangle is given, times a vector."""
    for i in range(vector.shape[0]):
        product[i] = lower[i, i] * vector[i]
        for j in range(i):
            product[i] += lower[i, j] * vector[j]
            product[j] += lower[i, j] * vector[i]


@nb.njit(nogil=True, cache=True)
def _dot(left: Any, right: Any) -> float:
    """Inner product."""
    value = 0.0
    for i in range(left.shape[0]):
        value += left[i] * right[i]
    return float(value)


@nb.njit(nogil=True, cache=True)
def _softmax(score: Any, log_weight: Any, heat: float, responsibility: Any) -> float:
    """Logarithm of the sum of exponentials of heat * score + log weight; their shares."""
    most = -np.inf
    for k in range(score.shape[0]):
        score[k] = heat * score[k] + log_weight[k]
        most = max(most, score[k])
    total = 0.0
    for k in range(score.shape[0]):
        responsibility[k] = np.exp(score[k] - most)
        total += responsibility[k]
    for k in range(score.shape[0]):
        responsibility[k] /= total
    return float(most + np.log(total))


@nb.njit(nogil=True, cache=True)
def _add(total: Any, r: float, packed: Any, gram: Any, noise: float) -> float:
    """Add r times a packed covariance; trace of covariance and own information: of r of the rows."""
    trace, at = 0.0, 0
    for i in range(total.shape[0]):
        for j in range(i + 1):
            total[i, j] += r * packed[at]
            trace += (1.0 if i == j else 2.0) * packed[at] * gram[at]
            at += 1
    return r * trace / noise


@nb.njit(nogil=True, cache=True)
def _add_square(total: Any, r: float, square: Any, gram: Any, noise: float) -> float:
    """The same for a covariance kept as a square matrix."""
    trace, at = 0.0, 0
    for i in range(total.shape[0]):
        for j in range(i + 1):
            total[i, j] += r * square[i, j]
            trace += (1.0 if i == j else 2.0) * square[i, j] * gram[at]
            at += 1
    return trace / noise
