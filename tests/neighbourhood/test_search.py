"""The tree against the plain twins and against loops over all pairs, on instances drawn by their seed.

Radii, estimates and clusters are drawn so that distances fall on both sides of thresholds; some instances
have thousands of equal distances, thresholds of exactly one of them, radii that are zero, huge or infinite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from coterie.neighbourhood import metric
from coterie.neighbourhood.apart import _plain as plain_apart
from coterie.neighbourhood.gaps import own_gaps
from coterie.neighbourhood.metric import Metric
from coterie.neighbourhood.neighbourhood import Groups
from coterie.neighbourhood.search import _plain, asked
from coterie.neighbourhood.search.lenders import hardly_shared, rule_over
from coterie.neighbourhood.tree import ball_tree

Floats = npt.NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class Drawn:
    """A rule over U users and one never seen, and columns to add up."""

    hood: Metric
    columns: tuple[Floats, ...]


def estimates(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Clusters of several tightnesses, points on a grid, on a line, identical ones, or no structure."""
    kind = rng.integers(5)
    centres = rng.standard_normal((int(rng.integers(1, 9)), d))
    theta = centres[rng.integers(len(centres), size=n)]
    if kind == 0:
        theta = theta + 10.0 ** rng.integers(-9, 0) * rng.standard_normal((n, d))
    elif kind == 1:
        theta = rng.integers(-2, 3, size=(n, d)).astype(np.float64)
    elif kind == 2:
        theta = np.outer(rng.standard_normal(n), centres[0])
    elif kind == 3:
        theta = rng.standard_normal((n, d))
    return np.asarray(theta * 10.0 ** rng.integers(-4, 4))


def radii(rng: np.random.Generator, theta: Floats) -> Floats:
    """Equal, all zero, uneven, or a few of them huge or infinite; of the size of the distances."""
    n = len(theta)
    some = np.linalg.norm(theta[rng.integers(n, size=50)] - theta[rng.integers(n, size=50)], axis=1)
    typical = float(np.quantile(some, rng.random())) / 2
    kind = rng.integers(5)
    radius = np.full(n, 0.0 if kind == 0 else typical)
    if kind == 2:
        radius = typical * rng.random(n)
    elif kind == 3:
        radius[rng.random(n) < 0.1] = 1e3 * typical
    elif kind == 4:
        radius[rng.random(n) < 0.1] = np.inf
    return radius


def drawn(seed: int, most: int = 60) -> Drawn:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, most)), int(rng.integers(1, 8))
    theta = estimates(rng, n, d)
    with_unseen = np.vstack([theta, np.zeros((1, d))])
    slack = radii(rng, with_unseen)
    columns = (rng.random(n), rng.standard_normal((n, d)), rng.standard_normal((n, d * (d + 1) // 2)))
    if rng.random() < 0.4:  # Off-CLUB
        return Drawn(Metric(with_unseen, -slack, np.zeros(n + 1), strict=False), columns)
    limit = gaps_of(rng, with_unseen, slack)
    return Drawn(Metric(with_unseen, slack, limit, strict=True, mutual=bool(rng.random() < 0.3)), columns)


def gaps_of(rng: np.random.Generator, theta: Floats, slack: Floats) -> Floats:
    """The gap policies, one number, or exactly the left side of one pair."""
    kind = rng.integers(4)
    if kind < 2:
        return own_gaps(theta, slack, theta[:-1], slack[:-1], ("over", "under")[kind])
    u, v = rng.integers(len(theta) - 1, size=2)
    one_pair = np.linalg.norm(theta[u] - theta[v]) + (slack[u] + slack[v])
    return np.full(len(theta), one_pair if np.isfinite(one_pair) else 1.0)


def literal_lenders(hood: Metric) -> list[list[int]]:
    """Lenders by loops, from the definition; the user never seen is the last."""
    found, n = [], hood.n_users
    for u in range(n + 1):
        mine = []
        for v in range(n):
            square = 0.0
            for a, b in zip(hood.theta[u].tolist(), hood.theta[v].tolist(), strict=True):
                square += (a - b) * (a - b)
            left = math.sqrt(square) + (hood.slack[u] + hood.slack[v])
            limit = min(hood.limit[u], hood.limit[v]) if hood.mutual else hood.limit[u]
            if v == u or (left < limit if hood.strict else left <= limit):
                mine.append(v)
        found.append(mine)
    return found


def by_tree(one: Drawn, threads: int = 1) -> Groups:
    return one.hood._by_tree(one.columns, lambda *_: None, threads)


def require_sums(groups: Groups, lenders: list[list[int]], columns: tuple[Floats, ...]) -> None:
    """Sums within 1e-10 of the sum of absolute values, and equal groups for equal lenders."""
    sets = {u: tuple(mine) for u, mine in enumerate(lenders[:-1])}
    by_group = {int(groups.group[u]): mine for u, mine in sets.items()}
    assert len(by_group) == len(set(sets.values())) == len(groups.n_pooled) - 1
    assert all(by_group[int(groups.group[u])] == mine for u, mine in sets.items())
    for u, mine in enumerate(lenders):
        g = groups.group[u]
        assert groups.n_pooled[g] == len(mine) + (u == len(lenders) - 1)
        for sums, column in zip(groups.sums, columns, strict=True):
            room = 1e-10 * np.abs(column[mine]).sum(axis=0) + 1e-300
            assert (np.abs(sums[g] - column[mine].sum(axis=0)) <= room).all()


@settings(max_examples=150)
@example(seed=376845)  # a root that `x ** 0.5` rounds otherwise, exactly at a limit
@given(seed=SEEDS)
def test_tree_dense_and_loops_agree(seed: int) -> None:
    one = drawn(seed)
    lenders = literal_lenders(one.hood)
    if not one.hood._odd():
        for at_once in (False, True):
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(metric, "hardly_shared", lambda _, at_once=at_once: at_once)
                require_sums(by_tree(one), lenders, one.columns)
    require_sums(one.hood._dense(one.columns, lambda *_: None), lenders, one.columns)
    n_edges = sum(map(len, lenders[:-1]))
    event(f"{'none' if n_edges == one.hood.n_users else 'some'} joined")


@settings(max_examples=30)
@given(seed=SEEDS, largest=st.sampled_from([1, 2, 5, 300]))
def test_walks_and_their_plain_twins(seed: int, largest: int) -> None:
    """Deep trees too: the twins look at every pair of the same tree."""
    hood = drawn(seed, most=300).hood
    finite = np.flatnonzero(np.isfinite(hood.slack[:-1]))
    if not len(finite):
        return
    tree = ball_tree(
        hood.theta[finite], hood.slack[finite], hood.limit[finite], mutual=hood.mutual, largest=largest
    )
    everybody = asked.everybody_in(tree)
    parts = asked.tiles(tree.start[tree.leaves], tree.stop[tree.leaves])
    twins = []
    from coterie.neighbourhood.search import _kernels

    for walk in (_kernels.fingerprints, _plain.fingerprints):
        count, words = np.empty(len(finite), np.int64), np.empty((2, len(finite)), np.uint64)
        walk(tree, everybody, *parts, hood.strict, count, *words)
        twins.append((count, words))
    np.testing.assert_array_equal(twins[0][0], twins[1][0])
    np.testing.assert_array_equal(twins[0][1], twins[1][1])
    whole = []
    for rows in (_kernels.rows, _plain.rows):
        whole.append(np.zeros((64, len(finite)), np.uint8))
        rows(tree, everybody, 0, min(64, len(finite)), hood.strict, whole[-1])
    np.testing.assert_array_equal(whole[0], whole[1])


@settings(max_examples=30)
@given(seed=SEEDS, largest=st.sampled_from([1, 5, 40, 300]))
def test_masks_and_their_plain_twin(seed: int, largest: int) -> None:
    """Some leaves of some queries, leaves cut after 32 members."""
    from coterie.neighbourhood.leaves import _kernels
    from coterie.neighbourhood.leaves import _plain as plain_leaves

    hood, rng = drawn(seed, most=300).hood, np.random.default_rng(seed)
    finite = np.flatnonzero(np.isfinite(hood.slack[:-1]))
    if not len(finite):
        return
    tree = ball_tree(
        hood.theta[finite], hood.slack[finite], hood.limit[finite], mutual=hood.mutual, largest=largest
    )
    n, rank = len(finite), np.flatnonzero(rng.random(len(tree.leaves)) < 0.7)
    leaves, open_leaves = tree.leaves[rank], rng.random((n, len(tree.leaves))) < 0.4
    size = tree.stop[leaves] - tree.start[leaves]
    begin = np.where(size > 32, 32, 0)
    found = []
    for masks in (_kernels.masks, plain_leaves.masks):
        out, who = np.full((n, n), 7.0), np.zeros(n, np.int64)
        told = np.zeros(n, np.int64), np.zeros(n, np.uint64), np.zeros(n, np.uint64)
        rows = masks(
            tree,
            asked.everybody_in(tree),
            hood.strict,
            leaves,
            rank,
            begin,
            size,
            open_leaves,
            out,
            who,
            *told,
        )
        found.append((rows, out[:rows], who[:rows], *told))
    for compiled, plain in zip(*found, strict=True):
        np.testing.assert_array_equal(compiled, plain)
    for leaf in leaves:
        who, both = np.flatnonzero(rng.random(n) < 0.3)[:64], []
        for lenders in (_kernels.leaf_lenders, plain_leaves.leaf_lenders):
            one, two = np.zeros(64, np.uint64), np.zeros(64, np.uint64)
            inside = lenders(tree, asked.everybody_in(tree), hood.strict, leaf, who, one, two)
            both.append((inside, one[: len(who)], two[: len(who)]))
        np.testing.assert_array_equal(both[0], both[1])


@pytest.mark.parametrize("seed", range(20))
def test_both_ways_of_adding_up_give_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lenders first and then sums, or both at once: the same groups, sums alike, bits for any threads."""
    one = drawn(seed, most=3000)
    if one.hood._odd():
        return
    found = []
    for at_once, threads in ((False, 1), (True, 1), (True, 2)):
        monkeypatch.setattr(metric, "hardly_shared", lambda _, at_once=at_once: at_once)
        found.append(by_tree(one, threads))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].group, other.group)
        np.testing.assert_array_equal(found[0].n_pooled, other.n_pooled)
    size = one.hood._dense(tuple(np.abs(column) for column in one.columns), lambda *_: None).sums
    for first, once, twice, room in zip(*(way.sums for way in found), size, strict=True):
        np.testing.assert_array_equal(once, twice)
        assert (np.abs(first - once) <= 1e-10 * room + 1e-300).all()


def test_users_of_clusters_share_lenders_and_those_without_do_not() -> None:
    rng = np.random.default_rng(0)
    apart, near = rng.standard_normal((2001, 5)), np.repeat(np.eye(5), 401, axis=0)[:2001]
    for theta, expected in ((apart, True), (near, False)):
        rule = rule_over(theta, np.zeros(2001), np.full(2001, 1.0), strict=True, mutual=False)
        assert hardly_shared(rule) is expected


@settings(max_examples=60)
@given(seed=SEEDS, under=st.booleans(), largest=st.sampled_from([1, 3, 300]))
def test_gaps_are_those_of_brute_force_bit_for_bit(seed: int, under: bool, largest: int) -> None:
    from coterie.neighbourhood.apart import _kernels

    rng = np.random.default_rng(seed)
    theta = estimates(rng, int(rng.integers(1, 300)), int(rng.integers(1, 8)))
    radius = radii(rng, theta)
    finite = np.flatnonzero(np.isfinite(radius))
    if not len(finite):
        return
    tree = ball_tree(theta[finite], -radius[finite], np.zeros(len(finite)), largest=largest)
    parts = asked.tiles(tree.start[tree.leaves], tree.stop[tree.leaves])
    found = []
    for search in (_kernels.nearest_apart, plain_apart.nearest_apart):
        best = np.empty(len(finite))
        search(tree, asked.everybody_in(tree), np.arange(len(finite)), *parts, under, best)
        found.append(best)
    np.testing.assert_array_equal(found[0], found[1])
    event(f"{np.isfinite(found[0]).any()} apart")


@pytest.mark.parametrize("policy", ["over", "under"])
def test_gaps_of_many_users_equal_the_dense_ones(policy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the public function, with the user never seen and users with an infinite radius."""
    from coterie.neighbourhood import gaps

    for seed in range(20):
        rng = np.random.default_rng(seed)
        theta = np.vstack([estimates(rng, 200, 3), np.zeros((1, 3))])
        radius = radii(rng, theta)
        given_ = (theta, radius, theta[:-1], radius[:-1], policy)
        monkeypatch.setattr(gaps, "DENSE_BELOW", 10**9)
        dense = own_gaps(*given_)
        monkeypatch.setattr(gaps, "DENSE_BELOW", 0)
        np.testing.assert_array_equal(own_gaps(*given_, threads=2), dense)


def test_one_and_two_threads_give_the_same_bits() -> None:
    for seed in range(12):
        one = drawn(seed, most=3000)
        if one.hood._odd():
            continue
        single, double = by_tree(one, threads=1), by_tree(one, threads=2)
        np.testing.assert_array_equal(single.group, double.group)
        for left, right in zip(single.sums, double.sums, strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("dense", [True, False])
def test_edges_come_as_compressed_rows(dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric, "DENSE_BELOW", 10**9 if dense else 0)
    for seed in range(30):
        hood = drawn(seed).hood
        lenders, found = literal_lenders(hood), {}
        for edges in hood.edges():
            for row, a, b in zip(edges.rows, edges.begin, edges.begin[1:], strict=False):
                found[int(row)] = edges.lenders[a:b].tolist()
        assert found == dict(enumerate(lenders[:-1]))


def test_clusters_are_cells_of_their_own() -> None:
    """Twelve clusters on the axes: no leaf has members of two, and cells are those of the plain twins."""
    from coterie.neighbourhood.tree import _kernels
    from coterie.neighbourhood.tree import _plain as plain_tree
    from coterie.neighbourhood.tree.cells import cells_of

    rng = np.random.default_rng(0)
    label = rng.integers(12, size=6000)
    theta = np.eye(12)[label] + 0.02 * rng.standard_normal((6000, 12))
    cell, centres = cells_of(theta, np.zeros(6000), np.full(6000, 0.5))
    assert len(centres) == 12
    assert len(set(zip(cell.tolist(), label.tolist(), strict=True))) == 12
    tree = ball_tree(theta, np.zeros(6000), np.full(6000, 0.5))
    leaves = tree.leaves
    for a, b in zip(tree.start[leaves], tree.stop[leaves], strict=True):
        assert len(set(label[tree.order[a:b]].tolist())) == 1
    for reach, most in ((0.1, 50), (0.5, 512), (0.5, 5)):
        covers = [way.cover(theta[:500], reach, most) for way in (_kernels, plain_tree)]
        np.testing.assert_array_equal(*covers)
    found = np.zeros((2, 6000), np.int64)
    for way, into in zip((_kernels, plain_tree), found, strict=True):
        way.nearest(theta, np.ascontiguousarray(centres.T), into)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], cell)


def test_identical_estimates_are_one_leaf_and_one_group() -> None:
    theta = np.zeros((20_001, 4))
    theta[:7] = np.arange(1, 8)[:, np.newaxis]
    hood = Metric(theta, np.zeros(20_001), np.full(20_001, 0.5), strict=True)
    groups = hood.groups((np.ones(20_000),))
    assert groups.search == "tree"
    assert groups.n_pooled[groups.group[[0, 7, 19_999]]].tolist() == [1, 19_993, 19_993]
    assert len(groups.n_pooled) == 9
    tree = rule_over(theta, hood.slack, hood.limit, strict=True, mutual=False).tree
    assert (tree.stop - tree.start)[tree.leaves].max() == 19_993


def test_a_rule_that_no_bound_decides_is_refused_for_many() -> None:
    slack = np.zeros(60_001)
    slack[:2] = np.inf, -np.inf
    hood = Metric(np.zeros((60_001, 1)), slack, np.zeros(60_001), strict=False)
    with pytest.raises(ValueError, match="at most 50,000 users and there are 60,000"):
        hood.groups((np.ones(60_000),))


def test_without_data_everybody_is_joined_or_alone_at_once() -> None:
    """Infinite radii: joined to all under Off-CLUB, alone under Off-C2LUB, at any size."""
    n, theta = 5000, np.random.default_rng(0).standard_normal((5001, 3))
    radius = np.full(n + 1, np.inf)
    joined = Metric(theta, -radius, np.zeros(n + 1), strict=False).groups((np.ones(n),))
    alone = Metric(theta, radius, np.ones(n + 1), strict=True).groups((np.ones(n),))
    assert joined.sums[0].tolist() == [5000, 5000]
    assert alone.n_pooled.tolist() == [1] * (n + 1)
    assert alone.sums[0].tolist() == [1] * n + [0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(400))
def test_larger_instances_agree_with_the_plain_twins_and_for_any_threads(seed: int) -> None:
    """Up to 2,500 users: fingerprints and gaps of all against every pair, sums against the dense product."""
    from coterie.neighbourhood.apart import _kernels
    from coterie.neighbourhood.search.lenders import lenders_of

    one = drawn(seed, most=2500)
    if one.hood._odd():
        return
    hood = one.hood
    rule = rule_over(hood.theta, hood.slack, hood.limit, strict=hood.strict, mutual=hood.mutual)
    dense, tree = one.hood._dense(one.columns, lambda *_: None), by_tree(one, threads=2)
    np.testing.assert_array_equal(dense.group, tree.group)
    np.testing.assert_array_equal(dense.n_pooled, tree.n_pooled)
    magnitude = one.hood._dense(tuple(np.abs(column) for column in one.columns), lambda *_: None)
    for left, right, size in zip(dense.sums, tree.sums, magnitude.sums, strict=True):
        assert (np.abs(left - right) <= 1e-10 * size + 1e-300).all()
    single, double = lenders_of(rule, threads=1), lenders_of(rule, threads=2)
    np.testing.assert_array_equal(single.words, double.words)
    found, itself = [], np.arange(len(rule.tree.order))
    parts = asked.tiles(rule.tree.start[rule.tree.leaves], rule.tree.stop[rule.tree.leaves])
    apart = rule.tree._replace(limit=np.zeros(len(itself)))
    if hood.strict or not len(itself):
        return
    for search in (_kernels.nearest_apart, plain_apart.nearest_apart):
        best = np.empty(len(itself))
        search(apart, asked.everybody_in(apart), itself, *parts, False, best)
        found.append(best)
    np.testing.assert_array_equal(found[0], found[1])
