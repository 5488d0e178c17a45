"""Worlds made from ratings: who rated what becomes preference vectors.

Takes: a ratings file (MovieLens `ratings.csv`, `ratings.dat`, `u.data`; Yelp `review.json`; any table with
user, item and rating).
Gives: `Ratings`, the densest part of it as a matrix, and the `Truth` by singular value decomposition.
Paper: the real-world data sets of the experiments; `docs/deviations.md` on what the tables need.
Next: `world`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from coterie.errors import FileError, LogError
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.neighbourhood.search.asked import one_blas_thread
from coterie.packed import FloatArray
from coterie.worlds.geometry import Geometry
from coterie.worlds.truth import Truth

Values = Literal["any", "count", "rating"]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings as codes: `user` and `item` (n,) count from 0, `value` (n,) was given `number` (n,) times."""

    user: IntArray
    item: IntArray
    value: FloatArray
    number: FloatArray

    @classmethod
    def of(cls, user: Any, item: Any, value: Any, number: Any = None) -> "Ratings":
        """Ratings of ids of any type."""
        codes = [np.unique(np.asarray(ids), return_inverse=True)[1].astype(np.int64) for ids in (user, item)]
        given = np.asarray(value, dtype=np.float64)
        times = np.ones(len(given)) if number is None else np.asarray(number, dtype=np.float64)
        return cls(codes[0], codes[1], given, times)

    def matrix(self, values: Values) -> FloatArray:
        """Matrix (users, items): 1 for any rating, the number of ratings, or their mean; 0 for none.

        >>> Ratings.of([0, 0, 1], [0, 0, 1], [4.0, 2.0, 5.0]).matrix("rating").tolist()
        [[3.0, 0.0], [0.0, 5.0]]
        """
        shape = int(self.user.max()) + 1, int(self.item.max()) + 1
        total, count = np.zeros(shape), np.zeros(shape)
        np.add.at(total, (self.user, self.item), self.value * self.number)
        np.add.at(count, (self.user, self.item), self.number)
        if values == "any":
            return np.asarray((count > 0).astype(np.float64))
        return count if values == "count" else np.divide(total, count, out=total, where=count > 0)


def read_ratings(path: str | Path) -> Ratings:
    """Ratings in a file, told by its name."""
    file = Path(path)
    if not file.is_file():
        raise FileError(f"there is no ratings file {str(file)!r}; give one, or use the stand-in world")
    if file.name == "review.json" or file.suffix == ".json":
        return _yelp(file)
    if file.name == "ratings.dat":
        columns = _split(file, b"::")
    elif file.name == "u.data":
        columns = _split(file, b"\t")
    else:
        return _table(file)
    return Ratings.of(columns[0], columns[1], columns[2])


def densest(ratings: Ratings, *, n_users: int = 1000, n_items: int = 1000, first: int = 3000) -> Ratings:
    """The densest part in three steps, users renumbered in the order of selection.

    The `first` users with most ratings, then the `n_items` items with most ratings among them, then the
    `n_users` users with most ratings among those.
    """
    users = _most(ratings.user, ratings.number, first)
    part = _keeping(ratings, users[ratings.user] >= 0)
    items = _most(part.item, part.number, n_items)
    part = _keeping(part, items[part.item] >= 0)
    users = _most(part.user, part.number, n_users)
    part = _keeping(part, users[part.user] >= 0)
    if not len(part.user):
        raise LogError("the ratings file has no ratings; rows of user, item and rating are required")
    return Ratings(users[part.user], items[part.item], part.value, part.number)


def truth_of(ratings: Ratings, geometry: Geometry, values: Values) -> Truth:
    """Preference vectors: the first left singular vectors of the matrix, each user's row placed.

    Singular values are left out, as in the released code of the clustering literature.
    """
    with one_blas_thread():
        left, _, _ = np.linalg.svd(ratings.matrix(values), full_matrices=False)
    raw = left[:, : geometry.raw_dim]
    # A singular vector is defined up to its sign: the one of its largest entry is made positive.
    largest = np.abs(raw).argmax(axis=0)
    return Truth(geometry.place(raw * np.sign(raw[largest, np.arange(raw.shape[1])])), None)


def _most(codes: IntArray, number: FloatArray, n: int) -> IntArray:
    """Rank of each code among the `n` most frequent ones, -1 for the others; ties go to the lower code."""
    count = np.bincount(codes, weights=number)
    best = np.argsort(-count, kind="stable")[:n]
    best = best[count[best] > 0]
    rank = np.full(len(count), -1, dtype=np.int64)
    rank[best] = np.arange(len(best))
    return rank


def _keeping(ratings: Ratings, rows: NDArray[np.bool_]) -> Ratings:
    return Ratings(ratings.user[rows], ratings.item[rows], ratings.value[rows], ratings.number[rows])


def _table(file: Path) -> Ratings:
    """Ratings of a Parquet or CSV file with columns of these or MovieLens' names."""
    from coterie.logs.sources import open_source

    source = open_source(file)
    present = source.columns()
    names = [
        _one_of(present, ("user", "userId", "user_id"), file),
        _one_of(present, ("item", "movieId", "item_id", "business_id"), file),
        _one_of(present, ("rating", "n_reviews", "stars"), file),
    ]
    pieces = [piece.rows.select(names) for piece in source.pieces(names, 1 << 16, {})]
    user, item, value = (
        np.concatenate([piece.column(name).to_numpy(zero_copy_only=False) for piece in pieces])
        for name in names
    )
    return (
        Ratings.of(user, item, np.ones(len(user)), value)
        if names[2] == "n_reviews"
        else Ratings.of(user, item, value)
    )


def _one_of(present: list[str], names: tuple[str, ...], file: Path) -> str:
    for name in names:
        if name in present:
            return name
    raise LogError(f"{file.name} has no column {' or '.join(map(repr, names))}; it has {', '.join(present)}")


def _split(file: Path, separator: bytes) -> list[Any]:
    """First three columns of a file without a header."""
    rows = [line.split(separator)[:3] for line in file.read_bytes().splitlines() if line]
    if any(len(row) < 3 for row in rows):  # noqa: PLR2004
        raise LogError(f"{file.name} has a line with fewer than 3 fields; user, item and rating are required")
    table = np.array(rows)
    return [table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2].astype(np.float64)]


class _Review(msgspec.Struct):
    """What of a Yelp review matters here."""

    user_id: str
    business_id: str
    stars: float


def _yelp(file: Path) -> Ratings:
    """Ratings of Yelp's reviews, a JSON object a line."""
    decoder = msgspec.json.Decoder(_Review)
    try:
        with file.open("rb") as lines:
            rows = [decoder.decode(line) for line in lines if line.strip()]
    except msgspec.DecodeError as failure:
        raise LogError(f"{file.name} is not a file of reviews: {failure}") from failure
    return Ratings.of([r.user_id for r in rows], [r.business_id for r in rows], [r.stars for r in rows])
