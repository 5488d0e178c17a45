"""Compiled scoring of many action sets; the twin is in `_plain.py`."""

from typing import Any

import numba as nb
import numpy as np

from coterie.decision._plain import NOT_FINITE

_ALONE = 4  # actions that are measured one at a time before all of them are, side by side


@nb.njit(nogil=True, cache=True)
def choose(
    group: Any, start: Any, length: Any, action: Any, theta: Any, factor: Any, multiplier: Any,
    sign: float, squared: bool, scale: float, index: Any, estimate: Any, width: Any,
) -> None:  # fmt: skip
    """Best actions of every request; see `_plain.choose` for what each argument is.

    A width costs d times as much as an estimate. Without optimism a score never exceeds its estimate, so
    actions are measured in the order of their estimates, and the others are left out once no estimate
    reaches the best score.
    """
    dim = theta.shape[1]
    most = 0
    for b in range(length.shape[0]):
        most = max(most, length[b])
    z = np.empty((dim, most))
    value, spread, score = np.empty(most), np.empty(most), np.empty(most)
    done = np.empty(most, dtype=np.bool_)
    for b in range(group.shape[0]):
        g, first, n = group[b], start[b], length[b]
        factor_g, wide = factor[g], scale * multiplier[g]
        value[:n] = 0.0
        for j in range(dim):
            t = theta[g, j]
            for k in range(n):
                value[k] += t * action[first + k, j]
        finite = True
        for k in range(n):
            finite = finite and np.isfinite(value[k])
        if not finite:
            index[b] = NOT_FINITE
            continue
        if sign <= 0.0 and index.shape[1] == 1:
            best = _few(factor_g, action, first, n, wide, sign, squared, value, spread, score, done, z)
            if best >= 0:
                index[b, 0], estimate[b, 0], width[b, 0] = best, value[best], spread[best]
                continue
        _all_spreads(factor_g, action, first, n, wide, squared, spread, z)
        for k in range(n):
            score[k] = value[k] + sign * spread[k]
        for place in range(index.shape[1]):
            best = -1
            for k in range(n):
                if not np.isnan(score[k]) and (best < 0 or score[k] > score[best]):
                    best = k
            index[b, place] = best
            if best >= 0:
                estimate[b, place] = value[best]
                width[b, place] = spread[best]
                score[best] = np.nan


@nb.njit(nogil=True, cache=True)
def _few(
    factor: Any, action: Any, first: int, n: int, wide: float, sign: float, squared: bool,
    value: Any, spread: Any, score: Any, done: Any, z: Any,
) -> int:  # fmt: skip
    """Best action after measuring a few, or -1 where a few do not tell."""
    done[:n] = False
    best = -1
    for _ in range(_ALONE + 1):
        top = -1
        for k in range(n):
            if not done[k] and (top < 0 or value[k] > value[top]):
                top = k
        if top < 0 or (best >= 0 and value[top] < score[best]):
            return best
        done[top] = True
        _all_spreads(factor, action, first + top, 1, wide, squared, spread[top : top + 1], z)
        score[top] = value[top] + sign * spread[top]
        if best < 0 or score[top] > score[best] or (score[top] == score[best] and top < best):
            best = top
    return -1


@nb.njit(nogil=True, cache=True)
def _all_spreads(
    factor: Any, action: Any, first: int, n: int, wide: float, squared: bool, spread: Any, z: Any
) -> None:
    """Widths of n actions: `L z = a` is solved for all side by side, the innermost loop over actions."""
    dim = z.shape[0]
    at = 0
    spread[:n] = 0.0
    for j in range(dim):
        for k in range(n):
            z[j, k] = action[first + k, j]
        for i in range(j):
            c = factor[at + i]
            for k in range(n):
                z[j, k] -= c * z[i, k]
        diagonal = factor[at + j]
        for k in range(n):
            z[j, k] /= diagonal
            spread[k] += z[j, k] * z[j, k]
        at += j + 1
    for k in range(n):
        spread[k] = wide * (spread[k] if squared else np.sqrt(spread[k]))
