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

from coterie import packed
from coterie.confidence import Estimates
from coterie.neighbourhood.components import Rows
from coterie.neighbourhood.neighbourhood import SameLabel
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
        from coterie.neighbourhood import _kernels

        n = len(estimates.count)
        label = np.zeros(n, dtype=np.int64)
        sums = estimates.count, self.moment, packed.unpack(self.packed_gram)
        _kernels.split_then_merge(*sums, estimates.theta, self.graph_scale, self.ridge, label)
        progress("splitting and merging clusters", n, n)
        return SameLabel(np.asarray(np.unique(label, return_inverse=True)[1], dtype=np.int64))


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
