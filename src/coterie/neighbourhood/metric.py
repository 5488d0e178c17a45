r"""Neighbourhoods by distance: v lends to u iff ||theta_u - theta_v|| and both slacks stay in a limit.

Takes: points, a slack for each and a limit for each borrower.
Gives: a `Metric` neighbourhood; sums over lenders by blocks of exact distances and matrix products.
Paper: the separating condition of Off-CLUB and the connecting condition of Off-C2LUB in one form.
Next: `coterie.pooling`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie import packed
from coterie.neighbourhood.distances import blocks
from coterie.neighbourhood.neighbourhood import Groups, IntArray, Trace
from coterie.packed import FloatArray
from coterie.progress import Progress, silent

_BLOCK_GROUPS = 512
_FEW = 0.05  # share of pairs below which a sparse product is the faster one


@dataclass(frozen=True, eq=False)
class Metric:
    r"""v lends to u iff `||theta_u - theta_v|| + (slack_u + slack_v) < limit_u`, and u to herself.

    The comparison is `<=` unless `strict`; `mutual` asks for it with `limit_v` as well. Kept in this
    form so that the user who sets a gap ties with it exactly: over-estimation takes the least left
    side for the limit. Rows 0 to U - 1 are the users, row U is a user never seen.
    """

    theta: FloatArray
    slack: FloatArray
    limit: FloatArray
    strict: bool
    mutual: bool = False

    def __post_init__(self) -> None:
        for name in ("theta", "slack", "limit"):
            object.__setattr__(self, name, packed.read_only(getattr(self, name)))

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.theta) - 1

    def groups(self, columns: tuple[FloatArray, ...], progress: Progress = silent) -> Groups:
        """Sums over lenders; users with the same lenders share one row."""
        group, members, farthest = self._distinct(progress)
        n = self.n_users
        sums = tuple(np.zeros((len(members), *column.shape[1:])) for column in columns)
        n_pooled = np.zeros(len(members))
        for start in range(0, len(members), _BLOCK_GROUPS):
            part = slice(start, start + _BLOCK_GROUPS)
            lends = _product_form(np.unpackbits(members[part], axis=1, count=n))
            n_pooled[part] = np.asarray(lends.sum(axis=1)).ravel()
            for total, column in zip(sums, columns, strict=True):
                total[part] = lends @ column
            progress("pooling", min(start + _BLOCK_GROUPS, len(members)), len(members))
        n_pooled[-1] += 1
        return Groups(group, sums, n_pooled, farthest)

    def trace(self, row: int) -> Trace:
        """Distances and thresholds of one user to all."""
        _, distance = next(blocks(self.theta[row : row + 1], self.theta[:-1]))
        rows = np.array([row])
        both = self.slack[row] + self.slack[:-1]
        threshold = self._limits(rows)[0] - both
        return Trace(distance[0], threshold, self._lends(rows, distance)[0])

    def needed(self, row: int) -> FloatArray:
        """Limit (U,) above which each user would lend to the one in this row: distance and both slacks."""
        _, distance = next(blocks(self.theta[row : row + 1], self.theta[:-1]))
        return np.asarray(distance[0] + (self.slack[row] + self.slack[:-1]))

    def lenders(self, rows: IntArray) -> NDArray[np.bool_]:
        """Who lends (b, U) to the users in these rows."""
        return np.vstack(
            [
                self._lends(rows[part], distance)
                for part, distance in blocks(self.theta[rows], self.theta[:-1])
            ]
        )

    def reason(self, row: int, other: int, trace: Trace) -> str:
        """Which quantity keeps the two apart."""
        for who, name in ((row, "the user"), (other, "the other user")):
            if self.slack[who] == np.inf:
                return f"{name} has too few samples, or an infinite radius"
            if self.strict and self.limit[who] == 0 and (who == row or self.mutual):
                return f"{name} has gap 0: nobody is provably different"
        distance, threshold = trace.distance[other], trace.threshold[other]
        if self.strict and np.isclose(distance, threshold, rtol=1e-9, atol=0):
            return f"distance {distance:.3g} is the threshold itself and not below it: this user sets the gap"
        digits = next((n for n in (3, 6, 9) if f"{distance:.{n}g}" != f"{threshold:.{n}g}"), 12)
        return f"distance {distance:.{digits}g} is beyond the threshold {threshold:.{digits}g}"

    def _distinct(self, progress: Progress) -> tuple[IntArray, NDArray[np.uint8], float]:
        """Group of each row, the packed lenders of each group, the largest distance of a pair."""
        n = self.n_users
        group, members, farthest = np.empty(n + 1, dtype=np.int64), list[NDArray[np.uint8]](), 0.0
        known: dict[bytes, int] = {}
        for rows, distance in blocks(self.theta, self.theta[:-1]):
            farthest = max(farthest, float(distance[rows < n].max(initial=0.0)))
            lenders = np.packbits(self._lends(rows, distance), axis=1)
            for row, bits in zip(rows, lenders, strict=True):
                key = bits.tobytes() if row < n else b"never seen"
                group[row] = known.setdefault(key, len(known))
                if group[row] == len(members):
                    members.append(bits.copy())
            progress("comparing users", int(rows[-1]) + 1, n + 1)
        return group, np.array(members), farthest

    def _limits(self, rows: IntArray) -> FloatArray:
        """Limit (b, U) of each pair, or (b, 1) where it is the borrower's alone."""
        own = self.limit[rows, np.newaxis]
        return np.minimum(own, self.limit[:-1]) if self.mutual else own

    def _lends(self, rows: IntArray, distance: FloatArray) -> NDArray[np.bool_]:
        left = distance + (self.slack[rows, np.newaxis] + self.slack[:-1])
        limit = self._limits(rows)
        lends = left < limit if self.strict else left <= limit
        own = rows[rows < self.n_users]
        lends[np.arange(len(own)), own] = True
        return lends


def _product_form(lends: NDArray[np.uint8]) -> Any:
    """The matrix of who lends as numbers, sparse where few do."""
    if lends.mean() > _FEW:
        return lends.astype(np.float64)
    from scipy.sparse import csr_array

    return csr_array(lends, dtype=np.float64)
