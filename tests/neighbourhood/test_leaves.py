"""Leaves of many members: what is left out of comparing with them, against all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from coterie.neighbourhood.apart import _plain as plain_apart
from coterie.neighbourhood.leaves import _plain as plain_leaves
from coterie.neighbourhood.search import _plain as plain_search
from coterie.neighbourhood.search import asked
from coterie.neighbourhood.tree import BallTree, ball_tree

Floats = npt.NDArray[np.float64]


def clusters(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Up to 2,000 users in a few round clusters, and their slacks; sizes of all from 1e-12 to 1e12."""
    n, d, k = int(rng.integers(600, 2000)), int(rng.integers(1, 12)), int(rng.integers(1, 4))
    centres, size = rng.standard_normal((k, d)), 10.0 ** rng.integers(-12, 13)
    theta = centres[rng.integers(k, size=n)] + rng.choice([1e-3, 0.05, 0.3]) * rng.standard_normal((n, d))
    slack = rng.choice([0.0, 0.01, 0.2]) * (rng.random(n) if rng.random() < 0.5 else np.ones(n))
    return size * theta, size * slack


def limits(rng: np.random.Generator, theta: Floats, slack: Floats) -> Floats:
    """Of each user the left side of some pair, near the least or anywhere: comparisons that tie."""
    i, j = rng.integers(len(theta), size=(2, len(theta)))
    left = np.linalg.norm(theta[i] - theta[j], axis=1) + (slack[i] + slack[j])
    return left if rng.random() < 0.5 else np.full(len(theta), np.quantile(left, rng.random()))


def one_leaf_each(theta: Floats, slack: Floats, limit: Floats, *, mutual: bool = False) -> BallTree:
    """A tree whose leaves are large."""
    return ball_tree(theta, slack, limit, mutual=mutual, largest=1000)


def shares(tree: BallTree) -> tuple[Any, Any]:
    return asked.tiles(tree.start[tree.leaves], tree.stop[tree.leaves])


@pytest.mark.parametrize("seed", range(40))
def test_lenders_in_large_leaves_are_those_of_all_pairs(seed: int) -> None:
    from coterie.neighbourhood.leaves import _kernels
    from coterie.neighbourhood.search import _kernels as walks

    rng = np.random.default_rng(seed)
    theta, slack = clusters(rng)
    strict, sign = bool(rng.random() < 0.7), rng.choice([-1.0, 1.0])
    tree = one_leaf_each(
        theta, sign * slack, limits(rng, theta, sign * slack), mutual=bool(rng.random() < 0.3)
    )
    found = []
    for walk in (walks.fingerprints, plain_search.fingerprints):
        count, words = np.empty(len(theta), np.int64), np.empty((2, len(theta)), np.uint64)
        walk(tree, asked.everybody_in(tree), *shares(tree), strict, count, *words)
        found.append((count, words))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    for leaf in tree.leaves[:3]:
        for size in (3, 64):
            who, both = np.sort(rng.choice(len(theta), size, replace=False)), []
            for lenders in (_kernels.leaf_lenders, plain_leaves.leaf_lenders):
                one, two = np.zeros(64, np.uint64), np.zeros(64, np.uint64)
                inside = lenders(tree, asked.everybody_in(tree), strict, leaf, who, one, two)
                both.append((inside, one[:size], two[:size]))
            for compiled, plain in zip(*both, strict=True):
                np.testing.assert_array_equal(compiled, plain)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("under", [False, True])
def test_gaps_through_large_leaves_are_those_of_all_pairs(seed: int, under: bool) -> None:
    from coterie.neighbourhood.apart import _kernels

    rng = np.random.default_rng(seed)
    theta, slack = clusters(rng)
    tree, found = one_leaf_each(theta, -slack, np.zeros(len(theta))), []
    for search in (_kernels.nearest_apart, plain_apart.nearest_apart):
        best = np.empty(len(theta))
        search(tree, asked.everybody_in(tree), np.arange(len(theta)), *shares(tree), under, best)
        found.append(best)
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("seed", range(20))
def test_members_come_from_the_farthest_toward_the_queries(seed: int) -> None:
    """Coordinates on the axis bound distances, and the order and its bounds are those of the plain twins."""
    from coterie.neighbourhood.leaves import _kernels

    rng = np.random.default_rng(seed)
    theta, slack = clusters(rng)
    tree = one_leaf_each(theta, slack, np.full(len(theta), np.inf))
    leaf = tree.leaves[np.argmax((tree.stop - tree.start)[tree.leaves])]
    centre, places = tree.centre[leaf], np.arange(tree.start[leaf], tree.stop[leaf])
    near = (theta[rng.choice(len(theta), 9)] - centre).astype(np.float32)
    first, sign = int(rng.integers(len(places))), rng.choice([-1.0, 1.0])
    scale, both = float(tree.bounds[leaf, 5] + np.abs(near).max()), []
    for ahead in (_kernels.ahead, plain_leaves.ahead):
        along = np.empty(9)
        both.append((ahead(tree, leaf, first, near, sign, along), along))
    for compiled, plain in zip(*both, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=0, atol=1e-5 * scale)
    value, along = both[0]
    away = np.linalg.norm(
        centre + near.astype(np.float64)[:, np.newaxis] - tree.points[places[first:]], axis=2
    )
    room = _kernels.blur(2 * scale, theta.shape[1])
    assert (along[:, np.newaxis] - (value + sign * tree.slack[places[first:]]) <= away + room).all()
    for lowest in (-np.inf, float(np.quantile(value, 0.4)), np.inf):
        order, top = _kernels.falling(value, first, lowest)
        plain_order, plain_top = plain_leaves.falling(value, first, lowest)
        assert sorted(order.tolist()) == sorted(plain_order.tolist())
        for k in range(len(top)):
            assert top[k] == value[order[256 * k :] - first].max()
            assert top[k] >= plain_top[k]
