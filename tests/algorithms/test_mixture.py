"""The mixture: which kind of population it finds, exact updates, determinism, and what it refuses."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie as ct
from coterie.worlds import Synthetic


def world(clusters: int, rows: int, seed: int = 0, **more: Any) -> Any:
    settings: dict[str, Any] = {"n_users": 120, "n_clusters": clusters, "dim": 4, "noise": 0.1, **more}
    return Synthetic(**settings).draw(n_rows=rows, rng=seed)


@pytest.mark.parametrize("clusters", [1, 3])
def test_exact_clusters_are_found_and_named(clusters: int) -> None:
    """30 rows per user, vectors about 1.4 apart and noise 0.1: nobody can be mistaken."""
    drawn = world(clusters, 3600)
    model = ct.Mixture().fit(drawn.logs)
    assert model.population.n_points == model.n_components == clusters
    assert model.noise == pytest.approx(0.1, rel=0.1)  # 3,600 rows: a standard error of 1.2%
    truth = drawn.truth.labels[model.users]
    pairs = {(int(found), int(true)) for found, true in zip(model.labels, truth, strict=True)}
    assert len(pairs) == clusters
    for user in (0, 60, 119):
        same = np.flatnonzero(drawn.truth.labels == drawn.truth.labels[user])
        assert sorted(model.neighbours(user).tolist()) == same.tolist()


def test_scattered_users_get_one_gaussian() -> None:
    drawn = world(120, 1200)
    model = ct.Mixture().fit(drawn.logs)
    assert (model.population.n_points, model.n_components) == (0, 1)
    stats, theta = model.statistics, drawn.truth.theta[model.users]
    alone = np.linalg.solve(0.01 * np.eye(4) + stats.gram, stats.moment[:, :, np.newaxis])[:, :, 0]
    assert ((model.theta - theta) ** 2).sum() < ((alone - theta) ** 2).sum()


def test_an_update_is_the_posterior_of_all_rows() -> None:
    """Rows in two parts: updated by the second, as if the posterior had been taken of both at once."""
    drawn = world(3, 600)
    half = slice(0, 300), slice(300, 600)
    first, second = (
        ct.summarize(ct.Logs.from_arrays(drawn.user[part], drawn.action[part], drawn.reward[part]))
        for part in half
    )
    model = ct.Mixture().fit(first)
    step_by_step = model.updated(second)
    users = step_by_step.users
    np.testing.assert_array_equal(step_by_step.statistics.count, (first + second).count)
    prior = model.population
    for u, user in enumerate(users.tolist()):
        score = prior.log_weight.copy()
        gram, moment = (first + second).gram[u], (first + second).moment[u]
        means = []
        for k, centre in enumerate(prior.centre):
            if k < prior.n_points:
                doubt = np.trace(gram @ _square(prior.doubt[k]))
                score[k] += (2 * centre @ moment - centre @ gram @ centre - doubt) / (2 * prior.noise)
                means.append(centre)
        if prior.n_points == prior.n_components:
            weight = np.exp(score - score.max())
            expected = (weight / weight.sum()) @ np.array(means)
            np.testing.assert_allclose(step_by_step.theta[u] * model.scale, expected, atol=1e-9)
        assert step_by_step.decide(user, np.eye(4)).seen


def _square(packed_matrix: Any) -> Any:
    from coterie.packed import unpack

    return unpack(np.asarray(packed_matrix))


def test_more_rows_of_one_user_leave_the_others_alone() -> None:
    drawn = world(3, 1200)
    stats = ct.summarize(drawn.logs)
    model = ct.Mixture().fit(stats)
    more = ct.summarize(ct.Logs.from_arrays([7] * 5, np.eye(4)[[0, 1, 2, 3, 0]], np.ones(5)))
    after = model.updated(more)
    others = stats.users != 7
    np.testing.assert_array_equal(after.theta[others], model.theta[others])
    assert after.statistics.count[stats.index.row(7)] == stats.count[stats.index.row(7)] + 5


def test_the_number_of_threads_changes_no_bit(tmp_path: Path) -> None:
    script = tmp_path / "fit.py"
    script.write_text(
        "import hashlib, coterie as ct\n"
        "from coterie.worlds import Synthetic\n"
        "drawn = Synthetic(n_users=200, n_clusters=4, dim=6, noise=0.2).draw(n_rows=1500, rng=0)\n"
        "model = ct.Mixture().fit(drawn.logs)\n"
        "parts = model.policy.theta, model.policy.factor, model.population.centre\n"
        "print(hashlib.sha256(b''.join(part.tobytes() for part in parts)).hexdigest())\n"
    )
    found = set()
    for threads in ("1", "2"):
        more = {"OPENBLAS_NUM_THREADS": threads, "COTERIE_THREADS": threads}
        made = subprocess.run(
            [sys.executable, script], env={**os.environ, **more}, capture_output=True, text=True, check=True
        )
        found.add(made.stdout)
    assert len(found) == 1


def test_a_kind_can_be_asked_for_and_validation_chooses() -> None:
    drawn = world(3, 2400)
    stats, held = (
        ct.summarize(ct.Logs.from_arrays(drawn.user[i::2], drawn.action[i::2], drawn.reward[i::2]))
        for i in range(2)
    )
    assert ct.Mixture(kind="gaussian").fit(stats).population.n_points == 0
    model = ct.Mixture().fit(stats, validation=held)
    assert model.population.n_points == 3
    with pytest.raises(ct.errors.LogError, match=r"validation has 0 samples of 4 coordinates; at least one"):
        ct.Mixture().fit(stats, validation=held.without(held.users))


def test_a_large_log_is_learned_from_a_part_of_its_users() -> None:
    drawn = world(3, 3600)
    model = ct.Mixture(learn_from=60).fit(drawn.logs)
    assert model.n_components == 3
    assert len(np.unique(model.labels)) == 3


def test_explanations_name_components_and_own_information() -> None:
    drawn = world(3, 3600)
    model = ct.Mixture().fit(drawn.logs)
    told = model.explain(0)
    assert told.components[0].is_point
    assert told.components[0].probability == pytest.approx(1, abs=1e-6)
    assert told.own_information == pytest.approx(1 / 40, abs=0.02)  # one of 40 users of about as many rows
    assert "Components:" in str(told)
    assert "borrowed" in str(told)


def test_nobody_has_data() -> None:
    nobody = ct.summarize(ct.Logs.from_arrays([1, 2], np.ones((2, 2)), [1.0, 1.0], weight=[0, 0]))
    model = ct.Mixture().fit(nobody)
    assert model.theta.tolist() == [[0, 0], [0, 0]]
    assert model.decide(1, np.eye(2)).width > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"confidence": ct.Confidence(ridge=0.1)}, "ridge is 0.1 and Mixture learns how far to shrink"),
        ({"confidence": ct.Confidence(regularity=ct.IID(0.1))}, "Mixture has no radii; leave regularity out"),
        ({"kind": "both"}, "kind is 'both'; give 'evidence' or 'points' or 'gaussian' or 'gaussians'"),
        ({"learn_from": 0}, "learn_from is 0; it must be a finite number, 1 or more"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ct.errors.ParameterError, match=message):
        ct.Mixture(**settings)


def test_graph_scale_is_refused() -> None:
    with pytest.raises(TypeError, match="graph_scale"):
        ct.Mixture(graph_scale=1.0)  # type: ignore[call-arg]


def test_users_alike_are_one_point_and_users_unlike_behind_much_noise_are_not() -> None:
    rng = np.random.default_rng(6)
    kinds = []
    for scatter in (0.0, 0.5):
        theta = np.array([0.5, -0.5, 0.2]) + scatter * rng.normal(size=(150, 3))
        user = np.repeat(np.arange(150), 30)
        action = rng.normal(size=(len(user), 3))
        reward = (action * theta[user]).sum(axis=1) + 2 * rng.normal(size=len(user))
        model = ct.Mixture().fit(ct.Logs.from_arrays(user, action, reward))
        kinds.append((model.population.n_components, model.population.n_points))
    assert kinds == [(1, 1), (1, 0)]
