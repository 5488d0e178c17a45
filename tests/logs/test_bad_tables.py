"""Tables that are empty, damaged, of the wrong types or wrongly named get one sentence."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.logs.refusals import GOOD, LISTS, NAMED, csv, refused

import coterie as ct
from coterie.errors import CoterieWarning, FileError, LogError, ParameterError


def test_logs_without_rows(tmp_path: Path) -> None:
    refused(csv(tmp_path), r"^there are no usable rows in .*log\.csv; at least one is required$")
    refused(pa.table(GOOD).slice(0, 0), "^there are no usable rows in the Table; at least one is required$")
    pq.write_table(pa.table(GOOD).slice(0, 0), tmp_path / "log.parquet")
    refused(tmp_path / "log.parquet", r"^there are no usable rows in .*log\.parquet")
    refused(pa.table(LISTS).slice(0, 0), "no usable rows", action="f")
    refused(
        csv(tmp_path, "1,a,1,1"), r"no usable rows in .* \(1 rows were dropped\); at least one", on_bad="drop"
    )


@pytest.mark.parametrize(
    "name", ["log.csv", "log.tsv", "log.parquet", "log.arrow", "log.feather", "log.csv.gz"]
)
def test_empty_truncated_and_foreign_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    refused(tmp_path / name, f"^.*{re.escape(name)} is not a readable .* file", FileError)
    if not name.endswith((".csv", ".tsv")):
        (tmp_path / name).write_bytes(bytes(range(256)) * 8)
        refused(tmp_path / name, f"^.*{re.escape(name)} is not a readable .* file", FileError)
        pq.write_table(pa.table(GOOD), tmp_path / "whole")
        (tmp_path / name).write_bytes((tmp_path / "whole").read_bytes()[:-9])
        refused(tmp_path / name, f"^.*{re.escape(name)} is not a readable .* file", FileError)


def test_a_file_whose_pages_are_damaged(tmp_path: Path) -> None:
    """The footer can be read and the rows cannot."""
    pq.write_table(pa.table({**GOOD, "x": np.random.default_rng(0).random(4)}), tmp_path / "log.parquet")
    whole = (tmp_path / "log.parquet").read_bytes()
    (tmp_path / "log.parquet").write_bytes(whole[:4] + b"\xff" * 400 + whole[404:])
    refused(tmp_path / "log.parquet", r"^.*log\.parquet is not a readable parquet file", FileError)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            {"r": ["1", "2", "x", "4"]},
            r"^column 'r' holds string values \('1'\); numbers are required: cast it",
        ),
        ({"x": [[1.0]] * 4}, r"^column 'x' holds list<.*> values \(\[1.0\]\); numbers are required"),
        (
            {"u": [1.0, 2.0, 1.0, 3.0]},
            "^user column 'u' holds double values .*must be integers or text: cast it",
        ),
        ({"u": [True] * 4}, "^user column 'u' holds bool values; user ids must be integers or text"),
        ({"u": ["a"] * 3 + ["b" * 513]}, "^user id 'b{40}', of 513 characters, cannot be kept; at most 512"),
        ({"u": ["a"] * 3 + ["a\0"]}, "^user id 'a.x00', of 2 characters, cannot be kept"),
    ],
)
def test_columns_of_the_wrong_type(columns: dict[str, Any], sentence: str) -> None:
    refused(pa.table({**GOOD, **columns}), sentence)


def test_text_rewards_of_parquet_are_parsed_when_dropping(tmp_path: Path) -> None:
    pq.write_table(pa.table({**GOOD, "r": ["1", "2.5", "x", "4"]}), tmp_path / "log.parquet")
    with pytest.warns(CoterieWarning, match=r"1 with NaN or no number in the reward"):
        stats = ct.summarize(ct.read_logs(tmp_path / "log.parquet", **NAMED, on_bad="drop"))
    assert stats.reward_square.tolist() == [1.0, 6.25, 16.0]


def test_parts_that_do_not_fit_together(tmp_path: Path) -> None:
    pq.write_table(pa.table(GOOD), tmp_path / "a.parquet")
    for columns, sentence in (
        ({"u": ["a"] * 4}, "^user 'a' is text where the users before are integers; cast"),
        ({"u": pa.array([2**63] * 4, pa.uint64()), "x": ["?"] * 4}, "^column 'x' holds string values"),
    ):
        pq.write_table(pa.table({**GOOD, **columns}), tmp_path / "b.parquet")
        refused(tmp_path, sentence)
    pq.write_table(pa.table({name: GOOD[name] for name in "uyrw"}), tmp_path / "b.parquet")
    refused(tmp_path, r"^.*b\.parquet has no column 'x'; the nearest are")
    pq.write_table(pa.table({**GOOD, "u": [-1, 0, 1, 2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({**GOOD, "u": pa.array([2**63] * 4, pa.uint64())}), tmp_path / "b.parquet")
    refused(tmp_path, r"^user ids below 0 and above 2\*\*63 - 1 cannot be held together")


def test_names(tmp_path: Path) -> None:
    table = pa.table({"user_id": [1], "feature_0": [1.0], "reward": [1.0]})
    refused(table, "^the Table has no column 'usr_id'; the nearest are 'user_id'", user="usr_id")
    refused(
        table,
        "no column 'reword'; the nearest are 'reward'",
        user="user_id",
        action="feature_0",
        reward="reword",
    )
    twice = pa.table([[1], [1.0], [2.0], [1.0]], names=["u", "x", "x", "r"])
    refused(twice, "^the Table has 2 columns 'x'; rename all but one", action="x")


def test_frames_that_mix_types() -> None:
    """Only in a column that is asked for."""
    frame = pd.DataFrame({**GOOD, "mixed": [1, "a", {}, None]})
    assert ct.summarize(ct.read_logs(frame, **NAMED)).n_samples == 4
    refused(
        frame,
        "^the DataFrame cannot be read as a table of Arrow: .*mixed.*; give each column one type",
        reward="mixed",
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"on_bad": "skip"}, "^on_bad is 'skip'; give"),
        ({"action": None}, "^name the action either by action= "),
        ({"item": "i"}, "^name the action either by action= "),
        ({"action": None, "item": "i"}, "go together$"),
        ({"items": pa.table(GOOD)}, "go together$"),
        ({"action": []}, "^action= names no column; name at least one"),
    ],
)
def test_keywords(given: dict[str, Any], sentence: str) -> None:
    refused(pa.table(GOOD), sentence, ParameterError, **given)


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        (([1, 2], [[1.0], [1.0, 2.0]], [1, 2]), "^action is not an array of numbers"),
        (([1, 2], [["a"], ["b"]], [1, 2]), "^action is not an array of numbers .could not convert"),
        (
            ([1, 2], [1.0, 2.0], [1, 2]),
            r"^action has shape \(2,\); one vector per row is required, shape \(n, d\)",
        ),
        (([1, 2], [[], []], [1, 2]), r"^action has shape \(2, 0\)"),
        (([1, 2], [[1.0], [2.0]], ["a", "b"]), "^reward holds <U1 values; numbers are required"),
        (
            ([1, 2], [[1.0], [2.0]], [1.0]),
            r"^reward has shape \(1,\); one number per row is required, shape \(2,\)",
        ),
        (([1], [[1.0], [2.0]], [1, 2]), "^user has 1 rows and action has 2; they must be of one length"),
        (([1, None], [[1.0], [2.0]], [1, 2]), "^user has no value in row 1; every row needs a user"),
        (
            ([1, "a"], [[1.0], [2.0]], [1, 2]),
            "^user mixes or holds int, str; user ids must be all integers or",
        ),
        (([1.0, 2.5], [[1.0], [2.0]], [1, 2]), "^user mixes or holds float"),
    ],
)
def test_arrays(arrays: tuple[Any, Any, Any], sentence: str) -> None:
    with pytest.raises(LogError, match=sentence) as failure:
        ct.Logs.from_arrays(*arrays)
    assert "\n" not in str(failure.value)
