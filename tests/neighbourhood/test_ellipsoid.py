"""The chi-square test of two users' equality: by hand, by simulation, and as an option of OffCLUB."""

import numpy as np
import pytest
from scipy.stats import chi2

import coterie as ct
from coterie.neighbourhood.ellipsoid import Ellipsoids

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")


def test_one_dimension_by_hand() -> None:
    """Grams 3 and 1, ridge 1, noise 2, length 3: M = 4 and 2.

    Variances 4 * 3 / 16 = 3/4 and 4 * 1 / 4 = 1; shrinkage 1 * 9 * (1/4 - 1/2)^2 = 9/16; together 37/16.
    Estimates 1 and 2 are 1 / sqrt(37/16) = 4 / sqrt(37) standard deviations apart.
    """
    hood = Ellipsoids(
        np.array([[1.0], [2.0], [0.0]]), np.array([[3.0], [1.0], [0.0]]), 1.0, 2.0, 3.0, limit=0.6
    )
    assert hood.distances(0)[1] == pytest.approx(4 / np.sqrt(37), rel=1e-8)
    assert hood.trace(0).lends.tolist() == [True, False]
    assert Ellipsoids(hood.theta, hood.packed_gram, 1.0, 2.0, 3.0, 0.7).trace(0).lends.all()


def test_equal_users_are_told_apart_at_the_nominal_rate() -> None:
    """200 users of one vector: 5% of pairs differ, give or take; pairs share users, so allow 2 points."""
    rng = np.random.default_rng(0)
    user, theta = np.repeat(np.arange(200), 60), np.array([0.6, -0.3, 0.2])
    action = rng.uniform(-0.5, 0.5, (len(user), 3))
    reward = action @ theta + 0.3 * rng.standard_normal(len(user))
    confidence = ct.Confidence(noise=0.3, failure_prob=0.05, ridge=0.1)
    model = ct.OffCLUB(test="ellipsoid", confidence=confidence).fit(ct.Logs.from_arrays(user, action, reward))
    joined = (model.pooled_users - 1).sum() / (200 * 199)
    assert joined == pytest.approx(0.95, abs=0.02)
    hood = model.evidence.neighbourhood  # type: ignore[union-attr]
    assert isinstance(hood, Ellipsoids)
    assert hood.limit == pytest.approx(np.sqrt(chi2.isf(0.05, 3)))


def test_two_groups_are_told_apart_where_radii_join_some(tmp_path: object) -> None:
    rng = np.random.default_rng(1)
    user = np.repeat(np.arange(20), 40)
    truth = np.where((np.arange(20) < 10)[:, np.newaxis], [0.5, 0.5], [-0.5, 0.5])
    action = rng.uniform(-0.6, 0.6, (len(user), 2))
    reward = (action * truth[user]).sum(axis=1) + 0.1 * rng.standard_normal(len(user))
    logs = ct.Logs.from_arrays(user, action, reward)
    confidence = ct.Confidence(noise="estimate", failure_prob=1e-4, ridge=0.1)
    sharp = ct.OffCLUB(test="ellipsoid", confidence=confidence).fit(logs)
    assert sharp.neighbours(0).tolist() == list(range(10))
    assert sharp.neighbours(15).tolist() == list(range(10, 20))
    assert "standard deviations apart" in sharp.explain(0).left_out[0].reason
    assert ct.OffCLUB(confidence=confidence).fit(logs).pooled_users.max() > 10  # somebody of the others
    path = f"{tmp_path}/model"
    sharp.save(path)
    assert ct.load(path).neighbours(0).tolist() == list(range(10))


def test_a_test_of_another_name_is_refused() -> None:
    with pytest.raises(ct.errors.ParameterError, match="test is 'chi'; give 'radii' or 'ellipsoid'"):
        ct.OffCLUB(test="chi")  # type: ignore[arg-type]
