"""Ids and action vectors of every Arrow type, items, and what the decoders say of what they cannot read."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.logs.rows import LARGE, LISTS, NAMED, REWARD, TABLE, TEXT, USERS, X, Y, require_sums

import coterie as ct
from coterie.errors import LogError
from coterie.logs import read_items
from coterie.logs.formats import Unread
from coterie.logs.sources import Piece

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
@pytest.mark.parametrize("dictionary", [False, True])
def test_integer_ids(kind: Any, dictionary: bool) -> None:
    ids = pa.array(USERS, kind)
    stats = ct.summarize(ct.read_logs(with_users(ids.dictionary_encode() if dictionary else ids), **NAMED))
    assert stats.users.dtype == np.int64
    require_sums(stats)


def with_users(ids: Any) -> Any:
    return TABLE.set_column(0, "u", ids)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_text_ids(kind: Any) -> None:
    require_sums(ct.summarize(ct.read_logs(with_users(pa.array(TEXT, kind)), **NAMED)), TEXT)
    encoded = with_users(pa.array(TEXT, pa.string()).dictionary_encode())
    require_sums(ct.summarize(ct.read_logs(encoded, **NAMED, batch_rows=1)), TEXT)


def test_categories_of_pandas_and_polars() -> None:
    frame = with_users(pa.array(TEXT)).to_pandas()
    frame["u"] = pd.Categorical(TEXT)
    require_sums(ct.summarize(ct.read_logs(frame, **NAMED)), TEXT)
    for kind in (pl.Categorical(), pl.Enum(["", "bob", "élan"])):
        frames = pl.DataFrame(with_users(pa.array(TEXT))).with_columns(pl.col("u").cast(kind))
        require_sums(ct.summarize(ct.read_logs(frames, **NAMED)), TEXT)


@pytest.mark.parametrize("batch_rows", [1, 2, 100])
def test_ids_above_the_signed_range(batch_rows: int) -> None:
    """Also where the first batches hold only small ones."""
    table = with_users(pa.array(LARGE, pa.uint64()))
    stats = ct.summarize(ct.read_logs(table, **NAMED, batch_rows=batch_rows))
    assert stats.users.dtype == np.uint64
    require_sums(stats, LARGE)


LIST_TYPES = [
    pa.list_(pa.float64()),
    pa.list_(pa.float32()),
    pa.large_list(pa.float64()),
    pa.list_(pa.float64(), 2),
    pa.list_(pa.float16(), 2),
    pa.list_view(pa.float64()),
]


def with_lists(lists: list[Any], kind: Any = LIST_TYPES[0]) -> Any:
    return LISTS.set_column(1, "f", pa.array(lists, kind))


def read_lists(table: Any, **more: Any) -> ct.Logs:
    return ct.read_logs(table, user="u", action="f", reward="r", **more)


@pytest.mark.parametrize("kind", LIST_TYPES, ids=str)
@pytest.mark.parametrize("batch_rows", [1, 4, 100])
def test_lists(kind: Any, batch_rows: int) -> None:
    """All numbers here have few bits, so that float16 holds them exactly."""
    table = with_lists(LISTS.column("f").to_pylist(), kind)
    logs = read_lists(table, batch_rows=batch_rows)
    assert logs.features == ("f[0]", "f[1]")
    require_sums(ct.summarize(logs))


@pytest.mark.filterwarnings("ignore:2 rows were left out:coterie.errors.CoterieWarning")
def test_the_first_list_that_is_not_empty_tells_the_length() -> None:
    table = with_lists([None, [], *LISTS.column("f").to_pylist()[2:]])
    stats = ct.summarize(read_lists(table, on_bad="drop", batch_rows=1))
    assert (stats.dim, stats.n_samples) == (2, 4)
    reader = table.to_reader(max_chunksize=1)
    assert ct.summarize(read_lists(reader, on_bad="drop")).n_samples == 4


@pytest.mark.parametrize("on_bad", ["error", "drop"])
def test_no_list_at_all(on_bad: str) -> None:
    with pytest.raises(LogError, match=r"^column 'f' of the Table has no list with a number in it"):
        ct.summarize(read_lists(with_lists([None, [], None, [], [], []]), on_bad=on_bad))


NUMBERS = [pa.float32(), pa.float64(), pa.int8(), pa.uint64(), pa.bool_(), pa.decimal128(9, 2)]


@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_numbers_of_every_type(kind: Any) -> None:
    """Two rows (1, 0) and (1, 1) with rewards 0 and 1: the gram is [[2, 1], [1, 1]], the moment (1, 1)."""
    columns = {
        "x": pa.array([1, 1], pa.int8()),
        "y": pa.array([0, 1], pa.int8()),
        "r": pa.array([0, 1], pa.int8()),
    }
    table = pa.table({"u": [5, 5], **{name: column.cast(kind) for name, column in columns.items()}})
    stats = ct.summarize(ct.read_logs(table, **NAMED))
    assert stats.gram.tolist() == [[[2.0, 1.0], [1.0, 1.0]]]
    assert (stats.moment.tolist(), stats.reward_square.tolist()) == ([[1.0, 1.0]], [1.0])


def test_float32_is_summed_in_double_precision() -> None:
    """0.1 in float32 is 0.100000001490116119384765625; the square is that of this number."""
    table = pa.table({"u": [1], "x": pa.array([0.1], pa.float32()), "r": pa.array([0.1], pa.float32())})
    stats = ct.summarize(ct.read_logs(table, user="u", action="x", reward="r"))
    assert stats.gram.item() == 0.100000001490116119384765625**2 == stats.reward_square.item()


VECTORS = list(dict.fromkeys(zip(X, Y, strict=True)))
NUMBERED = [2**40 - i for i in range(len(VECTORS))]
NAMES = [f"item {i}" for i in range(len(VECTORS))]


@pytest.mark.parametrize("ids", [NUMBERED, NAMES], ids=["integers", "text"])
@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize("dictionary", [False, True])
def test_items(ids: list[Any], lists: bool, dictionary: bool) -> None:
    of = {vector: name for name, vector in zip(ids, VECTORS, strict=True)}
    column = pa.array([of[pair] for pair in zip(X, Y, strict=True)])
    log = pa.table({"u": USERS, "i": column.dictionary_encode() if dictionary else column, "r": REWARD})
    x, y = ([vector[j] for vector in VECTORS] for j in range(2))
    items = pa.table({"i": ids, "f": [list(v) for v in VECTORS]} if lists else {"i": ids, "x": x, "y": y})
    for table in (items, items.to_pandas()):
        logs = ct.read_logs(log, user="u", item="i", items=table, reward="r", batch_rows=2)
        assert logs.features == (("f[0]", "f[1]") if lists else ("x", "y"))
        require_sums(ct.summarize(logs))
    one = ct.read_logs(log, user="u", item="i", items=items, reward="r", intercept=True)
    require_sums(ct.summarize(one), one=True)


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        ({"j": [1], "x": [1.0]}, "^the item table has no column 'i'; the nearest are 'j', 'x'$"),
        ({"i": [1]}, "^the item table has no column but 'i'"),
        ({"i": pa.array([], pa.int64()), "x": pa.array([], pa.float64())}, "^the item table is empty"),
        ({"i": [1, 2], "x": [1.0, None]}, "^row 1 of the item table has NaN, infinity or no number"),
        (
            {"i": [1, None], "x": [1.0, 2.0]},
            r"^row 1 of the item table has no item id ",
        ),
        ({"i": ["a", None], "x": [1.0, 2.0]}, r"^row 1 of the item table has no item id"),
        ({"i": [1, 1], "x": [1.0, 2.0]}, "^item 1 occurs more than once in the item table"),
        ({"i": [1, 2], "f": [None, [1.0]]}, "^row 0 of the item table has no list in column 'f', where 1"),
        ({"i": [1, 2], "f": [[1.0, 2.0], [1.0]]}, "^row 1 of the item table has a list of 1 numbers in"),
        ({"i": [1], "f": [[]]}, "^column 'f' of the item table has no list"),
        ({"i": [1], "x": ["a"]}, r"^column 'x' holds string values \('a'\); numbers are required"),
        ({"i": [1.5], "x": [1.0]}, "^item column 'i' holds double values"),
    ],
)
def test_item_tables_that_cannot_be_used(items: dict[str, Any], sentence: str) -> None:
    with pytest.raises(LogError, match=sentence) as failure:
        read_items(pa.table(items), "i")
    assert "\n" not in str(failure.value)


def test_items_of_another_kind() -> None:
    log = pa.table({"u": [1], "i": ["7"], "r": [1.0]})
    items = pa.table({"i": [7], "x": [1.0]})
    with pytest.raises(LogError, match=r"^item ids are text here and integers in the item table; cast one"):
        ct.summarize(ct.read_logs(log, user="u", item="i", items=items, reward="r"))


def test_rows_of_items() -> None:
    """-1 where the id is unknown or null, for every kind of column."""
    items = read_items(pa.table({"i": [30, 10], "x": [1.0, 2.0]}), "i")
    assert items.rows(pa.array([10, None, 20, 30])).tolist() == [1, -1, -1, 0]
    assert items.rows(pa.array([10, None, 10], pa.uint8()).dictionary_encode()).tolist() == [1, -1, 1]
    assert items.rows(pa.nulls(2)).tolist() == [-1, -1]
    named = read_items(pa.table({"i": ["b", "a"], "x": [1.0, 2.0]}), "i")
    assert named.rows(pa.array(["a", None, "long name", "b"])).tolist() == [1, -1, -1, 0]


def test_items_of_a_csv_file_may_turn_decimal_late(tmp_path: Any) -> None:
    """The first megabyte holds integers only."""
    n = 200_000
    lines = [f"{i},1" for i in range(n)]
    (tmp_path / "items.csv").write_text("\n".join(["i,x", *lines, f"{n},0.5"]))
    assert read_items(tmp_path / "items.csv", "i").vectors[-2:].tolist() == [[1.0], [0.5]]


@pytest.mark.parametrize(("n", "dim"), [(0, 2), (1, 1), (300, 20), (257, 33), (5, 100)])
def test_columns_side_by_side_and_their_plain_twin(n: int, dim: int) -> None:
    """Columns of 32 and of 64 bits, every other one with gaps between its numbers."""
    from coterie.logs import _kernels, _plain

    rng = np.random.default_rng(0)
    columns = [
        rng.normal(size=2 * n)[:: 1 + j % 2][:n].astype(np.float32 if j % 3 else np.float64)
        for j in range(dim)
    ]
    mine, other = np.zeros((n, dim)), np.zeros((n, dim))
    _kernels.side_by_side(columns, mine)
    _plain.side_by_side(columns, other)
    np.testing.assert_array_equal(mine, other)


def test_pieces_are_read_by_several_threads_at_once() -> None:
    """Each of two pieces waits, while it is read, for the other to be read as well."""
    both = Barrier(2, timeout=20)
    pieces = [Piece(Unread(1, both.wait), "here", at) for at in range(2)]
    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(lambda piece: piece.rows, pieces)) == [0, 1]
