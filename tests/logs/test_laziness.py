"""Nothing is read before it is needed, more than once, or all at once."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.logs.rows import LISTS, NAMED, TABLE, require_sums

import coterie as ct
from coterie.errors import LogError
from coterie.logs.logs import in_order


def test_a_reader_is_read_once() -> None:
    logs = ct.read_logs(TABLE.to_reader(), **NAMED)
    ct.summarize(logs)
    with pytest.raises(LogError, match=r"^the RecordBatchReader gave no rows: a reader can be read once"):
        ct.summarize(logs)
    peeked = ct.read_logs(LISTS.to_reader(), user="u", action="f", reward="r")
    assert peeked.dim == 2
    with pytest.raises(LogError, match=r"a reader can be read once"):
        ct.summarize(peeked)


def test_nothing_is_read_before_it_is_needed(tmp_path: Path) -> None:
    """Bad rows are no error until summed up; a folder may grow between two passes."""
    (tmp_path / "log.csv").write_text("u,x,y,r\n1,1,1,oops\n")
    bad = ct.read_logs(tmp_path / "log.csv", **NAMED)
    assert bad.dim == 2
    with pytest.raises(LogError, match=r"oops"):
        ct.summarize(bad)
    (tmp_path / "log.csv").unlink()
    pq.write_table(TABLE.slice(0, 3), tmp_path / "0.parquet")
    logs = ct.read_logs(tmp_path, **NAMED)
    assert ct.summarize(logs).n_samples == logs.n_rows() == 3
    pq.write_table(TABLE.slice(3), tmp_path / "1.parquet")
    require_sums(ct.summarize(logs))


def test_a_stream_is_not_read_ahead_of_need() -> None:
    """Of 1,000 batches, the first one of the log asks for a few."""
    given = 0

    def batches() -> Any:
        nonlocal given
        for _ in range(1000):
            given += 1
            yield from TABLE.to_batches()

    reader = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    logs = ct.read_logs(reader, **NAMED)
    assert given == 0
    assert len(next(iter(logs.batches(threads=2)))) == 6
    assert given <= 5


PEAK = """
import resource, sys
import coterie as ct
def peak(path):
    stats = ct.summarize(ct.read_logs(path, user="u", action=[f"f{j}" for j in range(16)], reward="r"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
small = peak(sys.argv[1])
print(peak(sys.argv[2]) - small)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss")
def test_memory_is_bounded(tmp_path: Path) -> None:
    """816 MB of rows need less than 400 MB more than 2 MB of rows do: they are not held at once."""
    n = 15_000
    columns = {"u": np.arange(n) % 50, "r": np.ones(n), **{f"f{j}": np.ones(n) for j in range(16)}}
    table = pa.table(columns)
    with pq.ParquetWriter(tmp_path / "large.parquet", table.schema, use_dictionary=False) as writer:
        for _ in range(400):
            writer.write_table(table)
    pq.write_table(table, tmp_path / "small.parquet", use_dictionary=False)
    files = [str(tmp_path / "small.parquet"), str(tmp_path / "large.parquet")]
    assert table.nbytes * 400 > 800e6
    run = subprocess.run([sys.executable, "-c", PEAK, *files], check=True, capture_output=True, text=True)
    assert int(run.stdout) < 400


def test_a_stream_left_in_the_middle_is_closed_without_waiting_for_threads() -> None:
    """The garbage collector may close it in a thread that holds the lock that a thread needs to end."""
    held = getattr(threading, "_shutdown_locks_lock", threading.Lock())
    stream: Any = in_order(str, iter(range(100)), 2)
    assert next(stream) == "0"

    def close() -> None:
        with held:
            stream.close()

    closing = threading.Thread(target=close, daemon=True)
    closing.start()
    closing.join(timeout=20)
    assert not closing.is_alive()
