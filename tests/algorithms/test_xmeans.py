"""X-means: BIC against a mixture's likelihood by SciPy, clusters against what was planted."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.cluster import KMeans

import coterie as ct
from coterie.neighbourhood.bic_splits import bic, split_by_bic
from coterie.packed import FloatArray
from coterie.worlds import Synthetic

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")


def bic_by_scipy(clusters: list[FloatArray]) -> float:
    """Log likelihood of hard-assigned points, minus half the parameters times ln R."""
    total, dim, k = sum(map(len, clusters)), clusters[0].shape[1], len(clusters)
    residual = np.concatenate([one - one.mean(axis=0) for one in clusters])
    variance = (residual**2).sum() / (dim * (total - k))
    log_density: float = sum(
        multivariate_normal(one.mean(axis=0), variance * np.eye(dim)).logpdf(one).sum()
        + len(one) * math.log(len(one) / total)
        for one in clusters
    )
    return float(log_density - (k - 1 + k * dim + 1) / 2 * math.log(total))


@pytest.mark.parametrize("seed", range(5))
def test_bic_is_the_likelihood_less_the_parameters(seed: int) -> None:
    rng = np.random.default_rng(seed)
    clusters = [rng.normal(size=(int(n), 3)) for n in rng.integers(2, 30, size=1 + seed % 3)]
    assert bic(clusters) == pytest.approx(bic_by_scipy(clusters), rel=1e-12)


def test_bic_by_hand() -> None:
    """One coordinate, -1, 1 and 9, 11. Together: mean 5, squares 36 + 16 + 16 + 36 = 104, variance 104 / 3.

    Apart: squares 4, variance 4 / 2 = 2. K (d + 1) is 2 and 4.
    """
    left, right = np.array([[-1.0], [1.0]]), np.array([[9.0], [11.0]])
    together = -2 * math.log(2 * math.pi * 104 / 3) - 3 / 2 - math.log(4)
    apart = 4 * math.log(1 / 2) - 2 * math.log(4 * math.pi) - 2 / 2 - 2 * math.log(4)
    assert bic([np.vstack([left, right])]) == pytest.approx(together, rel=1e-12)
    assert bic([left, right]) == pytest.approx(apart, rel=1e-12)
    assert bic([np.ones((3, 2))]) == math.inf


@pytest.mark.parametrize(("seed", "k"), list(product(range(3), (1, 2, 5, 9))))
def test_planted_clusters_are_found(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    planted = np.repeat(np.arange(k), 40)
    centres = 20 * rng.normal(size=(k, 4))
    labels = split_by_bic(centres[planted] + rng.normal(size=(40 * k, 4)), KMeans, None)
    assert len(set(zip(labels.tolist(), planted.tolist(), strict=True))) == k == len(set(labels.tolist()))


def test_one_cloud_is_not_cut() -> None:
    for dim in (1, 2, 20):
        cloud = np.random.default_rng(dim).normal(size=(100, dim))
        assert not split_by_bic(cloud, KMeans, None).any()


@pytest.mark.parametrize("largest", [1, 2, 3])
def test_no_more_clusters_than_allowed(largest: int) -> None:
    points = np.repeat([[0.0], [10.0], [30.0], [90.0]], 10, axis=0) + np.linspace(0, 1, 40)[:, np.newaxis]
    assert len(set(split_by_bic(points, KMeans, largest).tolist())) == largest


def test_equal_points_and_few_points_stay_together() -> None:
    assert not split_by_bic(np.ones((7, 2)), KMeans, None).any()
    assert not split_by_bic(np.array([[0.0], [9.0]]), KMeans, None).any()
    assert split_by_bic(np.array([[0.0], [0.0], [9.0]]), KMeans, None).tolist() in ([0, 0, 1], [1, 1, 0])


def test_the_paper_s_clusters_are_found_and_pooled() -> None:
    drawn = Synthetic(n_users=200, n_clusters=4, dim=10, geometry="lifted").draw(20_000, rng=0)
    model, oracle = ct.XMeans().fit(drawn.logs), ct.Oracle(drawn.truth.labels).fit(drawn.logs)
    np.testing.assert_array_equal(model.theta, oracle.theta)
    assert model.bonus == ct.Bonus(sign=1, form="squared")


def test_nothing_is_random_and_order_does_not_matter() -> None:
    drawn = Synthetic(n_users=50, n_clusters=3, dim=3).draw(600, rng=3)
    stats = ct.summarize(drawn.logs)
    order = np.random.default_rng(0).permutation(stats.n_users)
    one, again, other = (ct.XMeans().fit(data) for data in (stats, stats, stats.taking(order)))
    np.testing.assert_array_equal(one.theta, again.theta)
    np.testing.assert_allclose(other.theta, one.theta[order], rtol=1e-10)


@pytest.mark.parametrize("settings", [{"largest": 0}, {"largest": -1}])
def test_refusals(settings: dict[str, Any]) -> None:
    with pytest.raises(ct.errors.ParameterError, match="it must be a finite number"):
        ct.XMeans(**settings)
