"""Compiled sweeps over users: what each component says of each user. The twin is in `_plain.py`.

Users go side by side, up to `LANES` at a time, so that every step is one vector operation for all of them.
With a constant number of them the compiler writes the loops out and makes no vector operations of them.
"""

from typing import Any

import numba as nb
import numpy as np

from coterie.mixture._plain import LEAST, NEGLIGIBLE, NOTHING

LANES = 64
_STRIP, _LOGARITHM_OF = 8, 4  # numbers of a user laid at a time; pivots whose product cannot overflow


@nb.njit(nogil=True, cache=True, error_model="numpy")
def expect(
    count: Any, moment: Any, gram: Any, square: Any,
    log_weight: Any, linear: Any, centre: Any, precision: Any, log_det: Any, noise: float, heat: float,
    responsibility: Any, totals: Any, mass: Any, first: Any, second: Any, moments: Any, grams: Any,
) -> None:  # fmt: skip
    """Responsibilities of some users, and sums over them; see `_plain.expect`."""
    n_users, dim = moment.shape
    size, n_parts, n_points = gram.shape[1], log_weight.shape[0], moments.shape[0]
    row, lower = np.empty((dim + size, LANES)), np.empty((size, LANES))
    along, shift, work = np.empty((dim, LANES)), np.empty((dim, LANES)), np.empty((2, LANES))
    residual, who, weight = np.empty((n_users, n_parts)), np.empty(LANES, dtype=np.int64), np.empty(LANES)
    totals[0] += _score(
        count, moment, gram, square, log_weight, linear, centre, precision, log_det, noise, heat,
        responsibility, residual,
    )  # fmt: skip
    for u in range(n_users):
        for k in range(n_parts):
            r = responsibility[u, k]
            if r < NEGLIGIBLE:
                continue
            mass[k] += r
            totals[1] += r * residual[u, k]
            if k < n_points:
                for i in range(dim):
                    moments[k, i] += r * moment[u, i]
                for f in range(size):
                    grams[k, f] += r * gram[u, f]
    for g in range(centre.shape[0]):
        held = 0
        for u in range(n_users):
            if responsibility[u, n_points + g] >= NEGLIGIBLE:
                who[held], weight[held] = u, responsibility[u, n_points + g]
                held += 1
            if held == LANES or (held > 0 and u == n_users - 1):
                _lay(moment, gram, who, held, row)
                _gradient_lanes(row, centre[g], noise, held, along)
                _precision_lanes(row, precision[g], noise, held, lower)
                _factorise_lanes(lower, dim, held, work)
                totals[1] += _spread_lanes(
                    lower, along, precision[g], weight, held, noise, first[g], second[g], shift, work[0]
                )
                held = 0


@nb.njit(nogil=True, cache=True, error_model="numpy")
def posterior(
    moment: Any, gram: Any, square: Any, count: Any,
    log_weight: Any, linear: Any, points: Any, doubt: Any,
    centre: Any, precision: Any, log_det: Any, noise: float,
    responsibility: Any, theta: Any, factor: Any, own: Any,
) -> None:  # fmt: skip
    """Posterior mean, precision factor and own share of some users; see `_plain.posterior`."""
    n_users, dim = moment.shape
    size, n_points, n_parts = gram.shape[1], points.shape[0], log_weight.shape[0]
    shift, total = np.empty((n_users, n_parts, dim)), np.zeros((n_users, size))
    row, lower = np.empty((dim + size, LANES)), np.empty((size, LANES))
    along, moved, work = np.empty((dim, LANES)), np.empty((dim, LANES)), np.empty((3, LANES))
    residual, who = np.empty((n_users, n_parts)), np.empty(LANES, dtype=np.int64)
    _score(count, moment, gram, square, log_weight, linear, centre, precision, log_det, noise, 1.0,
           responsibility, residual)  # fmt: skip
    theta[:], own[:] = 0.0, 0.0
    for u in range(n_users):
        for k in range(n_points):
            r = responsibility[u, k]
            if r < NEGLIGIBLE:
                continue
            shift[u, k] = points[k]
            trace, at = 0.0, 0
            theta[u] += r * points[k]
            for i in range(dim):
                for j in range(i + 1):
                    total[u, at] += r * doubt[k, at]
                    trace += (1.0 if i == j else 2.0) * doubt[k, at] * gram[u, at]
                    at += 1
            own[u] += r * r * trace / noise
    for g in range(centre.shape[0]):
        held, k = 0, n_points + g
        for u in range(n_users):
            if responsibility[u, k] >= NEGLIGIBLE:
                who[held], work[2, held] = u, responsibility[u, k]
                held += 1
            if held < LANES and (held == 0 or u < n_users - 1):
                continue
            _lay(moment, gram, who, held, row)
            _gradient_lanes(row, centre[g], noise, held, along)
            _precision_lanes(row, precision[g], noise, held, lower)
            _factorise_lanes(lower, dim, held, work)
            _one_posterior_lanes(lower, along, precision[g], who, held, work, moved, total, own)
            for lane in range(held):
                v, r = who[lane], work[2, lane]
                for i in range(dim):
                    shift[v, k, i] = centre[g, i] + moved[i, lane]
                    theta[v, i] += r * shift[v, k, i]
            held = 0
    for u in range(n_users):
        own[u] = min(1.0, own[u] / dim)
        for k in range(n_parts):
            r, at = responsibility[u, k], 0
            if r >= NEGLIGIBLE:
                for i in range(dim):
                    for j in range(i + 1):
                        total[u, at] += r * (shift[u, k, i] - theta[u, i]) * (shift[u, k, j] - theta[u, j])
                        at += 1
    for start in range(0, n_users, LANES):
        part = slice(start, min(start + LANES, n_users))
        _precision_factors(total[part], dim, lower, row, work, factor[part])


@nb.njit(nogil=True, cache=True)
def _one_posterior_lanes(
    lower: Any, along: Any, precision: Any, who: Any, held: int, work: Any, moved: Any, total: Any, own: Any
) -> None:
    """Users' shifts from the centre; r V added to `total`, r tr(G V) / s^2 = r [d - tr(P V)] to `own`."""
    dim, entry, share, weight = along.shape[0], work[0], work[1], work[2]
    _invert_lanes(lower, dim, held, entry)
    moved[:] = 0.0
    for lane in range(held):
        share[lane] = dim
    for i in range(dim):
        for j in range(i + 1):
            _product_lanes(lower, i, j, dim, held, entry)
            at = i * (i + 1) // 2 + j
            twice = (1.0 if i == j else 2.0) * precision[at]
            for lane in range(held):
                moved[i, lane] += entry[lane] * along[j, lane]
                share[lane] -= twice * entry[lane]
            if j < i:
                for lane in range(held):
                    moved[j, lane] += entry[lane] * along[i, lane]
            for lane in range(held):
                total[who[lane], at] += weight[lane] * entry[lane]
    for lane in range(held):
        own[who[lane]] += weight[lane] * share[lane]


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _precision_factors(covariance: Any, dim: int, lower: Any, other: Any, work: Any, factor: Any) -> None:
    """Packed Cholesky factors of the inverses of some packed covariances."""
    held, size = covariance.shape
    for lane in range(held):
        trace = 0.0
        for f in range(size):
            lower[f, lane] = covariance[lane, f]
        for i in range(dim):
            trace += lower[i * (i + 1) // 2 + i, lane]
        for i in range(dim):
            lower[i * (i + 1) // 2 + i, lane] += LEAST * trace / dim + NOTHING
    _factorise_lanes(lower, dim, held, work)
    _invert_lanes(lower, dim, held, work[0])
    for i in range(dim):
        for j in range(i + 1):
            _product_lanes(lower, i, j, dim, held, other[i * (i + 1) // 2 + j])
    _factorise_lanes(other, dim, held, work)
    for i in range(dim):
        for j in range(i + 1):
            at = i * (i + 1) // 2 + j
            for lane in range(held):
                factor[lane, at] = 1.0 / other[at, lane] if i == j else other[at, lane]


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _score(
    count: Any, moment: Any, gram: Any, square: Any,
    log_weight: Any, linear: Any, centre: Any, precision: Any, log_det: Any, noise: float, heat: float,
    responsibility: Any, residual: Any,
) -> float:  # fmt: skip
    """Log evidence of some users; their responsibilities and expected squared residuals are written."""
    n_users, dim = moment.shape
    size, n_parts = gram.shape[1], log_weight.shape[0]
    n_points, flat, evidence = n_parts - centre.shape[0], np.log(2 * np.pi * noise), 0.0
    row, lower = np.empty((dim + size, LANES)), np.empty((size, LANES))
    along, shift, work = np.empty((dim, LANES)), np.empty((dim, LANES)), np.empty((2, LANES))
    score, one, who = np.empty((n_parts, LANES)), np.empty(n_parts), np.empty(LANES, dtype=np.int64)
    for start in range(0, n_users, LANES):
        held = min(LANES, n_users - start)
        for lane in range(held):
            who[lane] = start + lane
        _lay(moment, gram, who, held, row)
        _residual_lanes(row, linear, held, score)
        for k in range(n_parts):
            for lane in range(held):
                u = start + lane
                residual[u, k] = square[u] + score[k, lane]
                score[k, lane] = -0.5 * (count[u] * flat + residual[u, k] / noise)
        for g in range(centre.shape[0]):
            _gradient_lanes(row, centre[g], noise, held, along)
            _precision_lanes(row, precision[g], noise, held, lower)
            _factorise_lanes(lower, dim, held, work)
            _gain_lanes(lower, along, held, log_det[g], shift, score[n_points + g])
        for lane in range(held):
            for k in range(n_parts):
                one[k] = score[k, lane]
            evidence += _softmax(one, log_weight, heat, responsibility[start + lane])
    return evidence


@nb.njit(nogil=True, cache=True)
def _lay(moment: Any, gram: Any, who: Any, held: int, row: Any) -> None:
    """Moments and packed Grams of these users, side by side; in strips that stay in the cache."""
    dim, size = moment.shape[1], gram.shape[1]
    for start in range(0, size, _STRIP):
        stop = min(size, start + _STRIP)
        for lane in range(held):
            u = who[lane]
            for f in range(start, stop):
                row[dim + f, lane] = gram[u, f]
    for lane in range(held):
        u = who[lane]
        for i in range(dim):
            row[i, lane] = moment[u, i]


@nb.njit(nogil=True, cache=True)
def _residual_lanes(row: Any, linear: Any, held: int, score: Any) -> None:
    """`linear' row`: expected squared residual under each component beside the sum of squares."""
    n_rows = row.shape[0]
    for k in range(score.shape[0]):
        total = score[k]
        for lane in range(held):
            total[lane] = 0.0
        for f in range(0, n_rows - 1, 2):
            one, two, left, right = row[f], row[f + 1], linear[f, k], linear[f + 1, k]
            for lane in range(held):
                total[lane] += left * one[lane] + right * two[lane]
        if n_rows % 2:
            for lane in range(held):
                total[lane] += linear[n_rows - 1, k] * row[n_rows - 1, lane]


@nb.njit(nogil=True, cache=True)
def _gradient_lanes(row: Any, centre: Any, noise: float, held: int, along: Any) -> None:
    """(b - G c) / s^2."""
    dim = centre.shape[0]
    for i in range(dim):
        for lane in range(held):
            along[i, lane] = row[i, lane] / noise
    at = dim
    for i in range(dim):
        for j in range(i + 1):
            left, right = centre[j] / noise, centre[i] / noise if j < i else 0.0
            for lane in range(held):
                along[i, lane] -= row[at, lane] * left
                along[j, lane] -= row[at, lane] * right
            at += 1


@nb.njit(nogil=True, cache=True)
def _precision_lanes(row: Any, precision: Any, noise: float, held: int, lower: Any) -> None:
    """P + G / s^2, packed."""
    dim = row.shape[0] - lower.shape[0]
    for f in range(lower.shape[0]):
        for lane in range(held):
            lower[f, lane] = precision[f] + row[dim + f, lane] / noise


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _factorise_lanes(lower: Any, dim: int, held: int, work: Any) -> None:
    """Packed Cholesky factors in place, with the reciprocals of their diagonals on it."""
    total, inverse = work[0], work[1]
    for j in range(dim):
        here = j * (j + 1) // 2
        for i in range(j, dim):
            there = i * (i + 1) // 2
            for lane in range(held):
                total[lane] = lower[there + j, lane]
            for k in range(j):
                for lane in range(held):
                    total[lane] -= lower[there + k, lane] * lower[here + k, lane]
            if i == j:
                for lane in range(held):
                    inverse[lane] = 1.0 / np.sqrt(total[lane])
                    lower[here + j, lane] = inverse[lane]
            else:
                for lane in range(held):
                    lower[there + j, lane] = total[lane] * inverse[lane]


@nb.njit(nogil=True, cache=True)
def _gain_lanes(lower: Any, along: Any, held: int, log_det: float, shift: Any, score: Any) -> None:
    """Add what integrating over a Gaussian component adds to the log density at its centre."""
    dim = along.shape[0]
    for i in range(dim):
        here = i * (i + 1) // 2
        for lane in range(held):
            shift[i, lane] = along[i, lane]
        for j in range(i):
            for lane in range(held):
                shift[i, lane] -= lower[here + j, lane] * shift[j, lane]
        for lane in range(held):
            shift[i, lane] *= lower[here + i, lane]
            score[lane] += 0.5 * shift[i, lane] * shift[i, lane]
    for lane in range(held):
        pivots = 1.0
        for i in range(dim):
            pivots *= lower[i * (i + 1) // 2 + i, lane]
            if i % _LOGARITHM_OF == _LOGARITHM_OF - 1:
                score[lane] += np.log(pivots)
                pivots = 1.0
        score[lane] += np.log(pivots) + 0.5 * log_det


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def _spread_lanes(
    lower: Any, along: Any, precision: Any, weight: Any, held: int, noise: float,
    first: Any, second: Any, shift: Any, total: Any,
) -> float:  # fmt: skip
    """Add the users' first and second moments about the centre; what they add to the squared residual.

    That is r [tr(G (V + m m')) - 2 s^2 m'h] = s^2 r [d - tr(P (V + m m')) - m'h], as (P + G / s^2) V = I.
    """
    dim, added = along.shape[0], 0.0
    _invert_lanes(lower, dim, held, total)
    shift[:] = 0.0
    for i in range(dim):
        for j in range(i + 1):
            _product_lanes(lower, i, j, dim, held, total)
            both, at = 0.0, i * (i + 1) // 2 + j
            for lane in range(held):
                shift[i, lane] += total[lane] * along[j, lane]
                both += weight[lane] * total[lane]
            if j < i:
                for lane in range(held):
                    shift[j, lane] += total[lane] * along[i, lane]
            second[at] += both
            added -= (1.0 if i == j else 2.0) * precision[at] * both
    for i in range(dim):
        mean, gained = 0.0, 0.0
        for lane in range(held):
            total[lane] = weight[lane] * shift[i, lane]
            mean += total[lane]
            gained += total[lane] * along[i, lane]
        first[i] += mean
        added -= gained
        for j in range(i + 1):
            both, at = 0.0, i * (i + 1) // 2 + j
            for lane in range(held):
                both += total[lane] * shift[j, lane]
            second[at] += both
            added -= (1.0 if i == j else 2.0) * precision[at] * both
    for lane in range(held):
        added += dim * weight[lane]
    return noise * added


@nb.njit(nogil=True, cache=True)
def _product_lanes(inverse: Any, i: int, j: int, dim: int, held: int, total: Any) -> None:
    """Entry (i, j) of X'X for lower triangles X, j <= i."""
    for lane in range(held):
        total[lane] = 0.0
    for n in range(i, dim):
        here = n * (n + 1) // 2
        for lane in range(held):
            total[lane] += inverse[here + i, lane] * inverse[here + j, lane]


@nb.njit(nogil=True, cache=True)
def _invert_lanes(lower: Any, dim: int, held: int, total: Any) -> None:
    """Inverses of packed factors that have reciprocals on their diagonals, in place."""
    for j in range(dim):
        for i in range(j + 1, dim):
            here = i * (i + 1) // 2
            for lane in range(held):
                total[lane] = 0.0
            for k in range(j, i):
                there = k * (k + 1) // 2 + j
                for lane in range(held):
                    total[lane] -= lower[here + k, lane] * lower[there, lane]
            for lane in range(held):
                lower[here + j, lane] = total[lane] * lower[here + i, lane]


@nb.njit(nogil=True, cache=True)
def _softmax(score: Any, log_weight: Any, heat: float, responsibility: Any) -> float:
    """Logarithm of the sum of exponentials of heat * score + log weight; their shares."""
    for k in range(score.shape[0]):
        score[k] = heat * score[k] + log_weight[k]
    most, total = score.max(), 0.0
    for k in range(score.shape[0]):
        responsibility[k] = np.exp(score[k] - most)
        total += responsibility[k]
    responsibility /= total
    return float(most + np.log(total))
