"""Requests are cut, read and checked alike in every form that a table may have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from tests.serving.tables import DIM, ITEM_IDS, ITEMS, Request, items, reader, requests, table, write

from coterie.serving import RequestColumns, RequestReader

FORMS = ("columns", "lists", "items", "wide lists", "wide items")
LONG = pa.table(
    {"request": ["a", "a", "b"], "user": ["u", "u", "v"], "x": [0.1, 0.2, 0.3], "y": [0.0, 1.0, 0.5]}
)
XY = RequestColumns(action=("x", "y"))


def changed(name: str, values: Any) -> pa.Table:
    """LONG with another column."""
    return LONG.set_column(LONG.column_names.index(name), name, pa.array(values))


def cut(asked: RequestReader, batch_rows: int) -> list[Request]:
    """Requests as they are read, vectors turned back into rows of ITEMS."""
    found = []
    for part, _ in asked.batches(batch_rows):
        for b, (start, length) in enumerate(zip(part.sets.start, part.sets.length, strict=True)):
            rows = part.sets.action[start : start + length]
            choice = tuple(int(np.flatnonzero((row == ITEMS).all(axis=1))[0]) for row in rows)
            if part.item is not None:
                assert part.item.slice(start, length).to_pylist() == [ITEM_IDS[i] for i in choice]
            assert part.ids[b] == part.user[b].as_py()
            found.append(Request(part.request[b].as_py(), part.user[b].as_py(), choice))
    return found


@pytest.mark.parametrize("batch_rows", [1, 2, 5, 1000])
@pytest.mark.parametrize("text", [True, False], ids=["text ids", "integer ids"])
@pytest.mark.parametrize("form", FORMS)
def test_requests_are_the_same_in_every_form_and_batch_size(form: str, text: bool, batch_rows: int) -> None:
    asked = requests(text)
    assert len({len(request.choice) for request in asked}) > 3
    assert cut(reader(asked, form), batch_rows) == asked


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
@pytest.mark.parametrize("form", FORMS)
def test_requests_are_the_same_in_every_format(form: str, suffix: str, tmp_path: Path) -> None:
    if suffix == ".csv" and form not in {"columns", "items"}:
        pytest.skip("CSV has no lists")
    rows, columns = table(requests(), form)
    path = str(write(rows, tmp_path / f"requests{suffix}"))
    opened = RequestReader.open(path, columns, items() if columns.item else None, DIM)
    assert cut(opened, 7) == requests()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "framed",
    [
        pytest.param(pl.DataFrame, id="polars"),
        pytest.param(pa.Table.to_pandas, id="pandas"),
    ],
)
def test_requests_may_be_a_dataframe(form: str, framed: Callable[[pa.Table], Any]) -> None:
    rows, columns = table(requests(), form)
    opened = RequestReader.open(framed(rows), columns, items() if columns.item else None, DIM)
    assert cut(opened, 7) == requests()


@pytest.mark.parametrize("form", ["columns", "items", "wide items"])
def test_ids_may_be_categories(form: str) -> None:
    rows, columns = table(requests(), form)
    frame = pl.DataFrame(rows).with_columns(pl.col("request", "user").cast(pl.Categorical))
    if form == "items":
        frame = frame.with_columns(pl.col("item").cast(pl.Categorical))
    opened = RequestReader.open(frame, columns, items() if columns.item else None, DIM)
    assert cut(opened, 7) == requests()


def test_lists_of_a_fixed_size_are_lists() -> None:
    rows, columns = table(requests(), "wide lists")
    kind = pa.large_list(pa.list_(pa.float32(), DIM))
    wide = rows.set_column(2, "actions", rows["actions"].cast(kind))
    parts = [part for part, _ in RequestReader.open(wide, columns, None, DIM).batches(5)]
    found = np.concatenate([part.sets.action for part in parts])
    np.testing.assert_array_equal(found, np.concatenate([r.actions for r in requests()]).astype(np.float32))


def test_a_wide_table_without_a_request_column_is_numbered_by_row() -> None:
    rows, _ = table(requests(), "wide lists")
    opened = RequestReader.open(rows.drop_columns("request"), RequestColumns(request=""), None, DIM)
    assert [r.name for r in cut(opened, 5)] == list(range(12))


def test_rows_read_are_counted_up_to_all() -> None:
    opened = reader(requests(), "lists")
    counted = [done for _, done in opened.batches(10)]
    assert counted == sorted(counted)
    assert counted[-1] == opened.n_rows() == sum(len(r.choice) for r in requests())


def test_numbers_whose_squares_overflow_are_finite() -> None:
    (part, _), *_ = RequestReader.open(changed("x", [1e200, 0.0, 0.0]), XY, None, 2).batches()
    assert part.sets.action[0, 0] == 1e200


def test_text_columns_of_a_csv_file_stay_text(tmp_path: Path) -> None:
    path = str(write(changed("user", [7, 7, 8]), tmp_path / "requests.csv"))
    parts = [part for part, _ in RequestReader.open(path, XY, None, 2, text=("user",)).batches()]
    assert [user for part in parts for user in part.ids.tolist()] == ["7", "8"]
