"""Statistics: added, cut, saved, mapped, and made from arrays."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie as ct
from coterie import array_file
from coterie.errors import FileError, LogError, UnknownUserError

FIELDS = ("count", "moment", "gram", "reward_square")


def stats_of(users: list[Any], scale: float = 1.0, **more: Any) -> ct.UserStatistics:
    """A row (1, i) with reward i + 1 for the i-th user, times `scale`."""
    action = [[scale, scale * i] for i in range(len(users))]
    return ct.summarize(ct.Logs.from_arrays(users, action, [i + 1.0 for i in range(len(users))], **more))


def require_same(left: ct.UserStatistics, right: ct.UserStatistics) -> None:
    assert left.users.tolist() == right.users.tolist()
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
    assert (left.max_norm, left.features, left.intercept) == (right.max_norm, right.features, right.intercept)
    assert dict(left.dropped) == dict(right.dropped)


def test_sum_by_hand() -> None:
    """b has (1, 0) r = 1 and (2, 2) r = 2 in the two: moment (1, 0) + (4, 4), gram [[5, 4], [4, 4]], 5."""
    total = stats_of(["b", "c"]) + stats_of(["a", "b"], 2.0)
    assert total.users.tolist() == ["a", "b", "c"]
    assert total.count.tolist() == [1, 2, 1]
    assert total.moment.tolist() == [[2, 0], [5, 4], [2, 2]]
    assert total.gram[1].tolist() == [[5, 4], [4, 4]]
    assert total.reward_square.tolist() == [1, 5, 4]
    assert total.max_norm == np.sqrt(8.0)
    assert (total.n_samples, total.dim, total.n_users) == (4, 2, 3)


def test_sums_of_ids_of_different_types() -> None:
    large = stats_of([1, 2**63 + 1]) + stats_of([1, 5])
    assert large.users.tolist() == [1, 5, 2**63 + 1]
    assert large.count.tolist() == [2, 1, 1]
    wide = stats_of(["a", "longer"]) + stats_of(["a"])
    assert (wide.users.tolist(), wide.count.tolist()) == (["a", "longer"], [2, 1])


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (
            ct.Logs.from_arrays(["a"], [[1.0]], [1.0]),
            "^actions have 2 coordinates here and 1 there; they must",
        ),
        (ct.Logs.from_arrays(["a"], [[1.0]], [1.0], intercept=True), "^one of the two has an intercept"),
        (ct.Logs.from_arrays([3], [[1.0, 2.0]], [1.0]), "^one of the two has integer user ids and the other"),
    ],
)
def test_sums_that_make_no_sense(other: ct.Logs, sentence: str) -> None:
    with pytest.raises(LogError, match=sentence):
        stats_of(["a", "b"]) + ct.summarize(other)


def test_sums_of_other_columns() -> None:
    arrays: dict[str, Any] = {
        "users": [1],
        "count": [1],
        "moment": [[1.0]],
        "gram": [[1.0]],
        "reward_square": [1.0],
    }
    left, right = (ct.UserStatistics.from_arrays(**arrays, features=[name]) for name in "xy")
    with pytest.raises(LogError, match=r"^action columns differ: x here, y there; name the same columns"):
        left + right
    assert (left + ct.UserStatistics.from_arrays(**arrays)).features == ("x",)
    with pytest.raises(TypeError):
        left + 1  # type: ignore[operator]
    with pytest.raises(LogError, match=r"below 0 and above"):
        stats_of([-1]) + stats_of([2**63])


def test_without_and_taking() -> None:
    stats = stats_of(["a", "b", "c", "d"])
    assert stats.without(["c", "a"]).users.tolist() == ["b", "d"]
    assert stats.without(["c", "a"]).moment.tolist() == [[2, 2], [4, 12]]
    require_same(stats.without([]), stats)
    assert stats.without(list("abcd")).n_users == 0
    taken = stats.taking(np.array([3, 1]))
    assert (taken.users.tolist(), taken.count.tolist()) == (["d", "b"], [1, 1])
    assert taken.moment.tolist() == [[4, 12], [2, 2]]
    assert taken.without(["d"]).users.tolist() == ["b"]
    require_same(taken + stats.without(["b", "d"]), stats)


@pytest.mark.parametrize(
    ("users", "sentence", "kind"),
    [
        (["a", "b", "a"], "^user 'a' is named more than once; name each user to leave out once", LogError),
        (["ax"], "^user 'ax' is not known; the nearest ids are 'a'", UnknownUserError),
        ([1], "^user ids here are text, but 1 was asked for", UnknownUserError),
        ("a", "^users is 'a'; a list or an array of ids is required", LogError),
    ],
)
def test_without_refuses(users: Any, sentence: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=sentence):
        stats_of(["a", "b"]).without(users)


def test_copied_and_sent_to_another_process() -> None:
    stats = stats_of(["a", "b"])
    for other in (copy.deepcopy(stats), pickle.loads(pickle.dumps(stats))):  # noqa: S301
        require_same(other, stats)


def test_shown_in_one_line() -> None:
    assert repr(stats_of(["a", "b"])) == "<statistics of 2 users, 2 samples, 2 coordinates>"


@pytest.mark.parametrize("ids", [["é", "bob"], [5, -1], [2**63, 1]])
def test_saved_and_mapped(ids: list[Any], tmp_path: Path) -> None:
    stats = stats_of(ids, intercept=True)
    stats.save(tmp_path / "stats")
    for back in (ct.UserStatistics.load(tmp_path / "stats"), ct.load(tmp_path / "stats")):
        assert isinstance(back, ct.UserStatistics)
        require_same(back, stats)
        assert back.users.dtype == stats.users.dtype
        for name in ("users", "count", "moment", "packed_gram", "reward_square"):
            base = getattr(back, name)
            while not isinstance(base, np.memmap):
                base = base.base
        require_same(back + stats, stats + stats)


def test_nobody_saved(tmp_path: Path) -> None:
    nobody = stats_of(["a"]).without(["a"])
    nobody.save(tmp_path / "stats")
    assert ct.UserStatistics.load(tmp_path / "stats").n_users == 0
    require_same(nobody + stats_of(["a"]), stats_of(["a"]))


def test_load_refuses_what_is_no_statistics(tmp_path: Path) -> None:
    array_file.write(tmp_path / "other", "model", {"a": np.ones(1)}, {})
    with pytest.raises(FileError, match=r"holds 'model'; 'statistics' is required here"):
        ct.UserStatistics.load(tmp_path / "other")


ARRAYS: dict[str, Any] = {
    "users": ["a", "b"],
    "count": [2.0, 0.5],
    "moment": [[1.0, 0.5], [0.0, 1.0]],
    "gram": [[[2.0, 1.0], [1.0, 3.0]], [[0.0, 0.0], [0.0, 1.0]]],
    "reward_square": [1.0, 2.0],
}


def test_from_arrays_square_and_packed() -> None:
    square = ct.UserStatistics.from_arrays(**ARRAYS, features=["x", "y"])
    packed = ct.UserStatistics.from_arrays(**{**ARRAYS, "gram": [[2.0, 1.0, 3.0], [0.0, 0.0, 1.0]]})
    np.testing.assert_array_equal(square.gram, ARRAYS["gram"])
    np.testing.assert_array_equal(packed.gram, ARRAYS["gram"])
    assert (square.features, packed.features, packed.max_norm) == (("x", "y"), None, None)
    assert (packed + stats_of(["a"])).max_norm is None


def test_from_arrays_of_what_summarize_made() -> None:
    stats = stats_of([3, 1, 2])
    given = {name: getattr(stats, name) for name in ("users", *FIELDS)}
    again = ct.UserStatistics.from_arrays(**given)
    for name in ("users", *FIELDS):
        np.testing.assert_array_equal(getattr(again, name), getattr(stats, name))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"users": ["a", "a"]}, "^user 'a' occurs more than once in users; add the rows of a user first"),
        ({"users": [1.0, 2.0]}, "^users mixes or holds float; user ids must be"),
        ({"users": ["a", None]}, "^users has no value in row 1"),
        ({"users": ["a"]}, r"^count has shape \(2,\); \(1,\) is required"),
        ({"count": [1.0]}, r"^count has shape \(1,\); \(2,\) is required"),
        ({"count": [1.0, -1.0]}, "^count is negative for user row 1; it must be 0 or more"),
        ({"count": [1.0, float("nan")]}, "^count has NaN or infinity for user row 1"),
        ({"count": [0.0, 1.0]}, "^a user of count 0 has a moment or a gram that is not 0; give the count"),
        ({"count": ["x", 1]}, "^count is not an array of numbers: "),
        ({"moment": [1.0, 2.0]}, r"^moment has shape \(2,\); \(2, 1\) is required"),
        ({"moment": [[], []]}, r"^moment has shape \(2, 0\); \(2, 1\) is required"),
        ({"moment": [[1.0], [float("inf"), 1.0]]}, "^moment is not an array of numbers"),
        ({"moment": [[1.0, 1.0], [float("inf"), 1.0]]}, "^moment has NaN or infinity for user row 1"),
        (
            {"gram": [[1.0, 1.0], [1.0, 1.0]]},
            r"^gram has shape \(2, 2\); \(2, 2, 2\) or \(2, 3\) is required",
        ),
        ({"gram": [[[2.0, 1.0], [0.0, 3.0]]] * 2}, "^gram is not symmetric; it must be the sum of a a'"),
        (
            {"gram": [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]]},
            "^gram of user 'b' has a negative eigenv",
        ),
        ({"gram": [[1.0, 0.0, 1.0], [1.0, 0.0, -1.0]]}, "^gram of user 'b' has a negative eigenvalue"),
        ({"reward_square": [-1.0, 0.0]}, "^reward_square is negative for user row 0"),
        ({"features": ["x"]}, "^features names 1 coordinates and actions have 2"),
    ],
)
def test_from_arrays_refuses(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(LogError, match=sentence) as failure:
        ct.UserStatistics.from_arrays(**{**ARRAYS, **given})
    assert "\n" not in str(failure.value)


def test_nothing_is_shared_or_writeable() -> None:
    given: dict[str, Any] = {name: np.array(value) for name, value in ARRAYS.items()}
    stats = ct.UserStatistics.from_arrays(**given)
    for array in given.values():
        array[...] = array[-1]
    np.testing.assert_array_equal(stats.gram, ARRAYS["gram"])
    assert (stats.users.tolist(), stats.count.tolist()) == (["a", "b"], [2.0, 0.5])
    for name in ("users", "count", "moment", "packed_gram", "reward_square"):
        with pytest.raises(ValueError, match=r"read-only"):
            getattr(stats, name)[...] = 0
