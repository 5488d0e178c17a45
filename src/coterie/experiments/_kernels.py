"""Compiled scoring of requests whose candidates are equally many; the twin is in `_plain.py`.

Dimension and number of candidates are compile-time constants, which keeps the innermost loops over
candidates in vector registers; the compiled code is cached on disk, one entry a shape.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba as nb
import numpy as np

Turn = Callable[..., None]
Lose = Callable[..., None]


@nb.njit(nogil=True, cache=True)
def turn(action: Any, theta: Any, turned: Any, value: Any) -> None:
    """Lay candidates side by side and value them by the truth; see `_plain.turn`."""
    for b in range(action.shape[0]):
        for k in range(action.shape[1]):
            total = 0.0
            for j in range(action.shape[2]):
                turned[b, j, k] = action[b, k, j]
                total += theta[b, j] * action[b, k, j]
            value[b, k] = total


@nb.njit(nogil=True, inline="always")
def _spreads(turned: Any, factor: Any, squared: bool, z: Any, spread: Any) -> None:
    """Squared norms |L^-1 a|^2 of all candidates, or the norms: two rows of z by two known ones at a time."""
    dim, candidates = z.shape
    for j in range(dim):
        for k in range(candidates):
            z[j, k] = turned[j, k]
    for k in range(candidates):
        spread[k] = 0.0
    for j in range(0, dim - 1, 2):
        at, below = j * (j + 1) // 2, (j + 1) * (j + 2) // 2
        if j % 4:
            c0, c1, e0, e1 = factor[at], factor[at + 1], factor[below], factor[below + 1]
            for k in range(candidates):
                z0, z1 = z[0, k], z[1, k]
                z[j, k] -= c0 * z0 + c1 * z1
                z[j + 1, k] -= e0 * z0 + e1 * z1
        for i in range(j % 4, j, 4):
            c0, c1, c2, c3 = factor[at + i], factor[at + i + 1], factor[at + i + 2], factor[at + i + 3]
            e0, e1, e2, e3 = (
                factor[below + i], factor[below + i + 1], factor[below + i + 2], factor[below + i + 3]
            )  # fmt: skip
            for k in range(candidates):
                z0, z1, z2, z3 = z[i, k], z[i + 1, k], z[i + 2, k], z[i + 3, k]
                z[j, k] -= c0 * z0 + c1 * z1 + (c2 * z2 + c3 * z3)
                z[j + 1, k] -= e0 * z0 + e1 * z1 + (e2 * z2 + e3 * z3)
        scaled, e, scaled_below = 1.0 / factor[at + j], factor[below + j], 1.0 / factor[below + j + 1]
        for k in range(candidates):
            v = z[j, k] * scaled
            w = (z[j + 1, k] - e * v) * scaled_below
            z[j, k], z[j + 1, k] = v, w
            spread[k] += v * v + w * w
    if dim % 2:
        at = dim * (dim - 1) // 2
        for i in range(dim - 1):
            c = factor[at + i]
            for k in range(candidates):
                z[dim - 1, k] -= c * z[i, k]
        for k in range(candidates):
            v = z[dim - 1, k] / factor[at + dim - 1]
            spread[k] += v * v
    if not squared:
        for k in range(candidates):
            spread[k] = np.sqrt(spread[k])


@nb.njit(nogil=True, inline="always")
def _is_safe(chosen: int, turned: Any, factor: Any, wide: float, squared: bool, score: Any, z: Any) -> bool:
    """Whether the best estimate stays ahead once its own width is taken off, the others' being >= 0.

    The width only grows from row to row: most that fail do so after a few.
    """
    dim, candidates = z.shape
    second = -np.inf
    for k in range(candidates):
        if k != chosen:
            second = max(second, score[k])
    room = (score[chosen] - second) / wide if wide > 0.0 else np.inf
    room = room if squared else room * room
    at, total = 0, 0.0
    for j in range(dim):
        x = turned[j, chosen]
        for i in range(j):
            x -= factor[at + i] * z[i, 0]
        x /= factor[at + j]
        z[j, 0] = x
        total += x * x
        at += j + 1
        if total >= room:
            return False
    return True


@cache
def lose_for(dim: int, candidates: int) -> Lose:
    """Kernel for one shape of requests; see `_plain.lose` for what it does."""

    @nb.njit(nogil=True, cache=True, fastmath={"contract"})
    def lose(
        rows: Any, group: Any, turned: Any, value: Any, theta: Any, factor: Any, wide: Any,
        sign: float, squared: bool, lost: Any,
    ) -> None:  # fmt: skip
        z, score, spread = np.empty((dim, candidates)), np.empty(candidates), np.empty(candidates)
        for row in rows:
            g = group[row]
            for k in range(candidates):
                score[k] = 0.0
            for j in range(dim):
                t = theta[g, j]
                for k in range(candidates):
                    score[k] += t * turned[row, j, k]
            chosen = 0
            for k in range(1, candidates):
                if score[k] > score[chosen]:
                    chosen = k
            if sign > 0.0 or (sign < 0.0 and not _is_safe(
                chosen, turned[row], factor[g], wide[g], squared, score, z
            )):  # fmt: skip
                _spreads(turned[row], factor[g], squared, z, spread)
                for k in range(candidates):
                    score[k] += sign * wide[g] * spread[k]
                chosen = 0
                for k in range(1, candidates):
                    if score[k] > score[chosen]:
                        chosen = k
            best = value[row, 0]
            for k in range(1, candidates):
                best = max(best, value[row, k])
            lost[row] = best - value[row, chosen]

    compiled: Lose = lose
    return compiled
