r"""X-means: k-means whose clusters are cut in two for as long as BIC gains by it.

Takes: points (n, d), scikit-learn's `KMeans` and the largest number of clusters.
Gives: a label per point.
Paper: Pelleg and Moore (2000), with the spherical likelihood made consistent (see `bic`); the start of a
cut is that of Hamerly and Elkan (2003), "Learning the k in k-means".
Next: `clustered`, which makes neighbourhoods of the labels.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray
from coterie.progress import Progress, silent

_FEWEST = 3  # points below which two clusters leave nothing to estimate a variance from

_Cut = tuple[float, FloatArray]  # gain in BIC, the two new centres


def split_by_bic(
    points: FloatArray, k_means: Any, largest: int | None, progress: Progress = silent
) -> IntArray:
    """Labels (n,), starting from one cluster.

    Each round cuts every cluster whose two halves have the higher BIC, best gain first if `largest` stops
    it, then lets k-means on all points settle from the new centres. It ends when no cut is accepted. A
    cluster with the members of an earlier one is not tried again.

    >>> from sklearn.cluster import KMeans
    >>> labels = split_by_bic(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]), KMeans, None)
    >>> np.unique(labels).tolist(), bool((labels[:3] == labels[0]).all() and labels[0] != labels[3])
    ([0, 1], True)
    """
    limit = len(points) if largest is None else largest
    centres = points.mean(axis=0, keepdims=True)
    labels = np.zeros(len(points), dtype=np.int64)
    tried: dict[bytes, _Cut | None] = {}

    def cut_of(members: NDArray[np.bool_]) -> _Cut | None:
        key = np.packbits(members).tobytes()
        if key not in tried:
            tried[key] = _cut(points[members], k_means)
        return tried[key]

    while len(centres) < limit:
        cut = _cut_all(labels, centres, cut_of, limit)
        if len(cut) == len(centres):
            break
        fitted = k_means(n_clusters=len(cut), init=cut, n_init=1, random_state=0).fit(points)
        labels, centres = _without_empty(fitted.labels_, fitted.cluster_centers_)
        progress("splitting clusters", len(centres), largest)
    return labels


def bic(clusters: Sequence[FloatArray]) -> float:
    r"""Bayesian information criterion of points (R_k, d) in K clusters with one spherical variance.

    .. math::
        \hat\sigma^2 = \frac{1}{d (R - K)} \sum_k \sum_i \|x_i - \mu_k\|^2, \quad
        \sum_k R_k \ln \frac{R_k}{R} - \frac{R d}{2} \ln(2 \pi \hat\sigma^2) - \frac{d (R - K)}{2}
        - \frac{K (d + 1)}{2} \ln R

    K - 1 shares, K d coordinates and one variance are its K (d + 1) parameters. Infinite where every
    point is its centre.

    >>> round(bic([np.array([[-1.0], [1.0]])]), 4)  # variance 2: -ln(4 pi) - 1/2 - ln 2
    -3.7242
    """
    sizes = np.array([len(cluster) for cluster in clusters], dtype=np.float64)
    total, dim, k = sizes.sum(), clusters[0].shape[1], len(clusters)
    spread = sum(float(((cluster - cluster.mean(axis=0)) ** 2).sum()) for cluster in clusters)
    if spread == 0:
        return math.inf
    variance = spread / (dim * (total - k))
    likelihood = float(np.sum(sizes * np.log(sizes / total)))
    likelihood -= total * dim / 2 * math.log(2 * math.pi * variance) + dim * (total - k) / 2
    return float(likelihood - k * (dim + 1) / 2 * math.log(total))


def _cut_all(
    labels: IntArray, centres: FloatArray, cut_of: Callable[[NDArray[np.bool_]], _Cut | None], limit: int
) -> FloatArray:
    """Centres after this round's cuts."""
    tried = {label: cut_of(labels == label) for label in range(len(centres))}
    cuts = {label: cut for label, cut in tried.items() if cut is not None}
    best = sorted(cuts, key=lambda label: -cuts[label][0])[: limit - len(centres)]
    return np.vstack([cuts[k][1] if k in best else centres[k : k + 1] for k in range(len(centres))])


def _cut(inside: FloatArray, k_means: Any) -> _Cut | None:
    """What a cut in two gains, and the new centres; None where it gains nothing."""
    halves = _halves(inside, k_means)
    if halves is None:
        return None
    gain = bic(halves) - bic([inside])
    return (gain, np.array([half.mean(axis=0) for half in halves])) if gain > 0 else None


def _halves(inside: FloatArray, k_means: Any) -> list[FloatArray] | None:
    r"""The two clusters of a two-way split, None where the points cannot be told apart.

    It starts from :math:`\mu \pm v \sqrt{2 \lambda / \pi}`, with v the direction of the largest variance
    lambda: the two halves' means if the points are Gaussian.
    """
    if len(inside) < _FEWEST or not np.ptp(inside, axis=0).any():
        return None
    mean = inside.mean(axis=0)
    variance, direction = np.linalg.eigh((inside - mean).T @ (inside - mean) / len(inside))
    away = direction[:, -1] * math.sqrt(2 * variance[-1] / math.pi)
    away *= np.sign(away[np.abs(away).argmax()])
    start = np.array([mean - away, mean + away])
    side = k_means(n_clusters=2, init=start, n_init=1, random_state=0).fit_predict(inside)
    halves = [inside[side == k] for k in (0, 1)]
    return halves if all(map(len, halves)) else None


def _without_empty(labels: IntArray, centres: FloatArray) -> tuple[IntArray, FloatArray]:
    """Labels numbered anew, and centres, of the clusters that have points."""
    kept, numbered = np.unique(labels, return_inverse=True)
    return numbered.astype(np.int64), centres[kept]
