r"""SCLUB's clusters: users are split from a cluster that they differ from, clusters that agree are merged.

Takes: `Estimates` and the users' sums, or the rows of a log in order.
Gives: a `SameLabel` neighbourhood.
Paper: the SCLUB baseline of the experiments; Li, Chen, Li and Leung 2019, "Improved algorithm on online
clustering of bandits".
Next: `coterie.pooling`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie import packed
from coterie.confidence import Estimates
from coterie.neighbourhood.components import Rows, online_radius
from coterie.neighbourhood.neighbourhood import IntArray, SameLabel
from coterie.packed import FloatArray
from coterie.progress import Progress, silent

FREQUENCY_SCALE = math.sqrt(2)  # alpha_p of the code in circulation


@dataclass(frozen=True, eq=False)
class SplitThenMerge:
    r"""One pass of splits over the users, then merges until none is left.

    A user leaves the cluster of everybody, which loses her sums at once, if

    .. math:: \|\hat\theta_u - \hat\theta_c\| > \alpha (f(N_u) + f(N_c)).

    Clusters 1 and 2 become one if

    .. math:: \|\hat\theta_1 - \hat\theta_2\| < \alpha (f(N_1) + f(N_2)) / 2.

    Users are gone through in their order; clusters in the order in which they came to be, each with the
    later ones, and again until a whole sweep merges nothing. `moment` (U, d) and `packed_gram` are sums
    in scaled units.
    """

    moment: FloatArray
    packed_gram: FloatArray
    graph_scale: float
    ridge: float

    def connect(self, estimates: Estimates, progress: Progress = silent) -> SameLabel:
        """One label per cluster, numbered in the order in which the clusters came to be."""
        left = self._split(estimates, progress)
        members = [np.flatnonzero(~left), *np.flatnonzero(left)[:, np.newaxis]]
        return SameLabel(self._merge([some for some in members if len(some)], estimates.count, progress))

    def _split(self, estimates: Estimates, progress: Progress) -> NDArray[np.bool_]:
        """Whether each user (U,) leaves the cluster of everybody."""
        n_users, radius = len(estimates.count), online_radius(estimates.count)
        left = np.zeros(n_users, dtype=np.bool_)
        count, moment, gram = estimates.count.sum(), self.moment.sum(axis=0), self.packed_gram.sum(axis=0)
        centre = self._ridge(gram, moment)
        for u in range(n_users):
            limit = self.graph_scale * (radius[u] + online_radius(count))
            if np.linalg.norm(estimates.theta[u] - centre) > limit and left.sum() < n_users - 1:
                left[u] = True
                count, moment, gram = (
                    count - estimates.count[u],
                    moment - self.moment[u],
                    gram - self.packed_gram[u],
                )
                centre = self._ridge(gram, moment)
        progress("splitting clusters", n_users, n_users)
        return left

    def _merge(self, members: list[IntArray], counts: FloatArray, progress: Progress) -> IntArray:
        """Label (U,) of each user once nothing merges any more."""
        label = np.empty(len(counts), dtype=np.int64)
        for c, some in enumerate(members):
            label[some] = c
        sums = [_by_label(column, label, len(members)) for column in (counts, self.moment, self.packed_gram)]
        theta = np.array([self._ridge(*pair) for pair in zip(sums[2], sums[1], strict=True)])
        alive, sweeps, before = np.ones(len(members), dtype=np.bool_), 0, len(members) + 1
        while np.count_nonzero(alive) < before:
            before, sweeps = int(np.count_nonzero(alive)), sweeps + 1
            for c in np.flatnonzero(alive).tolist():
                self._absorb(c, label, sums, theta, alive)
            progress("merging clusters", sweeps, None)
        return np.asarray(np.unique(label, return_inverse=True)[1], dtype=np.int64)

    def _absorb(
        self, c: int, label: IntArray, sums: list[FloatArray], theta: FloatArray, alive: NDArray[np.bool_]
    ) -> None:
        """Merge into c, in their order, the later clusters that are near to what it has become by then."""
        e = self._next(c, c, theta, sums[0], alive)
        while e is not None:
            alive[e] = False
            label[label == e] = c
            for total in sums:
                total[c] += total[e]
            theta[c] = self._ridge(sums[2][c], sums[1][c])
            e = self._next(c, e, theta, sums[0], alive)

    def _next(
        self, c: int, after: int, theta: FloatArray, count: FloatArray, alive: NDArray[np.bool_]
    ) -> int | None:
        """First cluster later than `after` that merges with c."""
        if not alive[c]:
            return None
        rest = slice(after + 1, None)
        limit = self.graph_scale * (online_radius(count[c]) + online_radius(count[rest])) / 2
        near = alive[rest] & (np.linalg.norm(theta[rest] - theta[c], axis=1) < limit)
        return after + 1 + int(near.argmax()) if near.any() else None

    def _ridge(self, gram: FloatArray, moment: FloatArray) -> FloatArray:
        """Estimate (d,) from the sums of one cluster."""
        factor = packed.factorise(gram[np.newaxis], self.ridge)
        return np.asarray(packed.solve(factor, moment[np.newaxis])[0])


@dataclass(frozen=True, eq=False)
class StagedSplitMerge:
    r"""Splits and merges after every row, merges only of clusters whose users were all met in the stage.

    Stage s lasts 2^s rounds. In round t a user i of cluster c, with p = N / t her frequency and that of
    the mean user of a cluster, leaves if

    .. math:: \|\hat\theta_i - \hat\theta_c\| > \alpha (f(N_i) + f(N_c))
        \text{ or } |p_i - p_c| > \alpha_p f(t).

    Then her cluster, and the one that she left, are merged with every other cluster for which both
    differences are below half of their limits. A row of weight w counts as w rounds.
    """

    rows: Iterator[Rows]
    graph_scale: float
    ridge: float
    frequency_scale: float = FREQUENCY_SCALE

    def connect(self, estimates: Estimates, progress: Progress = silent) -> SameLabel:
        """One label per cluster after the last row."""
        from coterie.neighbourhood import _kernels

        n, dim = estimates.theta.shape
        label, size = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        size[0] = n
        met = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.int64)
        users, clusters = _no_sums(n, dim), _no_sums(n, dim)
        scales = self.graph_scale, self.frequency_scale, self.ridge
        clock = np.zeros(3, dtype=np.int64)
        state: tuple[Any, ...] = (*scales, clock, *users, label, size, *met, *clusters)
        for rows in self.rows:
            _kernels.split_and_merge(*rows, *state)
            progress("replaying", int(clock[0]), None)
        return SameLabel(np.asarray(np.unique(label, return_inverse=True)[1], dtype=np.int64))


def _no_sums(n: int, dim: int) -> tuple[FloatArray, ...]:
    """Counts, moments, Grams and estimates before the first row."""
    return np.zeros(n), np.zeros((n, dim)), np.zeros((n, dim, dim)), np.zeros((n, dim))


def _by_label(column: FloatArray, label: IntArray, n_labels: int) -> FloatArray:
    """Sums (G, ...) of a column by label."""
    total = np.zeros((n_labels, *column.shape[1:]))
    np.add.at(total, label, column)
    return total
