"""Worlds: where vectors lie, who is served, how actions are logged."""

import math
from typing import Any

import numpy as np
import pytest

from coterie.errors import ParameterError
from coterie.packed import FloatArray
from coterie.worlds import (
    Arbitrary,
    Equal,
    Lifted,
    LinUCBChoice,
    SemiRandom,
    Sphere,
    Synthetic,
    Truth,
    World,
    _kernels,
    _plain,
    random_vectors,
    stand_in,
)


def test_lifted_vectors_end_in_the_constant_and_have_length_one() -> None:
    vectors = random_vectors(Lifted(5), (40,), np.random.default_rng(0))
    assert vectors[:, -1] == pytest.approx(1 / math.sqrt(2))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert (vectors @ vectors.T).min() >= -1e-12  # inner products lie in [0, 1]


def test_a_synthetic_world_has_contiguous_clusters_that_share_a_vector() -> None:
    truth = Synthetic(n_users=7, n_clusters=3, dim=4).world(1).truth
    assert truth.labels is not None
    assert truth.labels.tolist() == [0, 0, 0, 1, 1, 2, 2]
    same = truth.labels[:, np.newaxis] == truth.labels
    distance = np.linalg.norm(truth.theta[:, np.newaxis] - truth.theta, axis=2)
    assert (distance[same] == 0).all()
    assert distance[~same].min() > 0


def test_unequal_clusters_have_all_users_and_none_is_empty() -> None:
    for seed in range(20):
        truth = Synthetic(n_users=30, n_clusters=10, dim=3, sizes="unequal").world(seed).truth
        assert truth.labels is not None
        assert np.bincount(truth.labels, minlength=10).min() >= 1
        assert truth.n_users == 30


@pytest.mark.parametrize("geometry", ["sphere", "lifted"])
def test_clusters_keep_the_least_gap(geometry: str) -> None:
    settings = Synthetic(n_users=6, n_clusters=6, dim=4, geometry=geometry, min_gap=0.6)  # type: ignore[arg-type]
    theta = settings.world(0).truth.theta
    distance = np.linalg.norm(theta[:, np.newaxis] - theta, axis=2)
    assert distance[~np.eye(6, dtype=bool)].min() >= 0.6


def test_scatter_moves_users_off_their_centre_and_leaves_them_on_the_sphere() -> None:
    still, moved = (
        Synthetic(n_users=400, n_clusters=1, dim=6, scatter=s).world(0).truth.theta for s in (0, 0.1)
    )
    assert np.linalg.norm(moved, axis=1) == pytest.approx(1)
    assert np.linalg.norm(moved - still[0], axis=1).mean() == pytest.approx(0.1, rel=0.2)


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ParameterError, match="n_clusters is 5 with 3 users"):
        Synthetic(n_users=3, n_clusters=5)
    with pytest.raises(ParameterError, match=r"leaves room for \d+ of 9 clusters"):
        Synthetic(n_users=9, n_clusters=9, dim=2, min_gap=1.0).world(0)
    with pytest.raises(ParameterError, match="more coordinates"):
        Synthetic(dim=1, geometry="lifted")


def test_semi_random_service_is_uniform_inside_groups_and_uneven_between_them() -> None:
    clustered = Truth(np.zeros((6, 2)), np.array([0, 0, 0, 0, 1, 1]))
    share = SemiRandom().probabilities(clustered, np.random.default_rng(0))
    assert share.sum() == pytest.approx(1)
    assert len(set(share[:4])) == len(set(share[4:])) == 1
    assert share[0] * 4 != pytest.approx(share[4] * 2)
    scattered = Truth(np.zeros((250, 2)), None)
    assert np.bincount(SemiRandom().groups(scattered)).tolist() == [100, 100, 50]


def test_arbitrary_service_follows_the_weights() -> None:
    truth = Truth(np.zeros((3, 1)), None)
    rng = np.random.default_rng(0)
    assert Arbitrary(np.array([1.0, 0, 3])).probabilities(truth, rng).tolist() == [0.25, 0, 0.75]
    assert Equal().probabilities(truth, rng).tolist() == [1 / 3] * 3
    with pytest.raises(ParameterError, match="not all 0"):
        Arbitrary(np.zeros(3)).probabilities(truth, rng)


def test_a_log_serves_users_as_often_as_it_should_and_rewards_the_truth() -> None:
    """30,000 rows: a share of 0.7 has standard error 0.0026, the noise's mean 0.1 / sqrt(30000) = 0.0006."""
    world = World(
        truth=Truth(np.eye(3), None), geometry=Sphere(3), noise=0.1, service=Arbitrary(np.array([7.0, 0, 3]))
    )
    drawn = world.draw(30_000, 0)
    assert np.bincount(drawn.user, minlength=3)[1] == 0
    assert (drawn.user == 0).mean() == pytest.approx(0.7, abs=5 * 0.0026)
    noise = drawn.reward - drawn.action[np.arange(30_000), drawn.user]
    assert noise.mean() == pytest.approx(0, abs=5 * 0.0006)
    assert noise.std() == pytest.approx(0.1, rel=0.03)


def test_requests_come_in_full_number_with_fresh_candidates() -> None:
    world = Synthetic(n_users=5, n_clusters=1, dim=3).world(0)
    blocks = list(world.requests(9_000, np.random.default_rng(1), np.full(5, 0.2)))
    assert sum(len(block.user) for block in blocks) == 9_000
    actions = np.concatenate([block.actions for block in blocks])
    assert actions.shape == (9_000, 20, 3)
    assert len(np.unique(actions.reshape(-1, 3), axis=0)) == 180_000


@pytest.mark.parametrize("truth", [False, True])
def test_linucb_logging_is_each_user_s_own_linucb(truth: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replay: at each row the logged action maximises the bound computed from that user's earlier rows.

    Before the first row all unit actions have one bound, so what is asked is a bound that no other exceeds.
    """
    blocks: list[FloatArray] = []

    def noted(*given: Any) -> FloatArray:
        blocks.append(random_vectors(*given))
        return blocks[-1]

    theta = Synthetic(n_users=4, n_clusters=4, dim=3).world(2).truth.theta
    logging = LinUCBChoice(truth=truth)
    world = World(truth=Truth(theta, None), geometry=Sphere(3), candidates=5, logging=logging)
    monkeypatch.setattr("coterie.worlds.logging_policy.random_vectors", noted)
    monkeypatch.setattr("coterie.worlds.logging_policy._ROWS_AT_A_TIME", 7)
    drawn = world.draw(60, 3)
    offered = np.concatenate(blocks)
    for u in range(4):
        M, b = 0.5 * np.eye(3), np.zeros(3)
        for row in np.flatnonzero(drawn.user == u):
            centre = theta[u] if truth else np.linalg.inv(M) @ b
            bound = [a @ centre + 0.1 * math.sqrt(a @ np.linalg.inv(M) @ a) for a in offered[row]]
            taken = np.flatnonzero((offered[row] == drawn.action[row]).all(axis=1))
            assert len(taken) == 1
            assert bound[taken[0]] == pytest.approx(max(bound), abs=1e-12)
            M += np.outer(drawn.action[row], drawn.action[row])
            b += drawn.reward[row] * drawn.action[row]
    noise = drawn.reward - np.einsum("nd,nd->n", drawn.action, theta[drawn.user])
    assert 0.02 < noise.std() < 0.1


@pytest.mark.parametrize("truth", [False, True])
def test_the_compiled_log_and_its_twin_are_the_same(truth: bool) -> None:
    rng = np.random.default_rng(1)
    theta, user = rng.standard_normal((3, 4)), rng.integers(0, 3, 50)
    given = user, rng.standard_normal((50, 6, 4)), 0.1 * rng.standard_normal(50), theta, 0.3, truth
    found = []
    for twin in (_kernels.linucb_rows, _plain.linucb_rows):
        state = (
            np.tile(np.sqrt(0.5) * np.eye(4), (3, 1, 1)),
            np.zeros((3, 4)),
            np.empty((50, 4)),
            np.empty(50),
        )
        twin(*given, *state)
        found.append([np.triu(state[0]), *state[1:]])
    for one, other in zip(*found, strict=True):
        assert one == pytest.approx(other, abs=1e-10)


def test_k_means_groups_follow_preferences_and_not_the_order() -> None:
    """Two far-apart preferences that alternate: k-means has two groups of them, blocks have both in each."""
    theta = np.tile([[1.0, 0.0], [0.0, 1.0]], (100, 1))
    scattered = Truth(theta, None)
    groups = SemiRandom(by="k-means").groups(scattered)
    assert len(set(groups[::2])) == len(set(groups[1::2])) == 1
    assert groups[0] != groups[1]
    with pytest.raises(ParameterError, match="by is 'spectral'; give 'blocks' or 'k-means'"):
        SemiRandom(by="spectral")  # type: ignore[arg-type]


@pytest.mark.parametrize("likeness", ["movielens", "yelp"])
def test_the_stand_in_has_the_spectrum_of_the_real_preferences(likeness: Any) -> None:
    """Second moments of 20,000 drawn rows beside the two moments that are kept: within 0.02 each."""
    from coterie.worlds.stand_in import MOMENTS

    theta = stand_in(Lifted(20), 0, likeness=likeness, n_users=20_000).theta
    mean, spread = (np.array(part) for part in MOMENTS[likeness])
    raw = theta[:, :-1] * np.sqrt(2)
    assert np.linalg.norm(raw, axis=1) == pytest.approx(1)
    assert raw.mean(axis=0) == pytest.approx(mean, abs=0.03)
    assert (raw**2).mean(axis=0) == pytest.approx(mean**2 + spread**2, abs=0.03)
    assert theta[:, -1] == pytest.approx(np.sqrt(0.5))


def test_the_gap_of_a_truth_needs_clusters() -> None:
    assert Truth(np.ones((3, 2)), np.zeros(3, dtype=np.int64)).gap == np.inf
    with pytest.raises(ParameterError, match="in no clusters, so no gap is known"):
        _ = Truth(np.ones((3, 2)), None).gap
