"""A ratings file made into a log: item vectors from one part of the ratings, the log from the other.

Takes: a ratings file (MovieLens `u.data`, `ratings.dat`, `ratings.csv`, or any table) as it is.
Gives: Arrow tables of the log (user, item, reward, time) and of the items (item, vector).
Next: `coterie.logs`, by `item=` and `items=`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.checks import probability
from coterie.errors import FileError, LogError
from coterie.worlds.item_vectors import log_and_items

NAMES = {
    "user": ("user", "userId", "user_id"),
    "item": ("item", "movieId", "item_id", "business_id"),
    "rating": ("rating", "stars"),
    "time": ("timestamp", "time", "date"),
}
_SEPARATORS = {"u.data": "\t", "ratings.dat": "::"}


@dataclass(frozen=True, eq=False)
class RatingRows:
    """Ratings as they are in a file: ids, values, and times where there are some, all (n,)."""

    user: NDArray[Any]
    item: NDArray[Any]
    rating: NDArray[Any]
    time: NDArray[Any] | None


def read_rating_rows(path: str | Path) -> RatingRows:
    r"""Rows of a ratings file; columns are found by the names that such files use.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "u.data").write_text("196\t242\t3\t881250949\n")
    ...     rows = read_rating_rows(Path(folder) / "u.data")
    >>> rows.user.tolist(), rows.item.tolist(), rows.rating.tolist(), rows.time.tolist()
    ([196], [242], [3.0], [881250949])
    """
    file = Path(path)
    if not file.is_file():
        raise FileError(f"there is no ratings file {str(file)!r}; check the name and the working folder")
    if file.name in _SEPARATORS:
        return _separated(file, _SEPARATORS[file.name])
    from coterie.logs.sources import open_source

    source = open_source(file)
    present = source.columns()
    found = {what: next((name for name in names if name in present), None) for what, names in NAMES.items()}
    for what in ("user", "item", "rating"):
        if found[what] is None:
            raise LogError(
                f"{file.name} has no column {' or '.join(map(repr, NAMES[what]))}; it has "
                f"{', '.join(present)}: rename the one that is meant"
            )
    names = [name for name in found.values() if name is not None]
    pieces = [piece.rows for piece in source.pieces(names, 1 << 16, {str(found["rating"]): "number"})]
    if not pieces:
        raise LogError(f"{file.name} has no rows; a rating a row is required")

    def column(what: str) -> NDArray[Any]:
        parts = [piece.column(found[what]).to_numpy(zero_copy_only=False) for piece in pieces]
        return np.concatenate(parts)

    rating = column("rating").astype(np.float64)
    _require_numbers(rating, file)
    return RatingRows(column("user"), column("item"), rating, column("time") if found["time"] else None)


def log_of_ratings(rows: RatingRows, *, dim: int, share: float = 0.5, rng: Any = 0) -> tuple[Any, Any]:
    """The log, and the items' vectors, learned from a share of the ratings that the log does not have.

    Where there are times, the earliest ratings teach the vectors; else ratings drawn at random do. Items
    that the log has and that nobody rated in the part that teaches have the vector 0.

    Examples
    --------
    >>> rows = RatingRows(np.arange(4), np.array([1, 1, 2, 2]), np.array([5.0, 3.0, 4.0, 1.0]), np.arange(4))
    >>> log, items = log_of_ratings(rows, dim=1)
    >>> log["time"].to_pylist(), items["item"].to_pylist()
    ([2, 3], [1, 2])
    """
    n = len(rows.user)
    probability("share", share)
    teaching = round(share * n)
    if not 0 < teaching < n:
        raise LogError(f"{n} ratings cannot be cut into {share:g} of them and the rest; more are required")
    order = np.random.default_rng(rng).permutation(n)
    if rows.time is not None:
        order = order[np.argsort(rows.time[order], kind="stable")]
    learned = np.zeros(n, dtype=np.bool_)
    learned[order[:teaching]] = True
    return log_and_items(rows.user, rows.item, rows.rating, learned, dim=dim, time=rows.time)


def _separated(file: Path, separator: str) -> RatingRows:
    """Rows of a file without a header: user, item, rating, time."""
    lines = [line.split(separator) for line in file.read_text(encoding="latin-1").splitlines() if line]
    short = next((k for k, line in enumerate(lines) if len(line) < len(NAMES)), None)
    if short is not None or not lines:
        where = f"line {short + 1} of {file.name}" if short is not None else file.name
        raise LogError(f"{where} has fewer than 4 fields; user, item, rating and time are required")
    try:
        user, item, rating, time = (np.array([line[j] for line in lines]).astype(kind) for j, kind in _KINDS)
    except ValueError as failure:
        raise LogError(f"{file.name} has a field that is no number ({failure}); all four are") from failure
    _require_numbers(rating, file)
    return RatingRows(user, item, rating, time)


_KINDS = ((0, np.int64), (1, np.int64), (2, np.float64), (3, np.int64))


def _require_numbers(rating: NDArray[Any], file: Path) -> None:
    bad = ~np.isfinite(rating)
    if bad.any():
        raise LogError(
            f"row {int(bad.argmax())} of {file.name} (rows count from 0) has no finite rating; each needs one"
        )
