"""A ratings file becomes a log and item vectors that have not seen the log's ratings."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from tests.cli.program import done, parsed, run

import coterie as ct
from coterie.errors import FileError, LogError
from coterie.worlds.rating_rows import RatingRows, log_of_ratings, read_rating_rows

ROWS = [(196, 242, 3.0, 30), (186, 302, 4.0, 10), (196, 302, 5.0, 20), (22, 242, 1.0, 40)]


def write(folder: Path, name: str) -> Path:
    """The rows in a file of that name, with the columns that such files have."""
    path, separator = folder / name, {"u.data": "\t", "ratings.dat": "::"}.get(name)
    if separator is not None:
        path.write_text("".join(separator.join(f"{value:g}" for value in row) + "\n" for row in ROWS))
        return path
    names = (
        ("userId", "movieId", "rating", "timestamp")
        if name == "ratings.csv"
        else ("user", "item", "stars", "date")
    )
    table = pa.table({name: [row[k] for row in ROWS] for k, name in enumerate(names)})
    (pc.write_csv if path.suffix == ".csv" else pq.write_table)(table, path)
    return path


@pytest.mark.parametrize("name", ["u.data", "ratings.dat", "ratings.csv", "mine.parquet"])
def test_every_kind_of_file_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    rows = read_rating_rows(write(tmp_path, name))
    assert rows.time is not None
    found = zip(rows.user.tolist(), rows.item.tolist(), rows.rating.tolist(), rows.time.tolist(), strict=True)
    assert list(found) == ROWS


def test_the_earliest_teach_and_the_rest_is_the_log(tmp_path: Path) -> None:
    """Ratings 4 and 5, of item 302, teach: the mean is 4.5, and the log's rewards are 3 and 1 less that."""
    log, items = log_of_ratings(read_rating_rows(write(tmp_path, "u.data")), dim=1)
    assert log.to_pylist() == [
        {"user": 196, "item": 242, "reward": -1.5, "time": 30},
        {"user": 22, "item": 242, "reward": -3.5, "time": 40},
    ]
    assert items["item"].to_pylist() == [242, 302]
    assert items["vector"].to_pylist()[0] == [0.0]  # nobody had rated it


def test_the_log_s_ratings_do_not_reach_the_vectors() -> None:
    rng = np.random.default_rng(0)
    user, item, time = rng.integers(0, 30, 600), rng.integers(0, 20, 600), rng.permutation(600)
    rating = rng.integers(1, 6, 600).astype(float)
    other = np.where(time >= 300, 6 - rating, rating)  # the later half, turned round
    vectors = [
        log_of_ratings(RatingRows(user, item, values, time), dim=4)[1]["vector"].to_pylist()
        for values in (rating, other)
    ]
    assert vectors[0] == vectors[1]


def test_without_times_ratings_are_drawn() -> None:
    rows = RatingRows(np.arange(100), np.arange(100) % 7, np.ones(100), None)
    one, again, other = (log_of_ratings(rows, dim=2, share=0.3, rng=seed)[0] for seed in (1, 1, 2))
    assert one.num_rows == 70
    assert one.column_names == ["user", "item", "reward"]
    assert one.equals(again)
    assert not one.equals(other)


def test_the_command_writes_what_can_be_evaluated(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    table = {
        "user": rng.integers(0, 30, 900),
        "item": rng.integers(0, 25, 900),
        "rating": rng.integers(1, 6, 900),
    }
    pq.write_table(pa.table(table), tmp_path / "mine.parquet")
    ran = done("ratings", tmp_path / "mine.parquet", "--dim", 3, "--out", tmp_path / "made")
    assert ran.out.startswith("450 ratings of 30 users in ")
    made = tmp_path / "made"
    logs = ct.read_logs(
        made / "log.parquet", user="user", item="item", items=made / "items.parquet", reward="reward"
    )
    stats = ct.summarize(logs)
    assert (stats.n_samples, stats.dim) == (450, 3)
    (told,) = parsed(done("ratings", tmp_path / "mine.parquet", "--out", made, "--format", "json"), "json")
    assert told == {"rows": 450, "users": 30, "items": 25, "dim": 8, "out": str(made)}


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        ("none.csv", None, FileError, "there is no ratings file"),
        ("u.data", "1\t2\t3\n", LogError, "line 1 of u.data has fewer than 4 fields"),
        ("u.data", "", LogError, "u.data has fewer than 4 fields"),
        ("u.data", "1\t2\tx\t3\n", LogError, "has a field that is no number"),
        ("u.data", "1\t2\tnan\t3\n", LogError, r"row 0 of u.data \(rows count from 0\) has no finite rating"),
        ("a.csv", "user,item\n1,2\n", LogError, "a.csv has no column 'rating' or 'stars'; it has user, item"),
        (
            "a.csv",
            "user,item,rating\n1,2,3\n",
            LogError,
            "1 ratings cannot be cut into 0.5 of them and the rest",
        ),
    ],
)
def test_what_is_no_ratings_file_is_refused(
    name: str, text: str | None, error: Any, message: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(error, match=message):
        log_of_ratings(read_rating_rows(tmp_path / name), dim=2)
    ran = run("ratings", tmp_path / name, "--out", tmp_path / "made")
    assert (ran.status, ran.err.count("\n"), (tmp_path / "made").exists()) == (1, 1, False)


def test_a_file_in_the_place_of_the_folder_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path, "u.data")
    ran = run("ratings", path, "--out", path)
    assert (ran.status, "is a file; name a folder" in ran.err) == (1, True)
