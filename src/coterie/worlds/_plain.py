"""The plain twin of `_kernels.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def linucb_rows(
    user: Array, offered: Array, noise: Array, theta: Array, alpha: float, truth: bool,
    root: Array, moment: Array, action: Array, reward: Array,
) -> None:  # fmt: skip
    """Write the chosen `action` (n, d) and its `reward` (n,) for users (n,) who are offered (n, K, d).

    `root` (U, d, d) holds upper factors R of the users' precision M = R'R and, with `moment` (U, d), is
    updated after every row; `theta` (U, d) is the truth, which counts for rewards, and for choices only if
    `truth` is asked for.
    """
    for b, u in enumerate(user):
        precision = root[u].T @ root[u]
        centre = theta[u] if truth else np.linalg.solve(precision, moment[u])
        width = np.sqrt(np.einsum("kd,dk->k", offered[b], np.linalg.solve(precision, offered[b].T)))
        chosen = offered[b, int(np.argmax(offered[b] @ centre + alpha * width))]
        action[b], reward[b] = chosen, chosen @ theta[u] + noise[b]
        moment[u] += reward[b] * chosen
        root[u] = np.linalg.cholesky(precision + np.outer(chosen, chosen)).T
