"""Per-user sums from Parquet: Coterie, Polars streaming, DuckDB and NumPy, against only reading the file.

Everybody computes the same numbers for each user: the d (d + 1) / 2 products, the d moments and the
count; Coterie adds sum(r^2), the longest action, and checks every value. The file is made on the fly:
one column a feature, PyArrow's default compression and encoding, row groups of 131,072. With many users
every alternative runs in a process of its own. COTERIE_BENCH_DATA names a folder in which the files (9 GB)
are kept for the next time; one in memory keeps a slow disk out of the times.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import Claim, Measurement, Result, interleaved, isolated, measured, ratio
from numpy.typing import NDArray

import coterie as ct
from coterie.logs.logs import default_threads
from coterie.packed import packed_size
from coterie.statistics import _kernels
from coterie.statistics.totals import in_user_order

DIM, ROWS, USERS, ROW_GROUP = 20, 2_000_000, 10_000, 131_072
LARGE_ROWS, MANY_USERS = 20_000_000, 500_000
DISTINCT, FEW = 10_000_000, 4  # users with a row each, and the coordinates of its action
_MIB, _MOST_BESIDE = 2**20, 512
FEATURES = [f"f{j}" for j in range(DIM)]
_PAIRS = [(i, j) for i in range(DIM) for j in range(i + 1)]  # the packed order of Coterie
_TOLERANCE = 1e-9
_PEERS = ("Polars streaming", "DuckDB")
_BEST_KERNEL = 0.09  # seconds of one thread for 2,000,000 rows: register-blocked C, of a prototype
_SUMS = packed_size(DIM) + DIM + 1


def run(*, quick: bool = False) -> Result:
    """Three files; times in turns, peak memory of each alternative in a process of its own."""
    small, large, many = (100_000, 300_000, 20_000) if quick else (ROWS, LARGE_ROWS, MANY_USERS)
    users = 500 if quick else USERS
    kept = os.environ.get("COTERIE_BENCH_DATA")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(kept or made)
        found = [
            _small(_file(folder, small, users), small, rounds=3 if quick else 5),
            _large(_file(folder, large, users), large, users),
            _many_users(folder, large, many, _file(folder, small, users)),
            _distinct(folder, 100_000 if quick else DISTINCT),
            _arithmetic(small, users),
        ]
    measurements = [one for part, _ in found for one in part]
    sizes = {"d": DIM, "sums": _SUMS, "users": users, "many users": many}
    return Result("summarize", measurements, [claim for _, claims in found for claim in claims], sizes)


Found = tuple[list[Measurement], list[Claim]]


def _small(path: str, rows: int, rounds: int) -> Found:
    """All alternatives, and that they agree."""
    deviation = agreement(path)
    times = interleaved({name: _call(way, path) for name, way in WAYS.items()}, rounds)
    peaks = {name: isolated(way, path=path)["peak_mb"] for name, way in WAYS.items()}
    claim = "largest difference from the others' sums, relative to the largest sum"
    case = f"{rows:,} rows"
    return measured(case, times, "coterie", work=rows, peak_mb=peaks), [Claim(claim, deviation, _TOLERANCE)]


def _large(path: str, rows: int, users: int) -> Found:
    """Those that stream."""
    by_reading(path)
    names = ("coterie", *_PEERS, "only reading (PyArrow)")
    times = interleaved({name: _call(WAYS[name], path) for name in names}, rounds=2, warm_up=0)
    peaks = {name: isolated(WAYS[name], path=path)["peak_mb"] for name in names}
    faster = {name: ratio(times, name, "coterie") for name in _PEERS}
    where = f"{rows:,} rows, {users:,} users"
    claims = [
        Claim(f"{where}: times faster than {name}", faster[name], least, at_least=True)
        for name, least in zip(_PEERS, (3, 5), strict=True)
    ]
    return measured(where, times, "coterie", work=rows, peak_mb=peaks), claims


def _many_users(folder: Path, rows: int, users: int, other: str) -> Found:
    """Each in a process of its own, which has summed another file before the clock starts.

    Polars needs 40 times the final sums, so it gets a quarter of the rows and of the users.
    """
    found, claims = _alone(_file(folder, rows, users), rows, users, other, "DuckDB", least=6)
    peak = next(one.peak_mb for one in found if one.name == "coterie") or 0
    state = users * 8 * _SUMS / _MIB
    where = f"{rows:,} rows, {users:,} users: peak memory"
    claims += [
        Claim(f"{where} in units of the sums", peak / state, 2.5),
        Claim(f"{where} beside the sums, MiB, libraries included", peak - state, _MOST_BESIDE),
    ]
    fewer, more = rows // 4, users // 4
    polars, slower = _alone(_file(folder, fewer, more), fewer, more, other, "Polars streaming", least=8)
    return found + polars, claims + slower


def _alone(path: str, rows: int, users: int, other: str, peer: str, least: float) -> Found:
    """Coterie three times, a peer and only reading once."""
    names = ["only reading (PyArrow)", *["coterie"] * 3, peer]
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in ("coterie", *names)}
    for name in names:
        runs[name].append(isolated(WAYS[name], before={"path": other}, path=path))
    times = {name: [sorted(one["seconds"] for one in done)[len(done) // 2]] for name, done in runs.items()}
    peaks = {name: max(one["peak_mb"] for one in done) for name, done in runs.items()}
    where = f"{rows:,} rows, {users:,} users"
    faster = times[peer][0] / times["coterie"][0]
    claims = [Claim(f"{where}: times faster than {peer}", faster, least, at_least=True)]
    return measured(where, times, "coterie", work=rows, peak_mb=peaks), claims


def _distinct(folder: Path, users: int) -> Found:
    """As many users as rows, with integer and with text ids; what is beside the sums and the ids."""
    case = f"{users:,} rows of as many users, d = {FEW}"
    found = []
    for kind in ("integer", "text"):
        path = folder / f"distinct_{kind}_{users}.parquet"
        _make_distinct(str(path), users, kind)
        one = isolated(by_coterie_distinct, path=str(path))
        path.unlink()
        times = {f"{kind} ids": [one["seconds"]]}
        found += measured(case, times, work=users, peak_mb={f"{kind} ids": one["peak_mb"]})
    return found, []


def _make_distinct(path: str, users: int, kind: str) -> None:
    """Ids in random order, the texts of twelve characters."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    rng = np.random.default_rng(12)
    ids = pa.array(rng.permutation(users) * 37)
    if kind == "text":
        ids = pc.utf8_lpad(pc.cast(ids, pa.string()), 12, "u")
    columns = {name: rng.uniform(-0.5, 0.5, users) for name in (*FEATURES[:FEW], "reward")}
    pq.write_table(pa.table({"user": ids, **columns}), path, row_group_size=ROW_GROUP)


def by_coterie_distinct(path: str) -> None:
    stats = ct.summarize(ct.read_logs(path, user="user", action=FEATURES[:FEW], reward="reward"))
    assert (stats.count == 1).all()


def _arithmetic(rows: int, users: int) -> Found:
    """One thread, rows in memory, sorting them by user included."""
    rng = np.random.default_rng(0)
    n = min(rows, ROW_GROUP)
    row, action, reward = rng.integers(0, users, n), rng.standard_normal((n, DIM)), rng.standard_normal(n)
    sums = [np.zeros((users, *shape)) for shape in ((), (DIM,), (packed_size(DIM),), (), ())]
    kernel = _kernels.accumulate_for(DIM)

    def add() -> None:
        for _ in range(rows // n):
            kernel(*in_user_order([row]), [action], [reward], [], *sums)

    done = rows // n * n
    times = interleaved({"sums alone, one thread": add}, rounds=5)
    found = measured("arithmetic, rows in memory", times, work=done)
    limit = 1.5 * _BEST_KERNEL * done / ROWS
    return found, [Claim(f"seconds of one thread for the sums of {done:,} rows", found[0].seconds, limit)]


def _file(folder: Path, rows: int, users: int) -> str:
    """Path of a file, made unless it is there."""
    path = folder / f"events_{rows}_{users}.parquet"
    if not path.exists():
        make_file(str(path), rows, users)
    return str(path)


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
