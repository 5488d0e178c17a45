"""The plain twin of `_kernels.py`."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.packed import unpack

Array = NDArray[Any]


class AllServed(NamedTuple):
    """How each of M models serves each user, their tables of policies one below the other.

    `row` (U, M) names the row of the tables `theta` (P, d), `factor` (P, d (d + 1) / 2) and `wide` (P,), by
    which the norms are multiplied; `first` (U, M) the first model that serves the user exactly alike,
    `alike` (U, M) the first whose factor is the same. Factors are packed Cholesky factors with the
    reciprocals of their diagonals. `sign` (M,) and `squared` (M,) are of the models.
    """

    row: Array
    first: Array
    alike: Array
    theta: Array
    factor: Array
    wide: Array
    sign: Array
    squared: Array


def ask(user: Array, action: Array, truth: Array, all_served: AllServed, total: Array, square: Array) -> None:
    """Add what each model loses by its best score to `total` (M,), and the square of it to `square` (M,).

    Requests are of users (B,) with candidates (B, K, d) whose value is that by the `truth` (U, d); ties go
    to the first candidate.
    """
    for u, candidates in zip(user, action, strict=True):
        value = candidates @ truth[u]
        for m, at in enumerate(all_served.row[u]):
            score = candidates @ all_served.theta[at]
            if all_served.sign[m]:
                lower = np.tril(unpack(all_served.factor[at]))
                np.fill_diagonal(lower, 1 / lower.diagonal())
                norm = np.linalg.norm(np.linalg.solve(lower, candidates.T), axis=0)
                score += (
                    all_served.sign[m] * all_served.wide[at] * (norm**2 if all_served.squared[m] else norm)
                )
            lost = value.max() - value[int(np.argmax(score))]
            total[m] += lost
            square[m] += lost**2
