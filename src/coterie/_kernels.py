"""Compiled factors, solutions and smallest eigenvalues of many small matrices; the twins are in `_plain.py`.

Matrices go side by side, `LANES` at a time, so that every step is one vector operation for all of them.
"""

from typing import Any

import numba as nb
import numpy as np

LANES = 16
_HALVINGS = 60  # of an interval that begins at most 1 long
_NO_PIVOT = 1e-300


@nb.njit(nogil=True, cache=True, error_model="numpy")
def ridge_solve(gram: Any, prior: Any, moment: Any, theta: Any, factor: Any, keep: bool) -> int:
    """Solutions of `(prior I + gram) theta = moment` and packed Cholesky factors if `keep`.

    The number of matrices that have no factor comes back; `factor` may be `gram` itself.
    """
    n, dim = moment.shape
    a, x, failed = np.zeros((dim, dim, LANES)), np.zeros((dim, LANES)), 0
    for first in range(0, n, LANES):
        count = min(LANES, n - first)
        for lane in range(count):
            at = 0
            for i in range(dim):
                for j in range(i + 1):
                    a[i, j, lane] = gram[first + lane, at]
                    at += 1
                a[i, i, lane] += prior[first + lane]
                x[i, lane] = moment[first + lane, i]
        _factorise(a, dim)
        _substitute(a, x, dim)
        for lane in range(count):
            at, sound = 0, True
            for i in range(dim):
                sound = sound and a[i, i, lane] > 0
                theta[first + lane, i] = x[i, lane]
                if keep:
                    for j in range(i + 1):
                        factor[first + lane, at] = a[i, j, lane]
                        at += 1
            failed += not sound
    return failed


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _factorise(a: Any, dim: int) -> None:
    """Lower Cholesky factors in place; NaN where there is none."""
    for j in range(dim):
        for k in range(j):
            for lane in range(LANES):
                a[j, j, lane] -= a[j, k, lane] * a[j, k, lane]
        for lane in range(LANES):
            a[j, j, lane] = np.sqrt(a[j, j, lane])
        for i in range(j + 1, dim):
            for k in range(j):
                for lane in range(LANES):
                    a[i, j, lane] -= a[i, k, lane] * a[j, k, lane]
            for lane in range(LANES):
                a[i, j, lane] /= a[j, j, lane]


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _substitute(a: Any, x: Any, dim: int) -> None:
    """Solutions in place, by the factors."""
    for i in range(dim):
        for k in range(i):
            for lane in range(LANES):
                x[i, lane] -= a[i, k, lane] * x[k, lane]
        for lane in range(LANES):
            x[i, lane] /= a[i, i, lane]
    for i in range(dim - 1, -1, -1):
        for k in range(i + 1, dim):
            for lane in range(LANES):
                x[i, lane] -= a[k, i, lane] * x[k, lane]
        for lane in range(LANES):
            x[i, lane] /= a[i, i, lane]


@nb.njit(nogil=True, cache=True, error_model="numpy")
def smallest_eigenvalues(gram: Any, smallest: Any) -> None:
    """Smallest eigenvalue of each positive semi-definite matrix: Householder, then bisection."""
    n, dim = len(smallest), 0
    while dim * (dim + 1) // 2 < gram.shape[1]:
        dim += 1
    a, size = np.zeros((dim, dim, LANES)), np.ones(LANES)
    diagonal, square = np.zeros((dim, LANES)), np.zeros((dim, LANES))
    u, p = np.zeros((dim, LANES)), np.zeros((dim, LANES))
    for first in range(0, n, LANES):
        count = min(LANES, n - first)
        for lane in range(count):
            at, size[lane] = 0, 0.0
            for i in range(dim):
                at += i + 1
                size[lane] = max(size[lane], gram[first + lane, at - 1])
            inverse, at = 1.0 / size[lane] if size[lane] > 0 else 0.0, 0
            for i in range(dim):
                for j in range(i + 1):
                    a[i, j, lane] = gram[first + lane, at] * inverse
                    at += 1
        _tridiagonal(a, diagonal, square, u, p, dim)
        low = _bisected(diagonal, square, dim)
        for lane in range(count):
            smallest[first + lane] = size[lane] * low[lane]


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _tridiagonal(a: Any, diagonal: Any, square: Any, u: Any, p: Any, dim: int) -> None:
    """Diagonal and squared off-diagonal of similar tridiagonal matrices; `a` is used up.

    Row i is reflected onto its last entry: with u the reflected vector and h half its square, A becomes
    A - u q' - q u' for p = A u / h and q = p - (u'p / 2h) u. Where nothing is left to reflect, 1/h is 0.
    """
    h, along = np.empty(LANES), np.empty(LANES)
    for i in range(dim - 1, 0, -1):
        h[:] = 0.0
        for k in range(i - 1):
            for lane in range(LANES):
                h[lane] += a[i, k, lane] * a[i, k, lane]
        for lane in range(LANES):
            last = a[i, i - 1, lane]
            total = h[lane] + last * last
            length = np.sqrt(total) if last < 0 else -np.sqrt(total)
            square[i, lane] = total
            u[i - 1, lane] = last - length
            h[lane] = 1.0 / (total - last * length) if h[lane] > 0 else 0.0
            along[lane] = 0.0
        for k in range(i - 1):
            for lane in range(LANES):
                u[k, lane] = a[i, k, lane]
        for j in range(i):
            for lane in range(LANES):
                p[j, lane] = 0.0
            for k in range(j + 1):
                for lane in range(LANES):
                    p[j, lane] += a[j, k, lane] * u[k, lane]
            for k in range(j + 1, i):
                for lane in range(LANES):
                    p[j, lane] += a[k, j, lane] * u[k, lane]
            for lane in range(LANES):
                p[j, lane] *= h[lane]
                along[lane] += u[j, lane] * p[j, lane]
        for j in range(i):
            for lane in range(LANES):
                p[j, lane] -= 0.5 * h[lane] * along[lane] * u[j, lane]
        for j in range(i):
            for k in range(j + 1):
                for lane in range(LANES):
                    a[j, k, lane] -= p[j, lane] * u[k, lane] + u[j, lane] * p[k, lane]
    for i in range(dim):
        for lane in range(LANES):
            diagonal[i, lane] = a[i, i, lane]


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _bisected(diagonal: Any, square: Any, dim: int) -> Any:
    """Smallest eigenvalues between 0 and the smallest diagonal entry, by the signs of pivots of T - x I."""
    low, high, negative = np.zeros(LANES), diagonal[0].copy(), np.empty(LANES)
    pivot, middle = np.empty(LANES), np.empty(LANES)
    for i in range(1, dim):
        for lane in range(LANES):
            high[lane] = min(high[lane], diagonal[i, lane])
    for lane in range(LANES):
        high[lane] = max(high[lane], 0.0)
    for _ in range(_HALVINGS):
        for lane in range(LANES):
            middle[lane] = (low[lane] + high[lane]) / 2
            pivot[lane] = diagonal[0, lane] - middle[lane]
            negative[lane] = 1.0 if pivot[lane] < 0 else 0.0
        for i in range(1, dim):
            for lane in range(LANES):
                safe = pivot[lane] if abs(pivot[lane]) > _NO_PIVOT else _NO_PIVOT
                pivot[lane] = diagonal[i, lane] - middle[lane] - square[i, lane] / safe
                negative[lane] += 1.0 if pivot[lane] < 0 else 0.0
        for lane in range(LANES):
            low[lane] = low[lane] if negative[lane] > 0 else middle[lane]
            high[lane] = middle[lane] if negative[lane] > 0 else high[lane]
    return low
