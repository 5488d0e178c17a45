"""Ratings: every file form, the densest part, and preference vectors, on tables made here."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coterie.errors import FileError, LogError
from coterie.worlds import Lifted, Sphere
from coterie.worlds.ratings import Ratings, densest, read_ratings, truth_of

ROWS = [(1, 10, 4.0), (1, 20, 2.0), (2, 10, 5.0), (2, 10, 3.0), (7, 30, 1.0)]
WANT = [[4.0, 2.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 1.0]]  # the mean of 5 and 3 is 4


def write(folder: Path, name: str) -> Path:
    """The rows in the form that goes with a name."""
    file = folder / name
    if name.endswith(".parquet"):
        user, item, rating = zip(*ROWS, strict=True)
        pq.write_table(pa.table({"user": user, "item": item, "rating": rating}), file)
    elif name == "ratings.csv":
        file.write_text("userId,movieId,rating,timestamp\n" + "".join(f"{u},{i},{r},0\n" for u, i, r in ROWS))
    elif name == "review.json":
        lines = [{"user_id": f"u{u}", "business_id": f"i{i}", "stars": r, "text": "x"} for u, i, r in ROWS]
        file.write_text("\n".join(map(json.dumps, lines)))
    else:
        mark = "::" if name == "ratings.dat" else "\t"
        file.write_text("".join(mark.join(map(str, (u, i, int(r), 0))) + "\n" for u, i, r in ROWS))
    return file


@pytest.mark.parametrize("name", ["x.parquet", "ratings.csv", "ratings.dat", "u.data", "review.json"])
def test_every_form_gives_the_same_matrix(name: str, tmp_path: Path) -> None:
    ratings = read_ratings(write(tmp_path, name))
    assert ratings.matrix("rating").tolist() == WANT
    assert ratings.matrix("any").tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert ratings.matrix("count").tolist() == [[1, 1, 0], [2, 0, 0], [0, 0, 1]]


def test_a_table_of_numbers_of_reviews_counts_them(tmp_path: Path) -> None:
    pq.write_table(pa.table({"user": [0, 1], "item": [0, 0], "n_reviews": [3, 2]}), tmp_path / "y.parquet")
    assert read_ratings(tmp_path / "y.parquet").matrix("count").tolist() == [[3], [2]]


def test_the_densest_part_in_three_steps_by_hand() -> None:
    """Users have 3, 2, 2, 1 ratings: the last goes. Items a, b, c then have 3, 2, 2: c goes, by its higher
    code. The users left have 2, 2, 1 ratings of a and b: the last goes."""
    user = [0, 0, 0, 1, 1, 2, 2, 3]
    item = ["a", "b", "c", "a", "b", "a", "c", "a"]
    part = densest(Ratings.of(user, item, np.ones(8)), n_users=2, n_items=2, first=3)
    pairs = sorted(zip(part.user.tolist(), part.item.tolist(), strict=True))
    assert pairs == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_users_are_numbered_in_the_order_of_selection() -> None:
    ratings = Ratings.of([5, 9, 9, 9, 7, 7], [0, 0, 1, 2, 0, 1], np.arange(6.0))
    part = densest(ratings, n_users=3, n_items=3)
    assert np.bincount(part.user).tolist() == [3, 2, 1]
    assert part.value[part.user == 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("geometry", [Sphere(3), Lifted(4)])
def test_preferences_are_left_singular_vectors_placed(geometry: Sphere | Lifted) -> None:
    """Compared by inner products of rows, in which signs play no part, with the eigenvectors of MM'."""
    rng = np.random.default_rng(0)
    user, item = np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6)
    ratings = Ratings.of(user, item, rng.random(30))
    truth = truth_of(ratings, geometry, "rating")
    matrix = ratings.matrix("rating")
    _, vectors = np.linalg.eigh(matrix @ matrix.T)
    placed = geometry.place(vectors[:, ::-1][:, :3])
    assert truth.theta @ truth.theta.T == pytest.approx(placed @ placed.T, abs=1e-9)
    assert np.linalg.norm(truth.theta, axis=1) == pytest.approx(1)
    assert truth.labels is None


def test_bad_files_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "u.data").write_text("1\t2\n")
    (tmp_path / "x.csv").write_text("who,item,rating\n1,2,3\n")
    (tmp_path / "review.json").write_text('{"user_id": 3}\n')
    with pytest.raises(LogError, match="fewer than 3 fields"):
        read_ratings(tmp_path / "u.data")
    with pytest.raises(LogError, match="no column 'user' or 'userId'"):
        read_ratings(tmp_path / "x.csv")
    with pytest.raises(LogError, match="not a file of reviews"):
        read_ratings(tmp_path / "review.json")
    with pytest.raises(FileError, match="no ratings file"):
        read_ratings(tmp_path / "none.csv")
