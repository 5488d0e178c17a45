"""The same small log through every door gives the same sums, which are worked out by NumPy, row by row."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from tests.logs.rows import LARGE, LISTS, NAMED, REWARD, TABLE, USERS, WEIGHT, X, Y, require_sums

import coterie as ct
from coterie.errors import FileError, LogError


def parquet(at: Path) -> Path:
    pq.write_table(TABLE, at / "log.parquet", row_group_size=2)
    return at / "log.parquet"


def csv(at: Path, name: str = "log.csv", delimiter: str = ",") -> Path:
    pc.write_csv(TABLE, at / name, pc.WriteOptions(delimiter=delimiter))
    return at / name


def tsv(at: Path) -> Path:
    return csv(at, "log.tsv", "\t")


def gzipped(at: Path) -> Path:
    (at / "log.csv.gz").write_bytes(gzip.compress(csv(at).read_bytes()))
    return at / "log.csv.gz"


def feathered(at: Path) -> Path:
    feather.write_feather(TABLE, at / "log.feather")
    return at / "log.feather"


def arrow(at: Path) -> str:
    with pa.ipc.new_file(str(at / "log.arrow"), TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=4)
    return str(at / "log.arrow")


def parts(at: Path) -> list[Path]:
    files = [at / f"part-{i}.parquet" for i in range(3)]
    for i, file in enumerate(files):
        pq.write_table(TABLE.slice(2 * i, 2), file)
    return files


def folder(at: Path) -> Path:
    parts(at)
    (at / "README.txt").write_text("notes beside the data are no part of it")
    (at / "_temporary").mkdir()
    (at / "_temporary" / "half.parquet").write_bytes(b"PAR1")
    return at


def hive(at: Path) -> Path:
    ds.write_dataset(TABLE, at / "hive", format="parquet", partitioning=["u"], partitioning_flavor="hive")
    return at / "hive"


def globbed(at: Path) -> str:
    parts(at)
    return str(at / "part-?.parquet")


FILES = [parquet, csv, tsv, gzipped, feathered, arrow, parts, folder, hive, globbed]


@pytest.mark.parametrize("door", FILES, ids=lambda door: door.__name__)
def test_files(door: Callable[[Path], Any], tmp_path: Path) -> None:
    logs = ct.read_logs(door(tmp_path), **NAMED)
    require_sums(ct.summarize(logs))
    require_sums(ct.summarize(logs, threads=1))


def relation(table: Any) -> Any:
    connection = duckdb.connect()
    connection.register("log", table)
    return connection.sql("select * from log")


FRAMES: dict[str, Callable[[Any], Any]] = {
    "pandas": lambda table: table.to_pandas(),
    "polars": pl.from_arrow,
    "lazy": lambda table: pl.DataFrame(table).lazy(),
    "pyarrow": lambda table: table,
    "reader": lambda table: table.to_reader(max_chunksize=2),
    "duckdb": relation,
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("lists", [False, True])
def test_frames(frame: Callable[[Any], Any], lists: bool) -> None:
    action = "f" if lists else ["x", "y"]
    source = frame(LISTS if lists else TABLE)
    require_sums(ct.summarize(ct.read_logs(source, user="u", action=action, reward="r")))


def test_arrays() -> None:
    action = np.column_stack([X, Y])
    require_sums(ct.summarize(ct.Logs.from_arrays(USERS, action, REWARD)))
    require_sums(ct.summarize(ct.Logs.from_arrays(np.array(USERS), action.tolist(), REWARD)))
    weighted = ct.Logs.from_arrays(USERS, action, REWARD, weight=WEIGHT, intercept=True)
    require_sums(ct.summarize(weighted), weight=WEIGHT, one=True)


def test_weight_and_intercept(tmp_path: Path) -> None:
    for source in (parquet(tmp_path), csv(tmp_path), TABLE.to_pandas()):
        logs = ct.read_logs(source, **NAMED, weight="w", intercept=True)
        assert (logs.dim, logs.features) == (3, ("x", "y", "intercept"))
        require_sums(ct.summarize(logs), weight=WEIGHT, one=True)


def test_folders_name_users(tmp_path: Path) -> None:
    """Integers of any size where all are, text where one is not; quoted characters are unquoted."""
    kinds: list[list[Any]] = [
        LARGE,
        [-5, 3 * 10**9, -5, 0, 3 * 10**9, -5],
        ["007", "a b", "007", "1", "a b", "1"],
    ]
    for at, ids in enumerate(kinds):
        for user in set(ids):
            place = tmp_path / str(at) / f"u={str(user).replace(' ', '%20')}"
            place.mkdir(parents=True)
            mine = TABLE.filter(pa.array([other == user for other in ids]))
            pq.write_table(mine.drop_columns(["u"]), place / "part.parquet")
        require_sums(ct.summarize(ct.read_logs(tmp_path / str(at), **NAMED)), ids)


def test_a_column_in_the_file_goes_before_its_folder(tmp_path: Path) -> None:
    (tmp_path / "u=1").mkdir()
    pq.write_table(TABLE, tmp_path / "u=1" / "part.parquet")
    require_sums(ct.summarize(ct.read_logs(tmp_path, **NAMED)))


def test_parts_of_different_width_and_a_folder_of_tsv(tmp_path: Path) -> None:
    narrow = TABLE.slice(0, 2).set_column(0, "u", pa.array(USERS[:2], pa.int16()))
    narrow = narrow.set_column(3, "r", pa.array([1, 0], pa.int8()))
    (tmp_path / "a").mkdir()
    pq.write_table(narrow, tmp_path / "a" / "0.parquet")
    pq.write_table(TABLE.slice(2), tmp_path / "a" / "1.parquet")
    require_sums(ct.summarize(ct.read_logs(tmp_path / "a", **NAMED)))
    (tmp_path / "b").mkdir()
    tsv(tmp_path / "b")
    require_sums(ct.summarize(ct.read_logs(tmp_path / "b", **NAMED)))


@pytest.mark.parametrize("batch_rows", [1, 2, 5, 1000])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_batches_and_threads_do_not_matter(batch_rows: int, threads: int, tmp_path: Path) -> None:
    logs = ct.read_logs(parquet(tmp_path), **NAMED, weight="w", batch_rows=batch_rows)
    assert all(len(batch) <= batch_rows for batch in logs.batches(threads))
    require_sums(ct.summarize(logs, threads=threads), weight=WEIGHT)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("nope.parquet", "^there is no file '.*nope.parquet'"),
        ("*.nope", r"^no file matches '.*\*.nope'"),
        ("", "^folder '.*' has no Parquet, CSV or Arrow file"),
        ("a.txt", r"^'.*a.txt' ends in .txt; Parquet \(.parquet\), CSV"),
        ("a.json.gz", "ends in .json.gz; Parquet"),
        (["nope.parquet"], "^there is no file '.*nope.parquet'"),
        (["a.csv", "a.parquet"], r"several formats \(csv, parquet\)"),
    ],
)
def test_places_without_logs(given: str | list[str], sentence: str, tmp_path: Path) -> None:
    if given:
        for name in ("a.txt", "a.json.gz", "a.csv", "a.parquet"):
            (tmp_path / name).touch()
    place = [str(tmp_path / name) for name in given] if isinstance(given, list) else str(tmp_path / given)
    with pytest.raises(FileError, match=sentence) as failure:
        ct.read_logs(place, **NAMED)
    assert "\n" not in str(failure.value)


def test_what_is_no_table() -> None:
    with pytest.raises(LogError, match=r"^logs cannot be read from a int; give a file"):
        ct.read_logs(5, **NAMED)


@pytest.mark.parametrize("batch_rows", [1, 2, 100])
def test_ids_of_a_csv_file_keep_their_zeros(tmp_path: Path, batch_rows: int) -> None:
    """007 and 7 are two users; in batches of one row the second would look like an integer."""
    file = tmp_path / "log.csv"
    file.write_text("user,x,r\n007,1,0\n7,1,1\n")
    named: dict[str, Any] = {"user": "user", "action": "x", "reward": "r", "batch_rows": batch_rows}
    told = ct.summarize(ct.read_logs(file, **named, text_ids=True))
    assert (told.users.tolist(), told.reward_square.tolist()) == (["007", "7"], [0, 1])
    if batch_rows > 1:
        assert ct.summarize(ct.read_logs(file, **named)).users.tolist() == ["007", "7"]
        return
    with pytest.raises(
        ct.CoterieError, match=r"user 7 is an integer where the users before are text; .* text_ids=True"
    ):
        ct.summarize(ct.read_logs(file, **named))


def test_integer_ids_can_be_taken_as_text() -> None:
    table = pa.table({"user": [7, 12], "x": [1.0, 1.0], "r": [0.0, 1.0]})
    logs = ct.read_logs(table, user="user", action="x", reward="r", text_ids=True)
    assert ct.summarize(logs).users.tolist() == ["12", "7"]


def test_items_of_csv_files_keep_their_zeros(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("item,x\n7,1\n007,3\n")
    (tmp_path / "log.csv").write_text("user,item,r\n1,7,1\n1,007,1\n1,7,1\n")
    logs = ct.read_logs(
        tmp_path / "log.csv", user="user", item="item", items=tmp_path / "items.csv", reward="r"
    )
    assert ct.summarize(logs).moment.tolist() == [[5]]


def test_named_coordinates_let_arrays_join_a_file_s_statistics() -> None:
    table = pa.table({"user": [1], "x": [1.0], "y": [2.0], "r": [1.0]})
    file = ct.summarize(ct.read_logs(table, user="user", action=["x", "y"], reward="r"))
    rows = ct.Logs.from_arrays([1], [[1.0, 0.0]], [1.0], features=["x", "y"])
    total = sum([file, ct.summarize(rows)])
    assert isinstance(total, ct.UserStatistics)
    assert (total.moment.tolist(), total.features) == ([[2, 2]], ("x", "y"))
    with pytest.raises(ct.CoterieError, match="features names 1 coordinates and actions have 2"):
        ct.Logs.from_arrays([1], [[1.0, 0.0]], [1.0], features=["x"])
