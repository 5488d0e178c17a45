"""Compiled kernels against their plain twins."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.packed import pack, packed_size
from coterie.statistics import _kernels, _plain

N, USERS = 300, 40
PLAIN: Any = _plain.accumulate


def sums(dim: int) -> tuple[Any, ...]:
    shapes = (), (dim,), (packed_size(dim),), (), ()
    return tuple(np.zeros((USERS, *shape)) for shape in shapes)


@pytest.mark.parametrize("dim", [1, 2, 3, 20, 32, 33, 64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_accumulate(dim: int, weighted: bool, order: Any) -> None:
    """Equal to rounding (the compiled one may fuse a product into a sum), shard by shard, on top of sums."""
    rng = np.random.default_rng(dim)
    row, reward = rng.integers(0, USERS, N), rng.normal(size=N)
    action = np.asarray(rng.normal(size=(N, dim)), order=order)
    weight = rng.integers(0, 3, N) * 0.5 if weighted else np.empty(0)
    compiled, plain = sums(dim), sums(dim)
    for _ in range(2):
        for shard in range(3):
            _kernels.accumulate_for(dim)(row, action, reward, weight, *compiled, shard, 3)
            PLAIN(row, action, reward, weight, *plain, shard, 3)
    for mine, other in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-13, atol=1e-13)


def test_the_plain_twin_by_hand() -> None:
    """Row (1, 2) with reward 3 and weight 2: 2, (6, 12), packed 2 (1, 2, 4), 18; squared norm 5; a row of
    weight 0 is left out."""
    count, moment, gram, square, longest = sums(2)
    given = np.array([3, 3]), np.array([[1.0, 2.0], [9.0, 9.0]]), np.array([3.0, 1.0]), np.array([2.0, 0.0])
    _plain.accumulate(*given, count, moment, gram, square, longest, 0, 1)
    assert longest[3] == longest.sum() == 5
    assert (count[3], moment[3].tolist(), gram[3].tolist(), square[3]) == (2, [6, 12], [2, 4, 8], 18)
    assert count.sum() == 2


def test_each_user_belongs_to_one_shard() -> None:
    """Of 40 users in 3 shards: every row is added once, none of the shards is idle."""
    rows = np.arange(USERS)
    seen = []
    for shard in range(3):
        mine = sums(1)
        PLAIN(rows, np.ones((USERS, 1)), np.ones(USERS), np.empty(0), *mine, shard, 3)
        seen.append(mine[0])
    np.testing.assert_array_equal(np.sum(seen, axis=0), 1.0)
    assert all(part.any() for part in seen)


@pytest.mark.parametrize("shards", [1, 2, 5, 100])
def test_shards_make_no_difference_to_the_last_bit(shards: int) -> None:
    rng = np.random.default_rng(0)
    given = rng.integers(0, USERS, N), rng.normal(size=(N, 4)), rng.normal(size=N), np.empty(0)
    whole, parts = sums(4), sums(4)
    _kernels.accumulate_for(4)(*given, *whole, 0, 1)
    for shard in range(shards):
        _kernels.accumulate_for(4)(*given, *parts, shard, shards)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


def test_packed_rows_are_lower_triangles() -> None:
    """Against an outer product."""
    compiled, a = sums(3), np.array([[1.0, 2.0, 3.0]])
    _kernels.accumulate_for(3)(np.array([0]), a, np.ones(1), np.empty(0), *compiled, 0, 1)
    np.testing.assert_array_equal(compiled[2][0], pack(np.outer(a[0], a[0])))


IDS = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), max_size=60).map(
        lambda x: np.array(x, np.int64)
    ),
    st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=60).map(
        lambda x: np.array(x, np.uint64)
    ),
)


@settings(max_examples=150, deadline=None)
@given(ids=IDS, cut=st.integers(0, 60))
def test_look_up_or_add(ids: Any, cut: int) -> None:
    """In two calls, with as many slots as the caller owes: twice the ids."""
    keys, rows = _kernels.empty_table(128, ids.dtype)
    known: dict[int, int] = {}
    n = 0
    for part in (ids[:cut], ids[cut:]):
        mine, theirs = np.empty(len(part), np.int64), np.empty(len(part), np.int64)
        n = _kernels.look_up_or_add(part, keys, rows, n, mine)
        assert n == _plain.look_up_or_add(part, known, theirs)
        np.testing.assert_array_equal(mine, theirs)
    assert sorted(keys[rows >= 0].tolist()) == sorted(known)


def test_ids_that_collide() -> None:
    """63 ids in 128 slots: some share a slot, and are told apart."""
    keys, rows = _kernels.empty_table(128, np.int64)
    ids = np.arange(63) * 2**20
    out = np.empty(63, np.int64)
    assert _kernels.look_up_or_add(ids, keys, rows, 0, out) == 63
    assert out.tolist() == list(range(63))
    assert _kernels.look_up_or_add(ids[::-1].copy(), keys, rows, 63, out) == 63
    assert out.tolist() == list(range(62, -1, -1))
