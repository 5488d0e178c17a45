r"""Off-CLUB's pairwise test in the metric of the two users' own precisions: a chi-square test of equality.

Takes: `Estimates`, the users' Grams, the noise and the ridge.
Gives: an `Ellipsoids` neighbourhood.
Paper: none; in the place of Algorithm 2, line 5, whose Euclidean distance and sum of radii are far wider.
Next: `coterie.pooling`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie import packed
from coterie.confidence import Confidence, Estimates
from coterie.neighbourhood.neighbourhood import Groups, IntArray, Trace
from coterie.packed import FloatArray
from coterie.progress import Progress, silent

_LEAST = 1e-9  # least variance beside the mean one: a direction that neither user has seen tells nothing
_BLOCK_GROUPS = 512


@dataclass(frozen=True, eq=False)
class NotDistinguished:
    """Join all pairs whose equality is not refused; `packed_gram` is in scaled units."""

    packed_gram: FloatArray
    graph_scale: float
    confidence: Confidence

    def connect(self, estimates: Estimates, progress: Progress = silent) -> "Ellipsoids":  # noqa: ARG002
        """Pairs within each other's ellipsoid."""
        from scipy.stats import chi2

        dim = estimates.theta.shape[1]
        limit = self.graph_scale * np.sqrt(chi2.isf(self.confidence.failure_prob, dim))
        none = np.zeros((1, self.packed_gram.shape[1]))
        return Ellipsoids(
            theta=np.vstack([estimates.theta, np.zeros((1, dim))]),
            packed_gram=np.vstack([self.packed_gram, none]),
            ridge=self.confidence.ridge,
            noise=float(self.confidence.noise),
            reach=self.confidence.theta_bound,
            limit=float(limit),
        )


@dataclass(frozen=True, eq=False)
class Ellipsoids:
    r"""v lends to u iff the two estimates differ by no more than the chi-square test allows.

    .. math:: (\hat\theta_u - \hat\theta_v)' C_{uv}^{-1} (\hat\theta_u - \hat\theta_v) \le limit^2, \quad
        C_{uv} = R^2 (A_u + A_v) + \frac{\lambda^2 S^2}{d} (M_u^{-1} - M_v^{-1})^2, \quad
        A_u = M_u^{-1} G_u M_u^{-1}

    The first part of C is what the noise does, the second what unequal shrinkage does to two users with
    one vector of length S. Row U is a user never seen, from whom nobody can be told.
    """

    theta: FloatArray
    packed_gram: FloatArray
    ridge: float
    noise: float
    reach: float
    limit: float

    def __post_init__(self) -> None:
        for name in ("theta", "packed_gram"):
            object.__setattr__(self, name, packed.read_only(getattr(self, name)))

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.theta) - 1

    def distances(self, row: int, prepared: tuple[FloatArray, FloatArray] | None = None) -> FloatArray:
        """Distance (U,) of every user from the one in this row, in standard deviations."""
        inverse, variance = prepared or self._prepared()
        dim = self.theta.shape[1]
        bias = inverse[row] - inverse[:-1]
        covariance = variance[row] + variance[:-1]
        covariance += self.ridge**2 * self.reach**2 / dim * np.matmul(bias, bias)
        trace = np.einsum("nii->n", covariance) / dim
        covariance[:, np.arange(dim), np.arange(dim)] += (_LEAST * trace + np.finfo(float).tiny)[
            :, np.newaxis
        ]
        away = self.theta[:-1] - self.theta[row]
        factor = np.linalg.cholesky(covariance)
        solved = packed.solve(factor, away)
        return np.asarray(np.sqrt(np.maximum(np.einsum("ni,ni->n", away, solved), 0.0)))

    def groups(self, columns: tuple[FloatArray, ...], progress: Progress = silent) -> Groups:
        """Sums over lenders; users with the same lenders share one row."""
        n, prepared = self.n_users, self._prepared()
        group, members = np.empty(n + 1, dtype=np.int64), list[NDArray[np.uint8]]()
        known: dict[bytes, int] = {}
        for row in range(n + 1):
            bits = np.packbits(self._lends(row, self.distances(row, prepared)))
            key = bits.tobytes() if row < n else b"never seen"
            group[row] = known.setdefault(key, len(known))
            if group[row] == len(members):
                members.append(bits)
            progress("comparing users", row + 1, n + 1)
        return self._summed(group, np.array(members), columns)

    def trace(self, row: int) -> Trace:
        """Distances and thresholds of one user to all, in standard deviations."""
        distance = self.distances(row)
        return Trace(distance, np.full(self.n_users, self.limit), self._lends(row, distance))

    def reason(self, row: int, other: int, trace: Trace) -> str:  # noqa: ARG002
        """How far apart the two are."""
        return f"{trace.distance[other]:.3g} standard deviations apart, beyond {self.limit:.3g}"

    def _prepared(self) -> tuple[FloatArray, FloatArray]:
        """Inverse (U + 1, d, d) of each precision, and the variance that the noise causes."""
        gram = packed.unpack(self.packed_gram)
        precision = packed.regularised(self.packed_gram, self.ridge)
        eye = np.broadcast_to(np.eye(precision.shape[-1]), precision.shape)
        inverse = np.asarray(np.linalg.solve(precision, eye), dtype=np.float64)
        variance = self.noise**2 * np.matmul(np.matmul(inverse, gram), inverse)
        return inverse, np.asarray(variance, dtype=np.float64)

    def _lends(self, row: int, distance: FloatArray) -> NDArray[np.bool_]:
        lends = distance <= self.limit
        if row < self.n_users:
            lends[row] = True
        return np.asarray(lends)

    def _summed(self, group: IntArray, members: NDArray[np.uint8], columns: tuple[FloatArray, ...]) -> Groups:
        sums = tuple(np.zeros((len(members), *column.shape[1:])) for column in columns)
        n_pooled = np.zeros(len(members))
        for start in range(0, len(members), _BLOCK_GROUPS):
            part = slice(start, start + _BLOCK_GROUPS)
            lends = np.unpackbits(members[part], axis=1, count=self.n_users).astype(np.float64)
            n_pooled[part] = lends.sum(axis=1)
            for total, column in zip(sums, columns, strict=True):
                total[part] = lends @ column
        n_pooled[-1] += 1
        return Groups(group, sums, n_pooled)
