"""Compiled scoring of many action sets; the twin is in `_plain.py`."""

from typing import Any

import numba as nb
import numpy as np

from coterie.decision._plain import NOT_FINITE


@nb.njit(nogil=True, cache=True)
def choose(
    group: Any, start: Any, length: Any, action: Any, theta: Any, factor: Any, multiplier: Any,
    sign: float, squared: bool, scale: float, index: Any, estimate: Any, width: Any,
) -> None:  # fmt: skip
    """Best actions of every request; see `_plain.choose` for what each argument is.

    The triangular system `L z = a` is solved for all actions of a request side by side, so that the
    innermost loop runs over actions.
    """
    dim = theta.shape[1]
    most = 0
    for b in range(length.shape[0]):
        most = max(most, length[b])
    z = np.empty((dim, most))
    value, spread, score = np.empty(most), np.empty(most), np.empty(most)
    for b in range(group.shape[0]):
        g, first, n = group[b], start[b], length[b]
        for k in range(n):
            value[k] = 0.0
            spread[k] = 0.0
        for j in range(dim):
            t = theta[g, j]
            for k in range(n):
                z[j, k] = action[first + k, j]
                value[k] += t * z[j, k]
        at = 0
        for j in range(dim):
            for i in range(j):
                c = factor[g, at + i]
                for k in range(n):
                    z[j, k] -= c * z[i, k]
            diagonal = factor[g, at + j]
            for k in range(n):
                z[j, k] /= diagonal
                spread[k] += z[j, k] * z[j, k]
            at += j + 1
        finite = True
        for k in range(n):
            finite = finite and np.isfinite(value[k])
            length_of_action = spread[k] if squared else np.sqrt(spread[k])
            spread[k] = scale * multiplier[g] * length_of_action
            score[k] = value[k] + sign * spread[k]
        if not finite:
            index[b] = NOT_FINITE
            continue
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
