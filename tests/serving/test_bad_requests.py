"""Requests that cannot be used stop with one sentence that names the request, the column and the value."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.serving.tables import DIM, items, requests, table

from coterie.errors import ActionError, CoterieError, LogError
from coterie.serving import RequestColumns, RequestReader
from coterie.serving.met import Met

LONG = pa.table(
    {"request": ["a", "a", "b"], "user": ["u", "u", "v"], "x": [0.1, 0.2, 0.3], "y": [0.0, 1.0, 0.5]}
)
XY = RequestColumns(action=("x", "y"))


def changed(name: str, values: Any) -> pa.Table:
    """LONG with another column."""
    return LONG.set_column(LONG.column_names.index(name), name, pa.array(values))


def fails(source: object, columns: RequestColumns, dim: int = 2, batch_rows: int = 100) -> str:
    """The sentence with which reading stops."""
    with pytest.raises(CoterieError) as caught:
        list(RequestReader.open(source, columns, None, dim).batches(batch_rows))
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("batch_rows", [1, 2, 3, 100])
@pytest.mark.parametrize("names", [["a", "b", "a"], [1, 2, 1], [0.5, 1.5, 0.5]])
def test_rows_of_a_request_must_be_adjacent_across_batches_too(names: list[Any], batch_rows: int) -> None:
    rows = changed("request", names).set_column(1, "user", pa.array(["u", "u", "u"]))
    sentence = fails(rows, XY, batch_rows=batch_rows)
    assert (
        sentence == f"the rows of request {names[0]!r} are not adjacent; sort the requests by request first"
    )


def test_ids_met_in_many_batches_are_remembered() -> None:
    met = Met()
    order = np.random.default_rng(2).permutation(1000)
    assert all(met.first_again(pa.array(order[at : at + 7])) is None for at in range(0, 1000, 7))
    assert all(met.first_again(pa.array([1000 + n, n])) == 1 for n in range(0, 1000, 97))
    assert Met().first_again(pa.array([-1, -2, -1])) == 2


@pytest.mark.parametrize("batch_rows", [1, 100])
def test_a_request_is_for_one_user(batch_rows: int) -> None:
    sentence = fails(changed("user", ["u", "v", "v"]), XY, batch_rows=batch_rows)
    assert sentence == "request 'a' names more than one user ('u' and 'v'); a request is for one"


@pytest.mark.parametrize("column", ["request", "user"])
@pytest.mark.parametrize("values", [["a", "a", None], [1, 1, None], [None, None, None]])
@pytest.mark.parametrize("batch_rows", [1, 100])
def test_every_row_needs_ids(column: str, values: list[Any], batch_rows: int) -> None:
    row = values.index(None)
    assert fails(changed(column, values), XY, batch_rows=batch_rows).startswith(
        f"row {row} of the Table (rows count from 0) has no {column} (null in column {column!r})"
    )


@pytest.mark.parametrize("column", ["request", "user"])
def test_every_wide_row_needs_ids(column: str) -> None:
    rows = {"request": ["a", "b"], "user": ["u", "v"], "actions": [[[0.0, 1.0]]] * 2} | {column: [None, "x"]}
    assert f"row 0 of the Table (rows count from 0) has no {column}" in fails(
        pa.table(rows), RequestColumns()
    )


def test_a_request_id_that_is_not_a_number_is_missing() -> None:
    frame = pd.DataFrame({"request": [1.0, np.nan], "user": [1, 2], "x": [0.1, 0.2], "y": [0.3, 0.4]})
    assert "row 1 of the DataFrame (rows count from 0) has no request" in fails(frame, XY)


@pytest.mark.parametrize(
    ("value", "what"), [(np.nan, "NaN or no number"), (None, "NaN or no number"), (np.inf, "infinity")]
)
def test_a_bad_coordinate_is_named(value: float | None, what: str) -> None:
    sentence = fails(changed("y", pa.array([0.0, value, 0.5], pa.float64())), XY)
    assert sentence == f"action 1 of request 'a' has {what} in 'y'; every coordinate must be finite"


def test_a_bad_coordinate_in_a_list_is_named() -> None:
    rows = pa.table({"request": [7], "user": ["u"], "actions": [[[0.0, 1.0], [0.5, float("nan")]]]})
    assert fails(rows, RequestColumns()).startswith(
        "action 1 of request 7 has NaN or no number in coordinate 1"
    )


@pytest.mark.parametrize(
    ("rows", "place"), [([[]], "0"), ([[[0.0, 1.0]], None], "1"), ([[[1.0, 2.0]], []], "1")]
)
def test_an_action_set_must_not_be_empty(rows: list[Any], place: str) -> None:
    kind = pa.list_(pa.list_(pa.float64()))
    wide = pa.table({"user": ["u"] * len(rows), "actions": pa.array(rows, kind)})
    assert fails(wide, RequestColumns(request="")) == (
        f"request {place} has an empty action set; at least one is required"
    )


def test_lists_of_another_length_are_named() -> None:
    rows = pa.table(
        {"request": ["a", "a", "b"], "user": ["u"] * 3, "actions": [[0.0, 1.0], [0.0, 1.0, 2.0], [1.0]]}
    )
    assert fails(rows, RequestColumns()) == (
        "action 1 of request 'a' has a list of 3 numbers in column 'actions', where 2 are required"
    )
    assert "action 0 of request 'b' has no list" in fails(
        rows.set_column(2, "actions", pa.array([[0.0, 1.0], [0.0, 1.0], None])), RequestColumns()
    )


def test_too_few_columns_are_refused_before_anything_is_read() -> None:
    with pytest.raises(ActionError, match="have 2 coordinates and the model was fitted on 3; give the same"):
        RequestReader.open(LONG, XY, None, 3)
    with pytest.raises(
        ActionError, match="actions in the item table have 3 coordinates and the model was fitted on 2"
    ):
        RequestReader.open(table(requests(), "items")[0], RequestColumns(action=(), item="item"), items(), 2)


def test_one_column_that_holds_no_lists_does_not_do() -> None:
    sentence = fails(LONG, RequestColumns(action=("x",)))
    assert sentence.startswith("column 'x' holds one double a row and the model was fitted on 2 coordinates")


@pytest.mark.parametrize(
    ("value", "what"), [("i99", "is item 'i99', which the item table lacks"), (None, "names no item")]
)
def test_an_unknown_item_is_named(value: str | None, what: str) -> None:
    rows = pa.table({"request": ["a", "a"], "user": ["u", "u"], "item": ["i0", value]})
    opened = RequestReader.open(rows, RequestColumns(action=(), item="item"), items(), DIM)
    with pytest.raises(ActionError, match=re.escape(f"action 1 of request 'a' {what}")):
        list(opened.batches())


def test_items_of_another_kind_are_refused() -> None:
    rows = pa.table({"request": ["a"], "user": ["u"], "item": [3]})
    opened = RequestReader.open(rows, RequestColumns(action=(), item="item"), items(), DIM)
    with pytest.raises(LogError, match="item ids are integers here and text in the item table"):
        list(opened.batches())


def test_items_and_their_table_go_together() -> None:
    with pytest.raises(LogError, match="requests that name items need the item table"):
        RequestReader.open(LONG, RequestColumns(action=(), item="x"), None, 2)


def test_one_action_a_row_needs_a_request_column() -> None:
    assert "one action per row and no request column" in fails(LONG, RequestColumns("", "user", ("x", "y")))


@pytest.mark.parametrize(
    ("columns", "missing"),
    [
        (RequestColumns("request", "usr", ("x", "y")), "no column 'usr'; the nearest are 'user'"),
        (RequestColumns("requst", "user", ("x", "y")), "no column 'requst'; the nearest are 'request'"),
        (RequestColumns("request", "user", ("x", "z")), "no column 'z'"),
    ],
)
def test_a_missing_column_is_an_error_that_names_the_nearest(columns: RequestColumns, missing: str) -> None:
    assert missing in fails(LONG, columns)


def test_ids_that_cannot_be_compared_are_refused() -> None:
    rows = changed("request", [[1], [1], [2]])
    assert fails(rows, XY).startswith("request column 'request' holds list<")
