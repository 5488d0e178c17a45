"""DBSCAN against scikit-learn called directly, its automatic radius against hand and simulation."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from sklearn import cluster

import coterie as ct
from coterie.confidence import Confidence, estimate
from coterie.neighbourhood.chance_distance import chance_distance
from coterie.worlds import Synthetic

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")


def line_of_users(*rewards: float) -> ct.UserStatistics:
    """User k has one row with action 1; with ridge 3 her estimate is a quarter of her reward."""
    return ct.summarize(ct.Logs.from_arrays(np.arange(len(rewards)), np.ones((len(rewards), 1)), rewards))


def test_by_hand_on_a_line() -> None:
    """Estimates 0, 1, 2, 6, 7, 20, radius 1 (reached, `<=`), two users: {0, 1, 2}, {6, 7} and 20 alone."""
    stats = line_of_users(0, 4, 8, 24, 28, 80)
    model = ct.DBSCAN(radius=1.0, min_users=2, confidence=Confidence(ridge=3.0)).fit(stats)
    assert [model.neighbours(u).tolist() for u in (0, 3, 5)] == [[0, 1, 2], [3, 4], [5]]
    np.testing.assert_allclose(model.theta[:, 0], [12 / 6, 12 / 6, 12 / 6, 52 / 5, 52 / 5, 20])
    assert model.parameters["radius_used"] == 1.0


def test_noise_is_served_alone_each_by_herself() -> None:
    model = ct.DBSCAN(radius=0.5, min_users=3, confidence=Confidence(ridge=1.0)).fit(
        line_of_users(0, 0.5, 1, 30, 60)
    )
    assert model.pooled_users.tolist() == [3, 3, 3, 1, 1]


def test_a_radius_of_zero_joins_equal_estimates_only() -> None:
    model = ct.DBSCAN(radius=0.0, min_users=2).fit(line_of_users(1, 1, 2))
    assert model.pooled_users.tolist() == [2, 2, 1]


@pytest.mark.parametrize("seed", range(4))
def test_the_clusters_are_those_of_scikit_learn(seed: int) -> None:
    drawn = Synthetic(n_users=60, n_clusters=4, dim=4).draw(1500, rng=seed)
    stats = ct.summarize(drawn.logs)
    model = ct.DBSCAN(min_users=4).fit(stats)
    theta = estimate(stats, Confidence()).theta
    labels = cluster.DBSCAN(eps=model.parameters["radius_used"], min_samples=4).fit(theta).labels_
    core_free = labels >= 0
    ours = [frozenset(model.neighbours(user).tolist()) for user in stats.users.tolist()]
    for u, user in enumerate(stats.users.tolist()):
        same = stats.users[labels == labels[u]].tolist() if core_free[u] else [user]
        assert ours[u] == frozenset(same)


def test_the_automatic_radius_is_the_distance_of_users_who_want_the_same() -> None:
    """One cluster, so that every pair wants the same: the root mean square distance, within a tenth."""
    drawn = Synthetic(n_users=200, n_clusters=1, dim=5).draw(10_000, rng=1)
    stats = ct.summarize(drawn.logs)
    theta = estimate(stats, Confidence()).theta
    spread = np.sqrt(2 * theta.var(axis=0, ddof=1).sum())
    assert chance_distance(stats, Confidence()) == pytest.approx(spread, rel=0.1)


def test_the_automatic_radius_by_hand() -> None:
    r"""Two users, 50 rows of action 1 each, ridge 50, residual variance (2 * 99 - 2 * 50) / 98 = 1.

    Each variance is 50 / 100^2, the average Gram is everybody's own: r^2 = 2 * 50 / 100^2 = 0.01. Divided
    by a scale of 2 the Grams are 12.5 and r^2 = 2 * 12.5 / 62.5^2.
    """
    stats = ct.UserStatistics.from_arrays(
        users=[1, 2],
        count=[50, 50],
        moment=[[50.0], [50.0]],
        gram=[[[50.0]], [[50.0]]],
        reward_square=[99.0] * 2,
    )
    settings = Confidence(ridge=50.0)
    assert chance_distance(stats, settings) ** 2 == pytest.approx(0.01, rel=1e-12)
    assert chance_distance(stats, settings, 2.0) ** 2 == pytest.approx(2 * 12.5 / 62.5**2, rel=1e-12)


def test_the_paper_s_clusters_are_found() -> None:
    drawn = Synthetic(n_users=200, n_clusters=4, dim=10, geometry="lifted").draw(40_000, rng=0)
    model = ct.DBSCAN().fit(drawn.logs)
    assert drawn.truth.labels is not None
    for user in model.users.tolist():
        assert len(set(drawn.truth.labels[model.neighbours(user)].tolist())) == 1
    assert np.mean(model.pooled_users >= 45) >= 0.95
    assert model.bonus == ct.Bonus(sign=1, form="squared")


def test_users_without_data_do_not_move_the_radius() -> None:
    drawn = Synthetic(n_users=20, n_clusters=2, dim=3).draw(400, rng=0)
    stats = ct.summarize(drawn.logs)
    empty = ct.Logs.from_arrays([98, 99], np.ones((2, 3)), [0.0, 0.0], weight=[0.0, 0.0])
    more = stats + ct.summarize(empty)
    assert chance_distance(more, Confidence()) == pytest.approx(
        chance_distance(stats, Confidence()), rel=1e-12
    )


@pytest.mark.parametrize("algorithm", [ct.DBSCAN, ct.XMeans])
def test_without_scikit_learn_one_sentence(algorithm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ct.CoterieError, match=r"needs scikit-learn.*pip install 'coterie\[paper\]'"):
        algorithm().fit(line_of_users(1, 2, 3))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"radius": "best"}, "radius is 'best'; give 'auto' or a number"),
        ({"radius": -1.0}, "radius is -1.0; it must be a finite number, 0 or more"),
        ({"min_users": 0}, "min_users is 0; it must be a finite number, 1 or more"),
    ],
)
def test_refusals(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ct.errors.ParameterError, match=message):
        ct.DBSCAN(**settings)
