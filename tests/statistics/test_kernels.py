"""Compiled kernels against their plain twins."""

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.packed import pack, packed_size
from coterie.statistics import _kernels, _plain
from coterie.statistics.tables import TextTable
from coterie.statistics.totals import in_user_order, shards

N, USERS = 300, 40
PLAIN: Any = _plain.accumulate


def sums(dim: int) -> tuple[Any, ...]:
    shapes = (), (dim,), (packed_size(dim),), (), ()
    return tuple(np.zeros((USERS, *shape)) for shape in shapes)


@pytest.mark.parametrize("dim", [1, 2, 3, 20, 32, 33, 64])
@pytest.mark.parametrize("weighted", [False, True])
def test_accumulate(dim: int, weighted: bool) -> None:
    """Equal to rounding (the compiled one may fuse a product into a sum), on top of other sums."""
    rng = np.random.default_rng(dim)
    row, reward = rng.integers(0, USERS, N), rng.normal(size=N)
    action = rng.normal(size=(N, dim))
    weight = rng.integers(0, 3, N) * 0.5
    compiled, plain = sums(dim), sums(dim)
    cuts = 0, 70, 71, N
    actions, rewards, weights = (
        [values[low:high] for low, high in pairwise(cuts)] for values in (action, reward, weight)
    )
    keys, code = in_user_order([row[low:high] for low, high in pairwise(cuts)])
    given = actions, rewards, weights if weighted else []
    for _ in range(2):
        _kernels.accumulate_for(dim)(keys, code, *given, *compiled)
        PLAIN(keys, code, *given, *plain)
    for mine, other in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-13, atol=1e-13)


def test_the_plain_twin_by_hand() -> None:
    """Row (1, 2) with reward 3 and weight 2: 2, (6, 12), packed 2 (1, 2, 4), 18; squared norm 5; a row of
    weight 0 is left out."""
    count, moment, gram, square, longest = sums(2)
    given = [np.array([[9.0, 9.0], [1.0, 2.0]])], [np.array([1.0, 3.0])], [np.array([0.0, 2.0])]
    keys = np.array([3 << 1 | 0, 3 << 1 | 1])
    _plain.accumulate(keys, (1, 1), *given, count, moment, gram, square, longest)
    assert longest[3] == longest.sum() == 5
    assert (count[3], moment[3].tolist(), gram[3].tolist(), square[3]) == (2, [6, 12], [2, 4, 8], 18)
    assert count.sum() == 2


def test_numbers_of_another_kind_are_refused() -> None:
    """Their addresses would be read as something else."""
    for odd in (np.ones((2, 3), np.float32), np.ones((3, 2)).T):
        with pytest.raises(TypeError, match=r"float64 numbers that lie end to end"):
            _kernels.accumulate_for(3)(np.array([0]), (1, 1), [odd], [np.ones(2)], [], *sums(3))


@pytest.mark.parametrize("threads", [1, 2, 5, 100])
def test_each_user_belongs_to_one_shard(threads: int) -> None:
    """Every row is in one shard, and no user in two."""
    row = np.sort(np.random.default_rng(0).integers(0, USERS, N))
    parts = shards(row, threads)
    np.testing.assert_array_equal(np.concatenate([row[part] for part in parts]), row)
    assert sum(len(set(row[part])) for part in parts) == len(set(row))
    assert len(parts) == min(threads, USERS) or threads > 5


@pytest.mark.parametrize("part", [1, 2, 3, 7, 100])
def test_cutting_the_rows_makes_no_difference_to_the_last_bit(part: int) -> None:
    """However many rows of a user come together: four are added as one after the other."""
    rng = np.random.default_rng(0)
    row, action, reward = rng.integers(0, 4, N), rng.normal(size=(N, 4)), rng.normal(size=N)
    whole, parts = sums(4), sums(4)
    _kernels.accumulate_for(4)(*in_user_order([row]), [action], [reward], [], *whole)
    for start in range(0, N, part):
        these = slice(start, start + part)
        _kernels.accumulate_for(4)(*in_user_order([row[these]]), [action[these]], [reward[these]], [], *parts)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("width", [1, 3])
def test_permute(width: int) -> None:
    rng = np.random.default_rng(0)
    order, values = rng.permutation(50), rng.normal(size=(50, width + 1))
    mine, other = values.copy(), values.copy()
    _kernels.permute(order, mine[:, :width])
    _plain.permute(order, other[:, :width])
    np.testing.assert_array_equal(mine, other)
    assert not np.array_equal(mine, values)


def test_packed_rows_are_lower_triangles() -> None:
    """Against an outer product."""
    compiled, a = sums(3), np.array([[1.0, 2.0, 3.0]])
    _kernels.accumulate_for(3)(np.array([0]), (0, 0), [a], [np.ones(1)], [], *compiled)
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


TEXTS = st.lists(
    st.text(max_size=20).filter(lambda name: not name.endswith("\0"))
    | st.sampled_from(["", "a", "ab", "été", "用户", "🙂🙂", "user 7", "user 77"]),
    min_size=1,
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(texts=TEXTS, cut=st.integers(0, 60), skipped=st.integers(0, 3))
def test_the_table_of_texts_is_a_dictionary(texts: list[str], cut: int, skipped: int) -> None:
    """In two calls, the second on a slice whose buffers begin earlier; characters of one to four bytes."""
    table, known = TextTable(), dict[str, int]()
    column = pa.array(["before"] * skipped + texts, pa.large_string()).slice(skipped)
    for part in (column.slice(0, cut), column.slice(cut)):
        expected = [known.setdefault(name, len(known)) for name in part.to_pylist()]
        assert table.rows(part).tolist() == expected
    assert table.ids().tolist() == list(known)


def test_the_table_of_texts_grows() -> None:
    names = [f"user number {i}" for i in range(30_000)]
    table = TextTable()
    assert table.rows(pa.array(names)).tolist() == list(range(30_000))
    assert table.rows(pa.array(names[::-1])).tolist() == list(range(30_000))[::-1]
    assert table.ids().tolist() == names
