"""Per-user sums from Parquet: Coterie, Polars streaming, DuckDB and NumPy, against only reading the file.

Everybody computes the same numbers for each user: the d (d + 1) / 2 products, the d moments and the
count; Coterie adds sum(r^2), the longest action, and checks every value. The file is made on the fly:
one column a feature, PyArrow's default compression and encoding, row groups of 131,072.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import Claim, Result, interleaved, isolated, measured, ratio
from numpy.typing import NDArray

import coterie as ct
from coterie.logs.logs import default_threads

DIM, ROWS, USERS, ROW_GROUP = 20, 2_000_000, 10_000, 131_072
FEATURES = [f"f{j}" for j in range(DIM)]
_PAIRS = [(i, j) for i in range(DIM) for j in range(i + 1)]  # the packed order of Coterie
_TOLERANCE = 1e-9


def run(*, quick: bool = False) -> Result:
    """Interleaved times in one process, peak memory of each alternative in a process of its own."""
    rows, users = (100_000, 500) if quick else (ROWS, USERS)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "events.parquet")
        make_file(path, rows, users)
        size = Path(path).stat().st_size / 2**20
        deviation = agreement(path)
        alternatives = {name: _call(way, path) for name, way in WAYS.items()}
        times = interleaved(alternatives, rounds=3 if quick else 7)
        peaks = {name: isolated(way, path=path)["peak_mb"] for name, way in WAYS.items()}
    faster = {name: ratio(times, name, "coterie") for name in ("Polars streaming", "DuckDB")}
    claims = [
        Claim("times faster than Polars streaming", faster["Polars streaming"], 2, at_least=True),
        Claim("times faster than DuckDB", faster["DuckDB"], 4, at_least=True),
        Claim("largest difference from the others' sums, relative to the largest sum", deviation, _TOLERANCE),
    ]
    sizes = {
        "rows": rows,
        "d": DIM,
        "users": users,
        "sums": len(_PAIRS) + DIM + 1,
        "file in MiB": round(size),
    }
    case = f"sums per user, {rows:,} rows"
    return Result("summarize", measured(case, times, "coterie", work=rows, peak_mb=peaks), claims, sizes)


def make_file(path: str, rows: int, users: int) -> None:
    """Users in random order, features uniform in [-1, 1] / sqrt(d), so that no action is longer than 1."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(11)
    writer = None
    for start in range(0, rows, ROW_GROUP):
        n = min(ROW_GROUP, rows - start)
        features = rng.uniform(-1, 1, (DIM, n)) / np.sqrt(DIM)
        reward = features.sum(axis=0) + 0.1 * rng.standard_normal(n)
        columns = {
            "user": rng.integers(0, users, n),
            **dict(zip(FEATURES, features, strict=True)),
            "reward": reward,
        }
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=ROW_GROUP)
    if writer is not None:
        writer.close()


def by_coterie(path: str) -> ct.UserStatistics:
    return ct.summarize(ct.read_logs(path, user="user", action=FEATURES, reward="reward"))


def by_polars(path: str) -> Any:
    import polars as pl

    sums = [(pl.col(FEATURES[i]) * pl.col(FEATURES[j])).sum().alias(f"g{i}_{j}") for i, j in _PAIRS]
    sums += [(pl.col("reward") * pl.col(name)).sum().alias(f"b_{name}") for name in FEATURES]
    return pl.scan_parquet(path).group_by("user").agg(pl.len().alias("n"), *sums).collect(engine="streaming")


def by_duckdb(path: str) -> Any:
    import duckdb

    sums = [f"sum({FEATURES[i]} * {FEATURES[j]}) AS g{i}_{j}" for i, j in _PAIRS]
    sums += [f"sum(reward * {name}) AS b_{name}" for name in FEATURES]
    columns = ", ".join(["user", "count(*) AS n", *sums])
    with duckdb.connect() as connection:
        connection.execute(f"PRAGMA threads={default_threads()}")
        query = f"SELECT {columns} FROM read_parquet(?) GROUP BY user"  # noqa: S608
        return connection.sql(query, params=[path]).to_arrow_table()


def by_numpy(path: str) -> dict[str, NDArray[Any]]:
    """Sort by user, then one matrix product a user: what one writes without a library."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    user = table["user"].to_numpy()
    order = np.argsort(user, kind="stable")
    rows = np.column_stack([table[name].to_numpy() for name in [*FEATURES, "reward"]])[order]
    ids, start = np.unique(user[order], return_index=True)
    products = np.stack([part.T @ part for part in np.split(rows, start[1:])])
    return {"user": ids, "products": products, "count": np.diff(np.append(start, len(user)))}


def by_reading(path: str) -> int:
    """Decode every column batch by batch and keep nothing: holding the table would measure the allocator."""
    import pyarrow.dataset as ds

    return sum(batch.num_rows for batch in ds.dataset(path).to_batches())


WAYS: dict[str, Callable[[str], Any]] = {
    "coterie": by_coterie,
    "Polars streaming": by_polars,
    "DuckDB": by_duckdb,
    "NumPy, sorted, a product a user": by_numpy,
    "only reading (PyArrow)": by_reading,
}


def agreement(path: str) -> float:
    """Largest difference of any sum between Coterie and the others, relative to the largest of its kind."""
    stats = by_coterie(path)
    numpy = by_numpy(path)
    rows, columns = np.tril_indices(DIM)
    assert np.array_equal(stats.users, numpy["user"])
    assert np.array_equal(stats.count, numpy["count"])
    worst = _apart(stats.packed_gram, numpy["products"][:, rows, columns])
    worst = max(worst, _apart(stats.moment, numpy["products"][:, -1, :DIM]))
    for gram, moment, count in (_of_table(by_polars(path).to_arrow()), _of_table(by_duckdb(path))):
        assert np.array_equal(stats.count, count)
        worst = max(worst, _apart(stats.packed_gram, gram), _apart(stats.moment, moment))
    return worst


def _of_table(table: Any) -> Iterator[NDArray[Any]]:
    ordered = table.sort_by("user")
    yield np.column_stack([ordered[f"g{i}_{j}"].to_numpy() for i, j in _PAIRS])
    yield np.column_stack([ordered[f"b_{name}"].to_numpy() for name in FEATURES])
    yield ordered["n"].to_numpy()


def _apart(left: NDArray[Any], right: NDArray[Any]) -> float:
    return float(np.abs(left - right).max() / np.abs(right).max())


def _call(way: Callable[[str], Any], path: str) -> Callable[[], object]:
    return lambda: way(path)
