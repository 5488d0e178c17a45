r"""Neighbourhoods by clustering: users whose estimates fall into one cluster lend to each other.

Takes: `Estimates` and the settings of a clusterer of scikit-learn.
Gives: a `SameLabel` neighbourhood.
Paper: the baselines DBSCAN_Improve and XMeans_Improve, which put a clusterer in place of CLUB's components.
Next: `coterie.pooling`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from coterie.confidence import Estimates
from coterie.errors import ParameterError
from coterie.neighbourhood.bic_splits import split_by_bic
from coterie.neighbourhood.neighbourhood import IntArray, SameLabel
from coterie.packed import FloatArray
from coterie.progress import Progress, silent

_LEAST_RADIUS = float(np.finfo(np.float64).tiny)  # scikit-learn asks for a radius above 0


@dataclass(frozen=True)
class JoinDense:
    """DBSCAN: users within reach of a dense region lend to each other, the others ("noise") to nobody.

    A user is in a dense region if at least `min_users` estimates, her own included, are within `radius`
    of hers (`<=`).
    """

    radius: float
    min_users: int

    def connect(self, estimates: Estimates, progress: Progress = silent) -> SameLabel:
        """A clique per dense region; the others alone."""
        method = scikit_cluster("DBSCAN").DBSCAN(
            eps=max(self.radius, _LEAST_RADIUS), min_samples=self.min_users
        )
        labels = _in_order(estimates.theta, method.fit_predict)
        progress("clustering users", len(labels), len(labels))
        return SameLabel(noise_alone(labels))


@dataclass(frozen=True)
class JoinSplits:
    """X-means: clusters are cut in two for as long as BIC gains by it; see `bic_splits`."""

    largest: int | None

    def connect(self, estimates: Estimates, progress: Progress = silent) -> SameLabel:
        """A clique per cluster."""
        k_means = scikit_cluster("XMeans").KMeans
        labels = _in_order(
            estimates.theta, lambda points: split_by_bic(points, k_means, self.largest, progress)
        )
        return SameLabel(labels)


def noise_alone(labels: IntArray) -> IntArray:
    """Labels with one of its own for every -1.

    >>> noise_alone(np.array([0, -1, 1, 0, -1])).tolist()
    [0, 2, 1, 0, 3]
    """
    alone = labels < 0
    fresh = labels.max(initial=-1) + np.cumsum(alone)
    return np.where(alone, fresh, labels).astype(np.int64)


def scikit_cluster(who: str) -> ModuleType:
    """`sklearn.cluster`, imported when a fit needs it."""
    try:
        from sklearn import cluster
    except ImportError as failure:
        raise ParameterError(
            f"{who} needs scikit-learn, which is not installed: pip install 'coterie[paper]'"
        ) from failure
    return cluster  # type: ignore[no-any-return]


def _in_order(points: FloatArray, cluster: Callable[[FloatArray], IntArray]) -> IntArray:
    """Labels of points that are clustered in ascending order, so that the order of users does not matter."""
    order = np.lexsort(points.T[::-1])
    labels = np.empty(len(points), dtype=np.int64)
    labels[order] = cluster(points[order])
    return labels
