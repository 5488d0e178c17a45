"""Compiled logging by every user's own LinUCB; the twin is in `_plain.py`."""

from typing import Any

import numba as nb
import numpy as np


@nb.njit(nogil=True, cache=True, fastmath={"contract"})
def linucb_rows(
    user: Any, offered: Any, noise: Any, theta: Any, alpha: float, truth: bool,
    root: Any, moment: Any, action: Any, reward: Any,
) -> None:  # fmt: skip
    """Choose and reward row by row; see `_plain.linucb_rows`.

    With L L' = M, L z = a and L y = b, the estimate's value of a is z'y and its width |z|: one forward
    sweep for all candidates side by side, and a rank-one update of L after the row.
    """
    n, candidates, dim = offered.shape
    z, y, x = np.empty((dim, candidates)), np.empty(dim), np.empty(dim)
    value, square = np.empty(candidates), np.empty(candidates)
    for b in range(n):
        u = user[b]
        upper = root[u]
        for j in range(dim):
            y[j] = moment[u, j]
            for k in range(candidates):
                z[j, k] = offered[b, k, j]
        for k in range(candidates):
            value[k], square[k] = 0.0, 0.0
        for j in range(dim):
            t = theta[u, j]
            if truth:
                for k in range(candidates):
                    value[k] += t * z[j, k]
        for j in range(dim):
            scaled = 1.0 / upper[j, j]
            y[j] *= scaled
            for k in range(candidates):
                z[j, k] *= scaled
                square[k] += z[j, k] * z[j, k]
            if not truth:
                for k in range(candidates):
                    value[k] += z[j, k] * y[j]
            for i in range(j + 1, dim):
                c = upper[j, i]
                y[i] -= c * y[j]
                for k in range(candidates):
                    z[i, k] -= c * z[j, k]
        chosen, best = 0, -np.inf
        for k in range(candidates):
            score = value[k] + alpha * np.sqrt(square[k])
            if score > best:
                chosen, best = k, score
        total = noise[b]
        for j in range(dim):
            x[j] = offered[b, chosen, j]
            total += x[j] * theta[u, j]
        reward[b] = total
        for j in range(dim):
            action[b, j] = x[j]
            moment[u, j] += total * x[j]
        _update(upper, x)


@nb.njit(nogil=True, cache=True)
def _update(upper: Any, x: Any) -> None:
    """Turn the upper factor of M into that of M + x x', using x up."""
    dim = x.shape[0]
    for j in range(dim):
        length = np.sqrt(upper[j, j] ** 2 + x[j] ** 2)
        c, s = length / upper[j, j], x[j] / upper[j, j]
        upper[j, j] = length
        for i in range(j + 1, dim):
            upper[j, i] = (upper[j, i] + s * x[i]) / c
            x[i] = c * x[i] - s * upper[j, i]
