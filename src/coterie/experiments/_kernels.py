"""Compiled scoring of requests whose candidates are equally many; the twin is in `_plain.py`.

Dimension and number of candidates are compile-time constants, which keeps the innermost loops over
candidates in vector registers; the compiled code is cached on disk, one entry a shape.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba as nb
import numpy as np

from coterie.experiments._lanes import LANES, inner, squares

Ask = Callable[..., None]


@nb.njit(nogil=True, inline="always")
def _first_of_the_largest(score: Any, candidates: int) -> Any:
    chosen = 0
    for k in range(1, candidates):
        if score[k] > score[chosen]:
            chosen = k
    return chosen


@cache
def ask_for(dim: int, candidates: int) -> Ask:
    """Kernel for one shape of requests; see `_plain.ask` for what it does."""
    padded = -(-candidates // LANES) * LANES

    @nb.njit(nogil=True, cache=True)
    def ask(user: Any, action: Any, truth: Any, all_served: Any, total: Any, square: Any) -> None:
        row, first, alike, theta, factor, wide, sign, squared = all_served
        n_models = row.shape[1]
        turned, value, score = np.zeros((dim, padded)), np.empty(padded), np.empty(padded)
        spread, lost = np.empty((n_models, padded)), np.empty(n_models)
        is_known = np.empty(n_models, dtype=np.bool_)
        for b in range(user.shape[0]):
            u = user[b]
            for k in range(candidates):
                for j in range(dim):
                    turned[j, k] = action[b, k, j]
            inner(truth[u], turned, value, dim)
            best = value[_first_of_the_largest(value, candidates)]
            is_known[:] = False
            for m in range(n_models):
                if first[u, m] != m:
                    lost[m] = lost[first[u, m]]
                else:
                    at = row[u, m]
                    inner(theta[at], turned, score, dim)
                    if sign[m] != 0.0:
                        a = alike[u, m]
                        if not is_known[a]:
                            squares(factor[at], turned, spread[a], dim)
                            is_known[a] = True
                        times = sign[m] * wide[at]
                        if squared[m]:
                            for k in range(padded):
                                score[k] += times * spread[a, k]
                        else:
                            for k in range(padded):
                                score[k] += times * np.sqrt(spread[a, k])
                    lost[m] = best - value[_first_of_the_largest(score, candidates)]
                total[m] += lost[m]
                square[m] += lost[m] * lost[m]

    compiled: Ask = ask
    return compiled
