r"""Neighbourhoods by distance: v lends to u iff ||theta_u - theta_v|| and both slacks stay in a limit.

Takes: points, a slack for each and a limit for each borrower.
Gives: a `Metric` neighbourhood; sums over lenders, by a tree or by blocks of exact distances.
Paper: the separating condition of Off-CLUB and the connecting condition of Off-C2LUB in one form.
Next: `coterie.pooling`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie import packed
from coterie.errors import ParameterError
from coterie.neighbourhood.distances import DENSE_BELOW, blocks, largest_found
from coterie.neighbourhood.neighbourhood import Edges, Groups, IntArray, Trace
from coterie.neighbourhood.search.asked import everybody_in, one_blas_thread, tiles
from coterie.neighbourhood.search.lenders import hardly_shared, lenders_of, rule_over
from coterie.neighbourhood.search.sums import kept, sums_and_lenders, sums_of
from coterie.packed import FloatArray
from coterie.progress import Progress, silent

MOST_DENSE = 50_000  # users whose pairs are compared one by one: some minutes
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

    @property
    def search(self) -> str:
        """How pairs are compared: "tree" or "dense"."""
        return "dense" if self.n_users < DENSE_BELOW or self._odd() else "tree"

    def groups(
        self, columns: tuple[FloatArray, ...], progress: Progress = silent, *, threads: int | None = None
    ) -> Groups:
        """Sums over lenders; users with the same lenders share one row."""
        return (
            self._by_tree(columns, progress, threads)
            if self.search == "tree"
            else self._dense(columns, progress)
        )

    def edges(self) -> Iterator[Edges]:
        """Lenders of all users, a few users at a time: made while they are asked for, never kept."""
        from coterie.neighbourhood.search import _kernels

        if self.search == "dense":
            for rows, distance in blocks(self.theta[:-1], self.theta[:-1]):
                borrower, lender = np.nonzero(self._lends(rows, distance))
                yield Edges.of(rows, borrower, lender)
            return
        rule = rule_over(self.theta, self.slack, self.limit, strict=self.strict, mutual=self.mutual)
        tree, leaves = rule.tree, rule.tree.leaves
        inside, asked = np.zeros((64, len(tree.order)), dtype=np.uint8), everybody_in(tree)
        for begin, end in zip(*tiles(tree.start[leaves], tree.stop[leaves]), strict=True):
            _kernels.rows(tree, asked, begin, end, self.strict, inside)
            inside[np.arange(end - begin), np.arange(begin, end)] = True
            borrower, at = np.nonzero(inside[: end - begin])
            n_more = len(rule.anywhere)
            more = np.repeat(np.arange(end - begin), n_more), np.tile(rule.anywhere, end - begin)
            ends = np.append(borrower, more[0]), np.append(tree.order[at], more[1])
            yield Edges.of(tree.order[begin:end], *ends)
        for row in np.flatnonzero(np.isinf(self.slack[:-1])).tolist():
            lender = np.flatnonzero(self.trace(row).lends)
            yield Edges.of(np.array([row]), np.zeros(len(lender), dtype=np.int64), lender)

    def _by_tree(self, columns: tuple[FloatArray, ...], progress: Progress, threads: int | None) -> Groups:
        """Fingerprints of all, then one sum per distinct set; both at once where few are shared."""
        rule = rule_over(self.theta, self.slack, self.limit, strict=self.strict, mutual=self.mutual)
        if hardly_shared(rule):
            sums, lenders = sums_and_lenders(rule, columns, progress, threads)
            group, first = lenders.groups()
            sums = kept(sums, first)
        else:
            lenders = lenders_of(rule, progress, threads)
            group, first = lenders.groups()
            sums = sums_of(rule, first, lenders.count[first], columns, progress, threads)
        del rule  # its tree is as large as the estimates, and what follows needs room for these
        n_pooled = lenders.count[first].astype(np.float64)
        idle = len(first) == 2 or n_pooled[:-1].max() == 1  # noqa: PLR2004
        n_pooled[-1] += 1
        farthest = largest_found(self.theta[:-1]) if idle else np.nan
        return Groups(group, sums, n_pooled, farthest, "tree")

    def _odd(self) -> bool:
        """Whether infinite numbers make the rule one that no bound decides; refused for many users."""
        slack, limit = self.slack, self.limit
        odd = bool(
            np.isnan(slack).any()
            or np.isnan(limit).any()
            or (limit == -np.inf).any()
            or ((slack == np.inf).any() and ((slack == -np.inf).any() or not self.strict))
        )
        if odd and self.n_users > MOST_DENSE:
            raise ParameterError(
                f"the rule has infinite slacks or limits that only comparing all pairs can settle, which is "
                f"done for at most {MOST_DENSE:,} users and there are {self.n_users:,}; give finite ones"
            )
        return odd

    def _dense(self, columns: tuple[FloatArray, ...], progress: Progress) -> Groups:
        """Every pair compared, every distinct set of lenders as a row of bits."""
        group, members, farthest = self._distinct(progress)
        n = self.n_users
        sums = tuple(np.zeros((len(members), *column.shape[1:])) for column in columns)
        n_pooled = np.zeros(len(members))
        for start in range(0, len(members), _BLOCK_GROUPS):
            part = slice(start, start + _BLOCK_GROUPS)
            lends = _product_form(np.unpackbits(members[part], axis=1, count=n))
            n_pooled[part] = np.asarray(lends.sum(axis=1)).ravel()
            with one_blas_thread():
                for total, column in zip(sums, columns, strict=True):
                    total[part] = lends @ column
            progress("pooling", min(start + _BLOCK_GROUPS, len(members)), len(members))
        n_pooled[-1] += 1
        return Groups(group, sums, n_pooled, farthest, "dense")

    def trace(self, row: int) -> Trace:
        """Distances and thresholds of one user to all."""
        _, distance = next(blocks(self.theta[row : row + 1], self.theta[:-1]))
        rows = np.array([row])
        both = self.slack[row] + self.slack[:-1]
        threshold = self._limits(rows)[0] - both
        return Trace(distance[0], threshold, self._lends(rows, distance)[0])

    def needed(self, rows: IntArray) -> FloatArray:
        """Limit (b, U) above which each user would lend to those in these rows: distance and both slacks."""
        return np.vstack(
            [
                distance + (self.slack[rows[part], np.newaxis] + self.slack[:-1])
                for part, distance in blocks(self.theta[rows], self.theta[:-1])
            ]
        )

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
