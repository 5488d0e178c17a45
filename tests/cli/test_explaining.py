"""`coterie explain --actions` compares the candidates of a file, by name or by number."""

from pathlib import Path

import pyarrow as pa
import pytest
from tests.cli.program import COLUMNS, FEATURES, done, events, item_table, parsed, run, write

import coterie as ct


@pytest.fixture
def model(tmp_path: Path) -> Path:
    log, out = write(events(), tmp_path / "log.parquet"), tmp_path / "model.coterie"
    done("fit", log, *COLUMNS, "--noise", "estimate", "--out", out)
    return out


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("item", ["", "item"])
def test_the_command_says_what_the_model_says(model: Path, item: str, suffix: str) -> None:
    table = item_table()
    given = write(table, model.parent / f"actions.{suffix}")
    vectors = list(zip(*(table[name].to_pylist() for name in FEATURES), strict=True))
    names = table["item"].to_pylist() if item else None
    told = ct.load(model).explain(3, vectors, names=names)
    assert told.comparison is not None
    asked = ("explain", model, 3, "--actions", given, *(("--item", item) if item else ()))
    assert done(*asked).out == f"{told}\n"
    rows = parsed(done(*asked, "--format", "csv"), "csv")
    assert [int(row["index"]) for row in rows] == [one.index for one in told.comparison.candidates]
    assert [row["index"] for row in rows if row["chosen"] == "True"] == [str(told.comparison.chosen)]
    assert [row["index"] for row in rows if row["own_choice"] == "True"] == [str(told.comparison.own_choice)]
    (found,) = parsed(done(*asked, "--format", "json"), "json")
    assert found["comparison"]["chosen"] == told.comparison.chosen
    assert found["comparison"]["candidates"][0]["estimate"] == told.comparison.candidates[0].estimate


def test_what_is_wrong_with_actions_is_said_in_one_line(model: Path) -> None:
    short = write(pa.table({"f1": [1.0], "f2": [2.0]}), model.parent / "short.csv")
    ran = run("explain", model, 3, "--actions", short)
    assert (ran.status, ran.err.count("\n")) == (1, 1)
    assert (
        "short.csv has 2 columns of actions (f1, f2) and the model was fitted on 3 coordinates; " in ran.err
    )
    holed = write(pa.table({name: [1.0, None] for name in FEATURES}), model.parent / "holed.parquet")
    ran = run("explain", model, 3, "--actions", holed)
    assert (ran.status, "action 1 has NaN or no number in 'f1'" in ran.err) == (1, True)
    none = write(
        pa.table({name: pa.array([], pa.float64()) for name in FEATURES}), model.parent / "none.parquet"
    )
    ran = run("explain", model, 3, "--actions", none)
    assert (ran.status, "the action set is empty" in ran.err) == (1, True)
    ran = run("explain", model, 3, "--item", "item")
    assert (ran.status, "give that table too" in ran.err) == (2, True)
