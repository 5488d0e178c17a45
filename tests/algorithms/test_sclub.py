"""SCLUB: splits, merges and the frequency test by hand, both forms against loops, the kernel and its twin."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import coterie as ct
from coterie.confidence import Estimates
from coterie.neighbourhood import SplitThenMerge, _kernels, _plain

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")

Partition = set[frozenset[Any]]


def f(count: float) -> float:
    return math.sqrt((1 + math.log(1 + count)) / (1 + count))


def drawn(seed: int, n_users: int = 9, n_rows: int = 400) -> tuple[Any, ...]:
    """Rows of users in three groups, the first users served more often."""
    rng = np.random.default_rng(seed)
    user = np.minimum(rng.integers(0, n_users + 6, n_rows) // 2, n_users - 1)
    action = rng.standard_normal((n_rows, 3))
    action /= np.linalg.norm(action, axis=1, keepdims=True)
    theta = np.array([[0.9, 0.1, 0.0], [-0.3, 0.2, 0.8], [0.2, -0.9, 0.1]])[user % 3]
    reward = np.einsum("ij,ij->i", action, theta) + 0.3 * rng.standard_normal(n_rows)
    return user, action, reward


def partition(model: Any) -> Partition:
    return {frozenset(model.neighbours(user).tolist()) for user in model.users.tolist()}


def test_split_and_merge_by_hand() -> None:
    """20 rows each, ridge 1/2: theta = 0, 2/20.5 = .0976 and 100/20.5 = 4.878; f(20) = .4388.

    a: the centre of everybody is 102/60.5 = 1.686, limit f(20) + f(60) = .728: she leaves.
    b: the centre of the rest is 102/40.5 = 2.519, limit f(20) + f(40) = .778: she leaves.
    c is alone. Of a, b and c only a and b are closer than (f(20) + f(20)) / 2 = .4388.
    """
    logs = ct.Logs.from_arrays(["a", "b", "c"] * 20, [[1.0]] * 60, [0.0, 0.1, 5.0] * 20)
    model = ct.SCLUB().fit(logs)
    assert partition(model) == {frozenset("ab"), frozenset("c")}
    assert model.theta[0, 0] == pytest.approx(2 / 40.5)  # one prior for both
    assert f(20) == pytest.approx(0.4388, abs=1e-4)
    assert f(20) + f(60) == pytest.approx(0.728, abs=1e-3)


def test_nobody_leaves_within_the_limit() -> None:
    """Theta 0 and .488 against a centre of 10/40.5 = .247: nobody is f(20) + f(40) = .778 away."""
    logs = ct.Logs.from_arrays(["a", "b"] * 20, [[1.0]] * 40, [0.0, 0.5] * 20)
    assert partition(ct.SCLUB().fit(logs)) == {frozenset("ab")}
    # half of the factor: limit .389, still; a tenth: .078, both are apart, and merging needs .044
    assert partition(ct.SCLUB(graph_scale=0.5).fit(logs)) == {frozenset("ab")}
    assert partition(ct.SCLUB(graph_scale=0.1).fit(logs)) == {frozenset("a"), frozenset("b")}


def test_merging_sweeps_until_nothing_merges() -> None:
    """Users a (0, 0), b (.814, .45), c (.814, -.45) of 1 row each; d, 100 away, keeps the first cluster.

    f(1) = .920, so that in the first sweep a merges neither with b nor with c, .930 away, but b and c, .9
    apart, become one at (.814, 0); in the second sweep (f(1) + f(2)) / 2 = .878 joins them to a.
    """
    theta = np.array([[0.0, 0.0], [0.814, 0.45], [0.814, -0.45], [100.0, 0.0]])
    given = Estimates(theta, np.ones(4), np.ones(4), 1.0, 0.0)
    rule = SplitThenMerge(theta, np.tile([1.0, 0.0, 1.0], (4, 1)), 1.0, 1e-12)
    assert rule.connect(given).labels.tolist() == [1, 1, 1, 0]
    assert f(1) == pytest.approx(0.920, abs=1e-3)
    assert (f(1) + f(2)) / 2 == pytest.approx(0.878, abs=1e-3)


def loop_of_the_frozen_form(rows: tuple[Any, ...], alpha: float, ridge: float) -> Partition:
    """Sets of users; every sum is made anew from the rows."""
    user, action, reward = rows

    def look(members: Any) -> tuple[Any, int]:
        own = np.isin(user, list(members))
        a = action[own]
        return np.linalg.inv(ridge * np.eye(3) + a.T @ a) @ a.T @ reward[own], int(own.sum())

    clusters = [set(np.unique(user).tolist())]
    for u in sorted(clusters[0]):
        (mine, n), (theirs, m) = look({u}), look(clusters[0])
        if len(clusters[0]) > 1 and np.linalg.norm(mine - theirs) > alpha * (f(n) + f(m)):
            clusters[0].discard(u)
            clusters.append({u})
    merged = True
    while merged:
        merged = False
        for i in range(len(clusters)):
            for j in range(i + 1, len(clusters)):
                if clusters[i] and clusters[j]:
                    (one, n), (other, m) = look(clusters[i]), look(clusters[j])
                    if np.linalg.norm(one - other) < alpha * (f(n) + f(m)) / 2:
                        clusters[i] |= clusters[j]
                        clusters[j] = set()
                        merged = True
    return {frozenset(one) for one in clusters if one}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("alpha", [0.3, 0.6, 1.0])
def test_frozen_form_against_a_loop(seed: int, alpha: float) -> None:
    rows = drawn(seed, n_rows=150)
    model = ct.SCLUB(graph_scale=alpha).fit(ct.Logs.from_arrays(*rows))
    assert partition(model) == loop_of_the_frozen_form(rows, alpha, 0.5)


def test_a_user_served_too_often_leaves() -> None:
    """All estimates are 0; a has every row, so that her frequency is 1 and the mean user's 1/2.

    The limit sqrt 2 f(t) is .5046 at t = 35 and .4993 at t = 36.
    """
    for n, expected in ((35, {frozenset("ab")}), (36, {frozenset("a"), frozenset("b")})):
        weight = [*[1.0] * n, 0.0]
        logs = ct.Logs.from_arrays([*["a"] * n, "b"], [[1.0]] * (n + 1), [0.0] * (n + 1), weight=weight)
        assert partition(ct.SCLUB(staged=True).fit(logs)) == expected
    assert math.sqrt(2) * f(35) == pytest.approx(0.5046, abs=1e-4)
    assert math.sqrt(2) * f(36) == pytest.approx(0.4993, abs=1e-4)


def loop_of_the_staged_form(rows: tuple[Any, ...], alpha: float, ridge: float) -> Partition:
    """Clusters as sets with a number; every sum is made anew from the rows so far."""
    user, action, reward = rows
    clusters: dict[int, set[int]] = {0: set(np.unique(user).tolist())}
    met: set[int] = set()
    ends = np.cumsum(2 ** np.arange(1, 20)).tolist()
    for t, u in enumerate(user.tolist(), 1):
        if t - 1 in (0, *ends):
            met = set()
        so_far = user[:t]

        def look(members: set[int], so_far: Any = so_far) -> tuple[Any, int]:
            own = np.flatnonzero(np.isin(so_far, list(members)))
            a = action[own]
            return np.linalg.inv(ridge * np.eye(3) + a.T @ a) @ a.T @ reward[own], len(own)

        c = next(number for number, members in clusters.items() if u in members)
        (mine, n), (theirs, m) = look({u}), look(clusters[c])
        rare = abs(n - m / len(clusters[c])) / t > math.sqrt(2) * f(t)
        touched = [c]
        if len(clusters[c]) > 1 and (rare or np.linalg.norm(mine - theirs) > alpha * (f(n) + f(m))):
            new = min(set(range(100)) - set(clusters))
            clusters[c].discard(u)
            clusters[new] = {u}
            touched = [new, c]
        met.add(u)
        for one in touched:
            for other in range(100):
                pair = {one, other}
                if len(pair) < 2 or not all(k in clusters and clusters[k] <= met for k in pair):
                    continue
                (x, n), (y, m) = look(clusters[one]), look(clusters[other])
                often = abs(n / len(clusters[one]) - m / len(clusters[other])) / t
                if np.linalg.norm(x - y) < alpha * (f(n) + f(m)) / 2 and often < math.sqrt(2) * f(t) / 2:
                    clusters[min(pair)] |= clusters.pop(max(pair))
                    one = min(pair)  # noqa: PLW2901
    return {frozenset(one) for one in clusters.values()}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [0.4, 0.8])
def test_staged_form_against_a_loop(seed: int, alpha: float) -> None:
    rows = drawn(seed)
    logs = ct.Logs.from_arrays(*rows)
    sclub = ct.SCLUB(graph_scale=alpha, staged=True)
    expected = loop_of_the_staged_form(rows, alpha, 0.5)
    assert partition(sclub.fit(logs)) == expected
    assert partition(sclub.fit(replace(logs, batch_rows=11))) == expected
    assert 1 < len(expected) < 9


def state(n: int = 9, dim: int = 3) -> tuple[Any, ...]:
    """Clock, sums of users, clusters and their sums before the first row."""
    sums = [(np.zeros(n), np.zeros((n, dim)), np.zeros((n, dim, dim)), np.zeros((n, dim))) for _ in range(2)]
    label, size, clock = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(3, dtype=np.int64)
    size[0] = n
    return (clock, *sums[0], label, size, np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64), *sums[1])


@pytest.mark.parametrize("seed", range(4))
def test_kernel_does_what_its_twin_does(seed: int) -> None:
    rows = (*drawn(seed), np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 1.0, 3.0], 400))
    compiled, plain = state(), state()
    for split_and_merge, given in ((_kernels.split_and_merge, compiled), (_plain.split_and_merge, plain)):
        arguments: Any = (*rows, 0.5, 1.4, 0.5, *given)
        split_and_merge(*arguments)
    alive = plain[6] > 0
    for k, pair in enumerate(zip(compiled, plain, strict=True)):
        left, right = (
            x[alive] if k >= 9 else x for x in pair
        )  # an empty cluster's estimate is of no meaning
        if left.ndim == 3:
            left, right = np.tril(left), np.tril(right)
        np.testing.assert_allclose(left, right, atol=1e-10)
    assert alive.sum() > 1


def test_a_row_of_weight_two_is_two_rounds() -> None:
    rows = drawn(1)
    weight = np.where(np.arange(400) % 3, 1, 2)
    twice = [np.repeat(column, weight, axis=0) for column in rows]
    sclub = ct.SCLUB(graph_scale=0.5, staged=True)
    one = sclub.fit(ct.Logs.from_arrays(*rows, weight=weight))
    assert partition(one) == partition(sclub.fit(ct.Logs.from_arrays(*twice)))


@pytest.mark.parametrize("staged", [False, True])
def test_long_actions_are_rescaled(staged: bool) -> None:
    user, action, reward = drawn(2)
    sclub = ct.SCLUB(graph_scale=0.5, staged=staged)
    plain, long = (sclub.fit(ct.Logs.from_arrays(user, k * action, reward)) for k in (1.0, 10.0))
    assert partition(plain) == partition(long)


def test_one_user_alone_and_users_without_data() -> None:
    for staged in (False, True):
        alone = ct.SCLUB(staged=staged).fit(ct.Logs.from_arrays(["a"], [[1.0]], [1.5]))
        assert alone.theta[0, 0] == pytest.approx(1.0)
        nothing = ct.Logs.from_arrays(["a", "b"], [[1.0]] * 2, [1.0, 1.0], weight=[0.0, 0.0])
        assert partition(ct.SCLUB(staged=staged).fit(nothing)) == {frozenset("ab")}


def test_refusals() -> None:
    stats = ct.summarize(ct.Logs.from_arrays(["a"], [[1.0]], [1.0]))
    with pytest.raises(ct.errors.LogError, match=r"SCLUB\(staged=True\) goes .* given statistics.*give logs"):
        ct.SCLUB(staged=True).fit(stats)
    with pytest.raises(ct.errors.ParameterError, match="graph_scale is -1"):
        ct.SCLUB(graph_scale=-1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("graph_scale", [0.05, 0.3, 1.0])
def test_the_compiled_pass_and_its_twin_find_the_same_clusters(seed: int, graph_scale: float) -> None:
    """Users in three clusters with few rows: some leave, some merge, at small scales nobody does."""
    rng = np.random.default_rng(seed)
    count = rng.integers(0, 30, 12).astype(np.float64)
    rows = [rng.standard_normal((int(n), 2)) / 2 for n in count]
    centre = rng.standard_normal((3, 2))
    gram = np.array([a.T @ a for a in rows])
    moment = np.array([a.T @ (a @ centre[u % 3]) for u, a in enumerate(rows)])
    theta = np.linalg.solve(gram + 0.5 * np.eye(2), moment[:, :, np.newaxis])[:, :, 0]
    label = {}
    for twin in (_kernels.split_then_merge, _plain.split_then_merge):
        label[twin] = np.zeros(12, dtype=np.int64)
        twin(count, moment, gram, theta, graph_scale, 0.5, label[twin])
    assert label[_kernels.split_then_merge].tolist() == label[_plain.split_then_merge].tolist()
