"""Ids of every kind, and the index that finds them again."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import LogError, UnknownUserError
from coterie.user_ids import UserIndex, as_ids, joined, union


@pytest.mark.parametrize(
    ("given", "kind", "values"),
    [
        ([3, 1], np.int64, [3, 1]),
        (np.array([3, 1], np.int8), np.int64, [3, 1]),
        (np.array([3, 1], np.uint64), np.int64, [3, 1]),
        (np.array([3, 2**63], np.uint64), np.uint64, [3, 2**63]),
        ([1, 2**64 - 1], np.uint64, [1, 2**64 - 1]),
        ([-(2**63), 2**63 - 1], np.int64, [-(2**63), 2**63 - 1]),
        ([np.int8(3), 5], np.int64, [3, 5]),
        (np.array([3, 5], object), np.int64, [3, 5]),
        ([], np.int64, []),
        (np.array([], object), np.int64, []),
        (["b", "äé"], "<U2", ["b", "äé"]),
        (("b", np.str_("abc")), "<U3", ["b", "abc"]),
        (np.array(["b", "a"], object), "<U1", ["b", "a"]),
        (np.array(["b", "a"], np.dtypes.StringDType()), "<U1", ["b", "a"]),
        (pa.array([7, 8]), np.int64, [7, 8]),
        (pa.array(["x", "yz"]), "<U2", ["x", "yz"]),
    ],
)
def test_as_ids(given: Any, kind: Any, values: list[Any]) -> None:
    ids = as_ids(given)
    assert ids.dtype == np.dtype(kind)
    assert ids.tolist() == values


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([[1, 2]], r"^users has shape \(1, 2\); one id per row is required, shape \(n,\)"),
        (5, "^users is 5; a list or an array of ids is required"),
        ("ann", "^users is 'ann'; a list or an array of ids is required"),
        ([1, None], "^users has no value in row 1; every row needs a user"),
        ([1, float("nan")], "^users has no value in row 1"),
        (["a", None], "^users has no value in row 1"),
        ([1, "a"], "^users mixes or holds int, str; user ids must be all integers or all text"),
        ([1.0, 2], "^users mixes or holds float, int"),
        ([2.0], "^users mixes or holds float; user ids"),
        (np.array([1.0]), "^users holds float64 values; user ids must be integers or text. Whole numbers"),
        (np.array([True]), "^users holds bool values"),
        (np.array(["2020-01-01"], "M8[D]"), r"^users holds datetime64\[D\] values"),
        ([True, 2], "^users mixes or holds bool, int"),
        ([b"a", "a"], "^users mixes or holds bytes, str"),
        ([-1, 2**63], r"^users holds -1 and 9223372036854775808, which no integer type holds"),
        ([1, 2**64], "^users holds 1 and 18446744073709551616, which no integer type holds"),
        ([2**70], "which no integer type holds; renumber the users"),
        (["a" * 513], "^users has an id longer than 512 characters; use shorter ids"),
    ],
)
def test_as_ids_refuses(given: Any, sentence: str) -> None:
    with pytest.raises(LogError, match=sentence) as failure:
        as_ids(given)
    assert "\n" not in str(failure.value)


NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-4, 4)
LARGE = st.integers(0, 2**64 - 1) | st.integers(2**63 - 2, 2**63 + 2) | st.integers(0, 4)
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4)


@settings(max_examples=300, deadline=None)
@given(
    data=st.data(),
    kinds=st.sampled_from([(NUMBERS, NUMBERS), (NUMBERS, LARGE), (LARGE, NUMBERS), (TEXT, TEXT)]),
)
def test_the_index_agrees_with_a_dictionary(data: st.DataObject, kinds: Any) -> None:
    """In any order of ids; asked for ids of another width, sign or length."""
    ids = data.draw(st.lists(kinds[0], unique=True, max_size=12))
    asked = data.draw(st.lists(kinds[1] | st.sampled_from(ids) if ids else kinds[1], max_size=12))
    index, where = UserIndex(as_ids(ids)), {name: row for row, name in enumerate(ids)}
    try:
        wanted = as_ids(asked)
    except LogError:  # below 0 and above 2**63 together
        return
    assert index.rows(wanted).tolist() == [where.get(name, -1) for name in asked]
    assert [index.row(name) for name in asked] == index.rows(wanted).tolist()
    assert (len(index), index.first_duplicate()) == (len(ids), None)


@settings(max_examples=200, deadline=None)
@given(left=st.lists(LARGE, unique=True, max_size=9), right=st.lists(LARGE, unique=True, max_size=9))
def test_union_of_integers(left: list[int], right: list[int]) -> None:
    assert union(as_ids(left), as_ids(right)).tolist() == sorted({*left, *right})


@settings(max_examples=100, deadline=None)
@given(left=st.lists(TEXT, unique=True, max_size=9), right=st.lists(TEXT, unique=True, max_size=9))
def test_union_of_text(left: list[str], right: list[str]) -> None:
    assert union(as_ids(left), as_ids(right)).tolist() == sorted({*left, *right})


def test_union_refuses() -> None:
    with pytest.raises(LogError, match=r"^one of the two has integer user ids and the other has text"):
        union(as_ids([1]), as_ids(["1"]))
    with pytest.raises(LogError, match=r"^user ids below 0 and above 2\*\*63 - 1 cannot be held together"):
        union(as_ids([-1]), as_ids([2**63]))
    assert union(as_ids([]), as_ids(["b", "a"])).tolist() == ["a", "b"]
    assert union(as_ids(["b"]), as_ids([])).tolist() == ["b"]


def test_a_longer_id_is_not_its_beginning() -> None:
    """Ids are compared at a fixed width: the needle must not be found by what is left of it when cut."""
    index = UserIndex(as_ids(["ab", "cd"]))
    assert index.rows(["abc", "ab", "a"]).tolist() == [-1, 0, -1]


def test_duplicates() -> None:
    assert UserIndex(as_ids([5, 1, 5])).first_duplicate() == 5
    assert UserIndex(as_ids(["b", "a", "b"])).first_duplicate() == "b"
    assert UserIndex(as_ids([])).first_duplicate() is None


def test_the_index_does_not_follow_its_ids() -> None:
    index = UserIndex(as_ids(["b", "a"]))
    with pytest.raises(ValueError, match=r"read-only"):
        index.ids[0] = "z"


def test_users_that_must_be_known() -> None:
    index = UserIndex(as_ids(["alice", "bob", "carol"]))
    assert index.rows_of_known(["carol", "alice"]).tolist() == [2, 0]
    with pytest.raises(UnknownUserError, match=r"'alise'.* is not known; the nearest ids are 'alice'$"):
        index.rows_of_known(["bob", "alise"])
    with pytest.raises(
        UnknownUserError, match=r"^user ids here are text, but 3 was asked for; give ids of the same"
    ):
        index.rows([3])
    with pytest.raises(UnknownUserError, match=r"^user ids here are integers, but 'bob' was asked for"):
        UserIndex(as_ids([1])).row("bob")
    with pytest.raises(UnknownUserError, match=r"^user .*7.* is not known; name one of `users`$"):
        UserIndex(as_ids([1])).rows_of_known([7])
    assert UserIndex(as_ids([])).rows(["anyone"]).tolist() == [-1]


def test_joined() -> None:
    assert joined(["a", 2, "c"], limit=2) == "'a', 2"
