"""CLUB: chains and deletions by hand, components against networkx, the replay against a loop and its twin."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

import coterie as ct
from coterie.confidence import Estimates
from coterie.neighbourhood import ConnectedComponents, Metric, WithinOnlineRadius, _kernels, _plain
from coterie.neighbourhood.components import component_labels, online_radius

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")

QUARTER = ct.Confidence(ridge=0.25)


def f(count: float) -> float:
    return math.sqrt((1 + math.log(1 + count)) / (1 + count))


def drawn(seed: int, n_users: int = 8, n_rows: int = 120) -> tuple[Any, ...]:
    """Rows of users in two groups, some of weight 0, 1/2 and 3."""
    rng = np.random.default_rng(seed)
    user = rng.integers(0, n_users, n_rows)
    action = rng.standard_normal((n_rows, 3))
    action /= np.linalg.norm(action, axis=1, keepdims=True)
    theta = np.where(user[:, np.newaxis] % 2, [0.8, 0.1, 0.0], [-0.3, 0.2, 0.7])
    reward = np.einsum("ij,ij->i", action, theta) + 0.2 * rng.standard_normal(n_rows)
    return user, action, reward, rng.choice([0.0, 0.5, 1.0, 1.0, 3.0], n_rows)


def partition(model: Any) -> set[frozenset[Any]]:
    return {frozenset(model.neighbours(user).tolist()) for user in model.users.tolist()}


def test_a_chain_joins_users_that_are_not_neighbours() -> None:
    """Theta = r / 1.25 = 0, 1.6, 3.2, 7.2; f(1) = .9201, so pairs up to 1.8402 apart keep their edge."""
    logs = ct.Logs.from_arrays(["a", "b", "c", "d"], [[1.0]] * 4, [0.0, 2.0, 4.0, 9.0])
    model = ct.CLUB(graph_scale=1.0, confidence=QUARTER).fit(logs)
    assert partition(model) == {frozenset("abc"), frozenset("d")}
    assert model.theta[0, 0] == pytest.approx(6 / 3.25)  # one prior, however many users
    assert partition(ct.CLUB(confidence=QUARTER).fit(logs)) == {frozenset(one) for one in "abcd"}
    assert 2 * f(1) == pytest.approx(1.8402, abs=1e-4)


def test_an_edge_of_exactly_the_limit_stays() -> None:
    """Two users without data: f(0) = 1, so alpha = 1 allows a distance of 2."""
    for distance, labels in ((2.0, [0, 0]), (np.nextafter(2.0, 3.0), [0, 1])):
        given = Estimates(np.array([[0.0], [distance]]), np.ones(2), np.zeros(2), 1.0, 0.0)
        hood = ConnectedComponents(WithinOnlineRadius(1.0)).connect(given)
        assert hood.labels.tolist() == labels


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("pairs_at_a_time", [1, 100, 1 << 20])
def test_components_are_those_of_networkx(
    seed: int, pairs_at_a_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coterie.neighbourhood.components._PAIRS_AT_A_TIME", pairs_at_a_time)
    rng = np.random.default_rng(seed)
    n = 40
    hood = Metric(rng.uniform(size=(n + 1, 2)), np.zeros(n + 1), np.full(n + 1, 0.12), strict=False)
    labels = component_labels(hood)
    graph = nx.Graph((u, int(v)) for u in range(n) for v in np.flatnonzero(hood.trace(u).lends))
    found = {frozenset(np.flatnonzero(labels == one).tolist()) for one in np.unique(labels)}
    assert found == {frozenset(one) for one in nx.connected_components(graph)}
    assert 1 < len(found) < n
    assert np.unique(labels, return_index=True)[1].tolist() == sorted(
        min(one) for one in found
    )  # numbered by first user


@pytest.mark.parametrize("seed", range(4))
def test_frozen_form_against_a_loop(seed: int) -> None:
    user, action, reward, weight = drawn(seed)
    model = ct.CLUB(graph_scale=0.6).fit(ct.Logs.from_arrays(user, action, reward, weight=weight))
    theta, count = {}, {}
    for u in range(8):
        rows = user == u
        w, a = weight[rows], action[rows]
        count[u] = w.sum()
        theta[u] = np.linalg.inv(0.5 * np.eye(3) + (a.T * w) @ a) @ (a.T @ (w * reward[rows]))
    graph = nx.Graph()
    graph.add_nodes_from(range(8))
    graph.add_edges_from(
        (u, v)
        for u in range(8)
        for v in range(u)
        if np.linalg.norm(theta[u] - theta[v]) <= 0.6 * (f(count[u]) + f(count[v]))
    )
    assert partition(model) == {frozenset(one) for one in nx.connected_components(graph)}
    assert len(partition(model)) > 1


def test_replay_depends_on_the_order_of_rows() -> None:
    """Both users have the rewards 0 and 3; ridge 1/4, alpha 0.8; f(0), f(1), f(2) = 1, .9201, .8366.

    Zeros first: then a's 3 makes theta_a = 3 / 2.25 = 1.333, and 0.8 (f(2) + f(1)) = 1.405 keeps the edge.
    A 3 first: theta_a = 3 / 1.25 = 2.4, and 0.8 (f(1) + f(0)) = 1.536 deletes it for good.
    """
    club = ct.CLUB(graph_scale=0.8, replay=True, confidence=QUARTER)
    ones, users = [[1.0]] * 4, ["a", "b", "a", "b"]
    zeros_first = ct.Logs.from_arrays(users, ones, [0.0, 0.0, 3.0, 3.0])
    three_first = ct.Logs.from_arrays(users, ones, [3.0, 0.0, 0.0, 3.0])
    assert partition(club.fit(zeros_first)) == {frozenset("ab")}
    assert partition(club.fit(three_first)) == {frozenset("a"), frozenset("b")}
    frozen = replace(club, replay=False)
    assert partition(frozen.fit(three_first)) == partition(frozen.fit(zeros_first)) == {frozenset("ab")}


@pytest.mark.parametrize("seed", range(4))
def test_replay_against_a_loop(seed: int) -> None:
    user, action, reward, _ = drawn(seed)
    logs = ct.Logs.from_arrays(user, action, reward)
    model = ct.CLUB(graph_scale=0.75, replay=True).fit(logs)
    graph = nx.complete_graph(8)
    past: dict[int, list[int]] = {u: [] for u in range(8)}

    def theta(u: int) -> Any:
        a = action[past[u]]
        return np.linalg.inv(0.5 * np.eye(3) + a.T @ a) @ a.T @ reward[past[u]]

    for i, u in enumerate(user.tolist()):
        past[u].append(i)
        for v in list(graph[u]):
            if np.linalg.norm(theta(u) - theta(v)) > 0.75 * (f(len(past[u])) + f(len(past[v]))):
                graph.remove_edge(u, v)
    assert partition(model) == {frozenset(one) for one in nx.connected_components(graph)}
    assert len(partition(model)) > 1
    batches = replace(logs, batch_rows=7)
    assert partition(ct.CLUB(graph_scale=0.75, replay=True).fit(batches)) == partition(model)


@pytest.mark.parametrize("seed", range(4))
def test_kernel_does_what_its_twin_does(seed: int) -> None:
    rows = drawn(seed)
    results: list[Any] = []
    for delete_edges in (_kernels.delete_edges, _plain.delete_edges):
        state = np.zeros(8), np.zeros((8, 3)), np.zeros((8, 3, 3)), np.zeros((8, 3)), ~np.eye(8, dtype=bool)
        arguments: Any = (*rows, 0.7, 0.5, *state)
        delete_edges(*arguments)
        results.append(state)
    (count, moment, gram, theta, edges), plain = results
    np.testing.assert_array_equal(edges, plain[4])
    assert 0 < edges.sum() < 56
    for one, other in zip((count, moment, np.tril(gram), theta), plain, strict=False):
        np.testing.assert_allclose(one, np.tril(other) if other.ndim == 3 else other, atol=1e-12)


def test_a_row_of_weight_two_is_replayed_twice() -> None:
    user, action, reward, _ = drawn(1)
    weight = np.where(np.arange(120) % 3, 1, 2)
    twice = [np.repeat(column, weight, axis=0) for column in (user, action, reward)]
    club = ct.CLUB(graph_scale=0.7, replay=True)
    one = club.fit(ct.Logs.from_arrays(user, action, reward, weight=weight))
    assert partition(one) == partition(club.fit(ct.Logs.from_arrays(*twice)))


def test_long_actions_are_replayed_rescaled() -> None:
    user, action, reward, _ = drawn(2)
    club = ct.CLUB(graph_scale=0.7, replay=True)
    plain, long = (club.fit(ct.Logs.from_arrays(user, k * action, reward)) for k in (1.0, 10.0))
    assert partition(plain) == partition(long)


def test_refusals() -> None:
    stats = ct.summarize(ct.Logs.from_arrays(["a"], [[1.0]], [1.0]))
    with pytest.raises(ct.errors.LogError, match=r"CLUB\(replay=True\) goes .* given statistics.*give logs"):
        ct.CLUB(replay=True).fit(stats)
    with pytest.raises(ct.errors.ParameterError, match="graph_scale is -1"):
        ct.CLUB(graph_scale=-1)


def test_radius_of_the_literature() -> None:
    """f(e - 1) = sqrt(2 / e)."""
    assert online_radius(np.array([math.e - 1]))[0] == pytest.approx(math.sqrt(2 / math.e))
