r"""The sweep over users that every learner repeats: responsibilities, evidence and the sums of the next step.

Takes: `Sums` of users and a `Population`.
Gives: `Expected`; the same to the last bit whatever the number of threads.
Paper: none; this is the expectation step of Dempster, Laird and Rubin (1977).
Next: `points`, `gaussians`.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.mixture.population import Population
from coterie.packed import FloatArray
from coterie.statistics import UserStatistics

_BLOCK = 128  # users whose sums are added up together, in an order that no thread changes


@dataclass(frozen=True, eq=False)
class Sums:
    """Users' sums in scaled units, packed."""

    count: FloatArray
    moment: FloatArray
    gram: FloatArray
    square: FloatArray

    @classmethod
    def of(cls, stats: UserStatistics, scale: float, rows: Any) -> "Sums":
        """Sums of the users in these rows (an array of rows, or a slice)."""
        return cls(
            np.ascontiguousarray(stats.count[rows]),
            stats.moment[rows] / scale,
            stats.packed_gram[rows] / scale**2,
            np.ascontiguousarray(stats.reward_square[rows]),
        )

    def __len__(self) -> int:
        """Count the users."""
        return len(self.count)

    @property
    def dim(self) -> int:
        """Coordinates of an action."""
        return int(self.moment.shape[1])

    @property
    def n_samples(self) -> float:
        """Sum of the counts."""
        return float(self.count.sum())


@dataclass(frozen=True, eq=False)
class Expected:
    """What one sweep gives: `_plain.expect` says what each is."""

    responsibility: FloatArray
    evidence: float
    residual: float
    mass: FloatArray
    first: FloatArray
    second: FloatArray
    moments: FloatArray
    grams: FloatArray


def expect(users: Sums, population: Population, *, heat: float = 1.0, threads: int = 1) -> Expected:
    """One sweep over the users, in blocks."""
    from coterie.mixture import _kernels

    n, dim, size = len(users), users.dim, users.gram.shape[1]
    n_parts, n_points = population.n_components, population.n_points
    n_gaussians = n_parts - n_points
    starts = range(0, n, _BLOCK)
    shapes = ((2,), (n_parts,), (n_gaussians, dim), (n_gaussians, size), (n_points, dim), (n_points, size))
    sums = [np.zeros((len(starts), *shape)) for shape in shapes]
    responsibility = np.empty((n, n_parts))
    precision, log_det = population.precision
    given = (
        population.log_weight, population.linear, np.ascontiguousarray(population.centre[n_points:]),
        precision, log_det, population.noise, heat,
    )  # fmt: skip

    def one(block: int) -> None:
        part = slice(starts[block], starts[block] + _BLOCK)
        _kernels.expect(
            users.count[part], users.moment[part], users.gram[part], users.square[part],
            *given, responsibility[part], *(total[block] for total in sums),
        )  # fmt: skip

    if threads > 1 and len(starts) > 1:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(one, range(len(starts))))
    else:
        for block in range(len(starts)):
            one(block)
    totals, mass, first, second, moments, grams = (total.sum(axis=0) for total in sums)
    return Expected(responsibility, float(totals[0]), float(totals[1]), mass, first, second, moments, grams)
