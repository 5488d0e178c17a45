"""The plain twin of `_kernels.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.packed import unpack

NOT_FINITE = -2  # in place of an index: some action of the request has NaN or infinity


def choose(
    group: NDArray[np.int64], start: NDArray[np.int64], length: NDArray[np.int64], action: NDArray[Any],
    theta: NDArray[Any], factor: NDArray[Any], multiplier: NDArray[Any],
    sign: float, squared: bool, scale: float,
    index: NDArray[np.int64], estimate: NDArray[Any], width: NDArray[Any],
) -> None:  # fmt: skip
    """Best actions of every request, written into the last three arguments (B, top).

    Request b is of group `group[b]` and may choose among the rows `start[b]` to
    `start[b] + length[b]` of `action`. `factor` holds packed Cholesky factors, so that
    `||a||_{M^-1} = |L^-1 a|`. Places beyond the number of actions get index -1; all places of a request
    with a non-finite action get `NOT_FINITE`.
    """
    for b, (g, first, n) in enumerate(zip(group, start, length, strict=True)):
        actions = action[first : first + n]
        if not np.isfinite(actions).all():
            index[b] = NOT_FINITE
            continue
        lower = np.tril(unpack(factor[g]))
        norm = np.linalg.norm(np.linalg.solve(lower, actions.T), axis=0)
        value = actions @ theta[g]
        spread = scale * multiplier[g] * (norm**2 if squared else norm)
        order = np.argsort(-(value + sign * spread), kind="stable")[: index.shape[1]]
        index[b, : len(order)], index[b, len(order) :] = order, -1
        estimate[b, : len(order)], width[b, : len(order)] = value[order], spread[order]
