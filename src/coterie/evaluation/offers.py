"""The actions that the logging policy could have taken, row by row, and which of them it took.

Takes: `Logs` with `candidates`, and its rows.
Gives: `Offers`.
Next: `policy_values`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.errors import LogError
from coterie.logs import Logs
from coterie.logs.decode import first_length, is_list, lists, numbers, plain
from coterie.logs.sources import open_source
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray

OUTSIDE = "a chosen action that is not among its candidates"


@dataclass(frozen=True, eq=False)
class Offers:
    """Candidate sets: row i may choose among `vector[code[start[i] : start[i] + length[i]]]`.

    The vectors have the intercept inside, if the log has one. `same` numbers equal vectors alike.
    """

    vector: FloatArray
    code: IntArray
    start: IntArray
    length: IntArray

    def taking(self, rows: NDArray[Any]) -> "Offers":
        """Candidate sets of these rows."""
        return Offers(self.vector, self.code, self.start[rows], self.length[rows])

    @property
    def shared(self) -> bool:
        """Whether all rows have one set."""
        return bool((self.start == 0).all() and (self.length == len(self.code)).all())

    def chosen(self, action: FloatArray) -> IntArray:
        """Place (n,) of each action among its candidates, -1 where it is none of them; the first of equals.

        >>> offers = Offers(np.eye(2), np.arange(2), np.zeros(2, dtype=int), np.full(2, 2))
        >>> offers.chosen(np.array([[0.0, 1.0], [1.0, 1.0]])).tolist()
        [1, -1]
        """
        same = _numbered(np.vstack([self.vector, action]))
        of_code, of_row = same[: len(self.vector)][self.code], same[len(self.vector) :]
        if self.shared:
            return _first_places(of_code, of_row)
        n = int(self.length.sum())
        row = np.repeat(np.arange(len(self.length)), self.length)
        place = np.arange(n) - np.repeat(np.cumsum(self.length) - self.length, self.length)
        hit = of_code[self.start[row] + place] == of_row[row]
        found = np.full(len(action), -1, dtype=np.int64)
        found[row[hit][::-1]] = place[hit][::-1]
        return found

    def same_as(self, left: IntArray, right: IntArray) -> NDArray[np.bool_]:
        """Whether two places of each row hold the same vector."""
        same = _numbered(self.vector)[self.code]
        return np.asarray(same[self.start + left] == same[self.start + right])

    def laid_out(self, part: slice) -> tuple[IntArray, IntArray]:
        """Codes of some rows' candidates, laid end to end, and where each row's begin."""
        length = self.length[part]
        begin = np.cumsum(length) - length
        inside = np.arange(int(length.sum())) - np.repeat(begin, length)
        return self.code[np.repeat(self.start[part], length) + inside], begin

    def duplicates(self) -> int:
        """Vectors that equal another one of the table."""
        return len(self.vector) - len(np.unique(_numbered(self.vector)))


def shared_offers(logs: Logs, n_rows: int) -> Offers | None:
    """The one candidate set of a log, for that many rows; None where none was named."""
    if logs.candidates is None:
        return None
    vector = _with_intercept(_vectors_of(logs), logs)
    if not len(vector):
        raise LogError("candidates is empty; give at least one action")
    none = np.zeros(n_rows, dtype=np.int64)
    return Offers(vector, np.arange(len(vector)), none, np.full(n_rows, len(vector)))


def offers_of_column(logs: Logs, columns: list[Any]) -> Offers:
    """Candidate sets of a column with one list per row: of item ids, or of vectors."""
    name = logs.columns.candidates or "candidates"
    lengths, codes, vectors, known = [], [], [], 0
    for column in columns:
        if not is_list(column.type):
            raise LogError(
                f"column {name!r} holds {column.type} values; one list of candidates per row is required"
            )
        flat = column.flatten()
        lengths.append(np.diff(np.append(0, np.cumsum(_lengths(column)))))
        code, vector = _decoded(logs, name, flat)
        codes.append(code + (0 if vector is None else known))
        if vector is not None:
            vectors.append(vector)
            known += len(vector)
    length = np.concatenate(lengths).astype(np.int64)
    if not length.all():
        raise LogError(
            f"row {int(np.argmin(length))} has no candidates in column {name!r}; each row needs its set"
        )
    vector = np.vstack(vectors) if vectors else logs.items.vectors if logs.items else np.empty((0, 0))
    start = np.cumsum(length) - length
    return Offers(_with_intercept(vector, logs), np.concatenate(codes), start, length)


def _lengths(column: Any) -> NDArray[Any]:
    import pyarrow.compute as pc

    return np.asarray(pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False))


def _decoded(logs: Logs, name: str, flat: Any) -> tuple[IntArray, FloatArray | None]:
    """Codes of the candidates laid end to end, and their vectors unless they are items."""
    if is_list(flat.type):
        dim = logs.dim - int(logs.intercept)
        vector, faults = lists(flat, name, dim)
        if faults or first_length(flat) != dim:
            raise LogError(f"a candidate in column {name!r} has not the {dim} coordinates of an action")
        return np.arange(len(flat)), vector
    if logs.items is None:
        raise LogError(
            f"column {name!r} holds lists of {flat.type} values; vectors are required, or ids with items="
        )
    code = logs.items.rows(plain(flat))
    if len(code) and code.min() < 0:
        missing = flat[int(np.argmin(code))].as_py()
        raise LogError(f"candidate {missing!r} in column {name!r} is an item that the item table lacks")
    return code, None


def _vectors_of(logs: Logs) -> FloatArray:
    """Vectors (K, d) of the one set, given as a table, as item ids or as vectors."""
    given: Any = logs.candidates
    if isinstance(given, str) or hasattr(given, "__arrow_c_stream__"):
        return _of_table(logs, given)
    array = np.asarray(given)
    if array.ndim == 2 and array.dtype.kind in "iuf":  # noqa: PLR2004
        _require_width(logs, array.shape[1])
        return array.astype(np.float64)
    import pyarrow as pa

    return _of_items(logs, pa.array(given))


def _of_table(logs: Logs, given: Any) -> FloatArray:
    source = open_source(given)
    names = source.columns()
    item = logs.columns.item
    if item is not None and item in names:
        pieces = [piece.rows.column(item) for piece in source.pieces([item], 1 << 16, {item: "id"})]
        return np.vstack([_of_items(logs, piece) for piece in pieces])
    features = list(logs.columns.action)
    if missing := [name for name in features if name not in names] or not features:
        what = repr(missing[0]) if isinstance(missing, list) else f"{item!r}"
        raise LogError(f"the table of candidates has no column {what}; it has {', '.join(names)}")
    pieces = [piece.rows for piece in source.pieces(features, 1 << 16, dict.fromkeys(features, "number"))]
    if len(features) == 1 and is_list(pieces[0].column(features[0]).type):
        width = logs.dim - int(logs.intercept)
        return np.vstack([_whole(*lists(rows.column(features[0]), features[0], width)) for rows in pieces])
    return np.vstack([np.column_stack([numbers(rows.column(n), n) for n in features]) for rows in pieces])


def _whole(vector: FloatArray, faults: dict[str, Any]) -> FloatArray:
    """The vectors, if none of them was of another length."""
    for what in faults:
        raise LogError(f"the table of candidates has {what}; give vectors as long as the log's actions")
    return vector


def _of_items(logs: Logs, ids: Any) -> FloatArray:
    if logs.items is None:
        raise LogError(
            "candidates are item ids and the log has no item table; give item= and items=, or vectors"
        )
    at = logs.items.rows(ids)
    if len(at) and at.min() < 0:
        raise LogError(f"candidate {ids[int(np.argmin(at))].as_py()!r} is an item that the item table lacks")
    return logs.items.vectors[at]


def _require_width(logs: Logs, width: int) -> None:
    dim = logs.dim - int(logs.intercept)
    if width != dim:
        raise LogError(f"candidates have {width} coordinates and the log's actions have {dim}")


def _with_intercept(vector: FloatArray, logs: Logs) -> FloatArray:
    return np.hstack([vector, np.ones((len(vector), 1))]) if logs.intercept else vector


def _numbered(vector: FloatArray) -> IntArray:
    """A number (n,) for each vector, the same for equal ones."""
    plain = np.ascontiguousarray(vector + 0.0)  # so that -0.0 and 0.0 have the same bytes
    whole = plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1]))).ravel()
    return np.asarray(np.unique(whole, return_inverse=True)[1]).ravel().astype(np.int64)


def _first_places(of_code: IntArray, of_row: IntArray) -> IntArray:
    """First place of each row's number in one set, -1 where it is not there."""
    values, first = np.unique(of_code, return_index=True)
    at = np.minimum(np.searchsorted(values, of_row), len(values) - 1)
    return np.where(values[at] == of_row, first[at], -1)
