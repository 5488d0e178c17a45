r"""Every user's exact posterior under a learned population, in one pass.

Takes: `Sums` of users, in chunks, and a `Population`.
Gives: `Posterior`: responsibilities, means, factors of the covariances, own shares.
Paper: none; Bayes' rule for linear rewards with Gaussian noise.
Next: `coterie.algorithms.mixture`.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.mixture.expect import Sums
from coterie.mixture.population import Population
from coterie.packed import FloatArray
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics

_CHUNK, _BLOCK = 4096, 256  # users whose sums are copied, and who are served, at a time


@dataclass(frozen=True, eq=False)
class Posterior:
    """Per user: responsibilities (U, K), mean (U, d), packed factor of the precision, own share (U,)."""

    responsibility: FloatArray
    theta: FloatArray
    factor: FloatArray
    own: FloatArray


def posterior(
    stats: UserStatistics,
    population: Population,
    scale: float = 1.0,
    *,
    threads: int = 1,
    progress: Progress = silent,
) -> Posterior:
    """Posterior of each user, then of one never seen; threads change nothing."""
    n = stats.n_users
    found = Posterior(
        np.empty((n + 1, population.n_components)),
        np.empty((n + 1, population.dim)),
        np.empty((n + 1, stats.packed_gram.shape[1])),
        np.empty(n + 1),
    )
    given = _given(population)

    def one(start: int) -> int:
        part = slice(start, min(start + _CHUNK, n))
        _sweep(Sums.of(stats, scale, part), given, found, part)
        return int(part.stop)

    with ThreadPoolExecutor(threads) as pool:
        for done in pool.map(one, range(0, n, _CHUNK)):
            progress("updating users", done, n)
    nobody = Sums(*(np.zeros_like(column, shape=(1, *column.shape[1:])) for column in _columns(stats)))
    _sweep(nobody, given, found, slice(n, n + 1))
    return found


def posterior_of(users: Sums, population: Population) -> Posterior:
    """Posterior of these users alone."""
    n = len(users)
    found = Posterior(
        np.empty((n, population.n_components)),
        np.empty((n, population.dim)),
        np.empty((n, users.gram.shape[1])),
        np.empty(n),
    )
    _sweep(users, _given(population), found, slice(0, n))
    return found


def _columns(stats: UserStatistics) -> tuple[FloatArray, ...]:
    return stats.count, stats.moment, stats.packed_gram, stats.reward_square


def _given(population: Population) -> tuple[Any, ...]:
    """Arguments of the kernel that no user changes."""
    n_points = population.n_points
    precision, log_det = population.precision
    points, doubt = population.centre[:n_points], population.doubt[:n_points]
    gaussians = population.centre[n_points:]
    copies = (np.ascontiguousarray(one) for one in (points, doubt, gaussians))
    return population.log_weight, population.linear, *copies, precision, log_det, population.noise


def _sweep(users: Sums, given: tuple[Any, ...], found: Posterior, part: slice) -> None:
    from coterie.mixture import _kernels

    sweep: Any = _kernels.posterior
    for start in range(0, len(users), _BLOCK):
        some = slice(start, min(start + _BLOCK, len(users)))
        here = slice(part.start + some.start, part.start + some.stop)
        sweep(
            users.moment[some], users.gram[some], users.square[some], users.count[some], *given,
            found.responsibility[here], found.theta[here], found.factor[here], found.own[here],
        )  # fmt: skip
