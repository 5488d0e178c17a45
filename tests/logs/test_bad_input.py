"""Bad rows get one sentence that names the place and what is required, or are dropped and counted."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.logs.refusals import GOOD, LISTS, NAMED, csv, refused

import coterie as ct
from coterie.errors import CoterieWarning, LogError, ParameterError

NAN, INF = float("nan"), float("inf")


def spoiled(
    column: str, value: Any, row: int = 2, good: dict[str, list[Any]] | None = None
) -> dict[str, Any]:
    columns = {name: list(values) for name, values in (good or GOOD).items()}
    columns[column][row] = value
    return columns


BAD = [
    ("r", NAN, "NaN or no number in the reward (column 'r')"),
    ("r", None, "NaN or no number in the reward (column 'r')"),
    ("r", INF, "infinity in the reward (column 'r')"),
    ("r", 1e150, "a number beyond 1e+100 in the reward (column 'r')"),
    ("x", -INF, "infinity in feature 'x'"),
    ("y", NAN, "NaN or no number in feature 'y'"),
    ("y", None, "NaN or no number in feature 'y'"),
    ("w", -1.0, "a negative weight (column 'w')"),
    ("w", NAN, "NaN or no number in the weight (column 'w')"),
    ("w", INF, "infinity in the weight (column 'w')"),
    ("u", None, "no user (null in column 'u')"),
]


@pytest.mark.parametrize(("column", "value", "kind"), BAD)
@pytest.mark.parametrize("intercept", [False, True])
def test_one_bad_row(column: str, value: Any, kind: str, intercept: bool, tmp_path: Path) -> None:
    """Named by its row and file; or dropped, and the rest sums up as if it had never been there."""
    table, file = pa.table(spoiled(column, value)), str(tmp_path / "log.parquet")
    pq.write_table(table, file, row_group_size=1)
    more: dict[str, Any] = {"weight": "w", "intercept": intercept, "batch_rows": 2}
    for source, where in ((table, "the Table"), (file, file)):
        refused(source, f"^row 2 of {re.escape(where)} .* has {re.escape(kind)}; mend", **more)
    with pytest.warns(CoterieWarning, match=f"^1 rows were left out: 1 with {re.escape(kind)}$"):
        stats = ct.summarize(ct.read_logs(file, **NAMED, **more, on_bad="drop"))
    assert dict(stats.dropped) == {kind: 1}
    clean = ct.summarize(ct.read_logs(pa.table(GOOD).take([0, 1, 3]), **NAMED, **more))
    require_same(stats, clean)


def require_same(left: ct.UserStatistics, right: ct.UserStatistics) -> None:
    assert left.users.tolist() == right.users.tolist()
    assert left.users.dtype == right.users.dtype
    for name in ("count", "moment", "gram", "reward_square"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


def test_the_first_bad_row_of_the_second_file(tmp_path: Path) -> None:
    pq.write_table(pa.table(GOOD), tmp_path / "a.parquet")
    pq.write_table(pa.table(spoiled("x", NAN, 1)), tmp_path / "b.parquet")
    refused(tmp_path, r"^row 1 of .*b\.parquet \(rows count from 0\) has NaN or no number in feature 'x'")


def test_each_dropped_row_is_counted_once_by_kind() -> None:
    columns = spoiled("r", NAN, 0)
    columns["x"][0] = NAN  # the same row again: counted under the first kind found
    columns["x"][1] = INF
    columns["u"][3] = None
    with pytest.warns(CoterieWarning, match=r"^3 rows were left out: "):
        stats = ct.summarize(ct.read_logs(pa.table(columns), **NAMED, on_bad="drop"))
    assert dict(stats.dropped) == {
        "no user (null in column 'u')": 1,
        "NaN or no number in the reward (column 'r')": 1,
        "infinity in feature 'x'": 1,
    }
    assert (stats + stats).dropped["infinity in feature 'x'"] == 2


@pytest.mark.parametrize("ids", [["a", None, "b", "a"], [4, None, 2**63 + 1, 4]])
def test_null_users(ids: list[Any]) -> None:
    table = pa.table(GOOD).set_column(0, "u", pa.array(ids, pa.string() if "a" in ids else pa.uint64()))
    refused(table, r"^row 1 of the Table .* has no user \(null in column 'u'\)")
    with pytest.warns(CoterieWarning, match=r"1 with no user"):
        stats = ct.summarize(ct.read_logs(table, **NAMED, on_bad="drop", batch_rows=1))
    require_same(stats, ct.summarize(ct.read_logs(table.take([0, 2, 3]), **NAMED)))


BAD_LISTS = [
    ([1.0], "a list of 1 numbers in column 'f', where 2 are required"),
    ([1.0, 2.0, 3.0], "a list of 3 numbers in column 'f', where 2 are required"),
    ([], "a list of 0 numbers in column 'f', where 2 are required"),
    (None, "no list in column 'f', where 2 are required"),
    ([1.0, None], "NaN or no number in feature 'f[1]'"),
    ([INF, 0.0], "infinity in feature 'f[0]'"),
]


@pytest.mark.parametrize(("value", "kind"), BAD_LISTS)
@pytest.mark.parametrize("batch_rows", [1, 10])
def test_lists(value: Any, kind: str, batch_rows: int) -> None:
    table = pa.table(spoiled("f", value, 1, LISTS))
    refused(table, f"^row 1 of the Table .* has {re.escape(kind)}; mend", action="f", batch_rows=batch_rows)
    named = {**NAMED, "action": "f", "batch_rows": batch_rows}
    with pytest.warns(CoterieWarning, match=re.escape(f"1 rows were left out: 1 with {kind}")):
        stats = ct.summarize(ct.read_logs(table, **named, on_bad="drop"))
    require_same(stats, ct.summarize(ct.read_logs(pa.table(LISTS).take([0, 2]), **named)))


@pytest.mark.parametrize("ids", [["p", "q"], [10, 20]])
@pytest.mark.parametrize("unknown", [None, "other"])
def test_items(ids: list[Any], unknown: Any) -> None:
    missing = 30 if unknown and ids == [10, 20] else unknown
    items = pa.table({"i": ids, "x": [1.0, 2.0]})
    log = pa.table({"u": [1, 2, 1], "i": [ids[0], missing, ids[1]], "r": [1.0, 2.0, 3.0]})
    named: dict[str, Any] = {"user": "u", "item": "i", "items": items, "reward": "r"}
    kind = "an item (column 'i') that the item table lacks"
    refused(log, f"^row 1 of the Table .* has {re.escape(kind)}", **named, action=None)
    with pytest.warns(CoterieWarning, match=re.escape(f"1 with {kind}")):
        stats = ct.summarize(ct.read_logs(log, **named, on_bad="drop"))
    require_same(stats, ct.summarize(ct.read_logs(log.take([0, 2]), **named)))


def test_text_among_the_numbers_of_a_csv_file(tmp_path: Path) -> None:
    """Line 3 is the second row; both modes agree on what a number is."""
    lines = [
        "1,1,0,1",
        "2,oops,0,1",
        "2,1_0,0,1",
        "3, 0.5 ,1,2",
        "3,1,1,NA",
        "3,1,0x1F,1",
        "1,inf,1,1",
        "1,0,1,5",
    ]
    file = csv(tmp_path, *lines)
    refused(file, r"^column 'x' of .*log\.csv holds 'oops' in line 3 where a number is required")
    refused(csv(tmp_path, *lines[:1], *lines[2:]), "holds '1_0' in line 3")
    refused(csv(tmp_path, *lines[1:]), r"^column 'x' of .* holds 'oops' in line 2", action="x")
    refused(
        csv(tmp_path, lines[4]),
        r"^row 0 of .*log\.csv \(rows count from 0\) has NaN or no number in the reward",
    )
    with pytest.warns(CoterieWarning, match=r"^5 rows were left out: "):
        stats = ct.summarize(ct.read_logs(csv(tmp_path, *lines), **NAMED, on_bad="drop"))
    assert dict(stats.dropped) == {
        "NaN or no number in feature 'x'": 2,
        "infinity in feature 'x'": 1,
        "NaN or no number in feature 'y'": 1,
        "NaN or no number in the reward (column 'r')": 1,
    }
    assert (stats.users.tolist(), stats.moment.tolist()) == ([1, 3], [[1.0, 5.0], [1.0, 2.0]])


@pytest.mark.parametrize("on_bad", ["error", "drop"])
def test_a_csv_file_may_turn_decimal_late(on_bad: Any, tmp_path: Path) -> None:
    """The first megabyte holds whole numbers only, in the actions and in the rewards."""
    file = csv(tmp_path, *["1,1,0,1"] * 200_000, "2,0.5,0.25,0.5")
    stats = ct.summarize(ct.read_logs(file, **NAMED, on_bad=on_bad))
    assert (stats.count.tolist(), stats.moment.tolist()) == ([200_000, 1], [[200_000, 0], [0.25, 0.125]])
    late = csv(tmp_path, *["1,1,0,1"] * 200_000, "2,0.5,0.25,?")
    if on_bad == "error":
        refused(late, "^column 'r' of .* holds '[?]' in line 200002 where a number is required")
    refused(
        csv(tmp_path, *["1,1,0,1"] * 200_000, "bob,1,1,1"),
        "^user 'bob' is text where the users before are integers; cast the column, or pass text_ids",
    )


def test_parameters_of_reading_are_checked_at_once() -> None:
    table = pa.table(GOOD)
    for more, sentence in (
        ({"batch_rows": 0}, "^batch_rows is 0; it must be a finite number, 1 or more"),
        ({"on_bad": "skip"}, "^on_bad is 'skip'; give 'error' or 'drop'"),
        ({"action": ["x", "r"]}, "^action= names column 'r', which is the user or the reward; leave it out"),
        ({"action": ["x", "x"]}, "^action= names column 'x' more than once; name each coordinate once"),
    ):
        with pytest.raises(ParameterError, match=sentence):
            ct.read_logs(table, **{**NAMED, **more})
    with pytest.raises(ParameterError, match=r"^on_bad is 'skip'"):
        ct.Logs.from_arrays([1], [[1.0]], [1.0], on_bad="skip")  # type: ignore[arg-type]


def test_bad_rows_of_arrays() -> None:
    arrays: Any = ([1, 2], [[1.0], [NAN]], [1.0, 1.0])
    with pytest.raises(
        LogError, match=r"^row 1 of the arrays given \(rows count from 0\) has NaN .*'action\[0\]'"
    ):
        ct.summarize(ct.Logs.from_arrays(*arrays))
    with pytest.warns(CoterieWarning, match="^1 rows were left out"):
        assert ct.summarize(ct.Logs.from_arrays(*arrays, on_bad="drop")).users.tolist() == [1]


def test_a_log_is_shown_in_one_line() -> None:
    assert (
        repr(ct.Logs.from_arrays([1], [[1.0]], [1.0])) == "<logs of the arrays given: user, action, reward>"
    )
    assert repr(ct.read_logs(pa.table(GOOD), **NAMED)) == "<logs of the Table: u, x, y, r>"
