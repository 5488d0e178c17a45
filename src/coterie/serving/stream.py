"""From a table of requests to a table of decisions, in bounded memory.

Takes: a model, a `RequestReader` and the name of a file.
Gives: a file of decisions, put in place in one step; the number of requests decided.
Next: `coterie.cli`.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from coterie import array_file
from coterie.errors import FileError, LogError
from coterie.model import Model
from coterie.progress import Progress, silent
from coterie.serving.requests import RequestReader, Requests

_ROW_GROUP = 1 << 16


def decide_file(
    model: Model,
    requests: RequestReader,
    out: str | os.PathLike[str],
    *,
    top: int | None = None,
    progress: Progress = silent,
) -> int:
    """Number of requests decided and written to `out` (.parquet, .csv or .arrow).

    Columns: request, user, rank (with `top`), index, item (where requests name items), estimate, width,
    score, pooled_count, pooled_users, seen. `top` ranks the best so many actions of each request.
    """
    opener = _writer_for(Path(out))
    decided = 0

    def save(temporary: Path) -> None:
        nonlocal decided
        writer = None
        try:
            for table, n in _gathered(_decided(model, requests, top, progress)):
                writer = writer or opener(temporary, table.schema)
                writer.write_table(table)
                decided += n
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            raise LogError(f"{requests.source.name} has no requests; at least one is required")

    array_file.replace_file(out, save)
    return decided


def _decided(
    model: Model, reader: RequestReader, top: int | None, progress: Progress
) -> Iterator[tuple[Any, int]]:
    total = reader.n_rows()
    for requests, done in reader.batches():
        yield decisions_table(model, requests, top), len(requests.request)
        progress("deciding", done, total)


def _gathered(tables: Iterator[tuple[Any, int]]) -> Iterator[tuple[Any, int]]:
    """Tables joined until they are worth a row group of their own, each with its number of requests."""
    import pyarrow as pa

    waiting: list[Any] = []
    requests = 0
    for table, n in tables:
        waiting.append(table)
        requests += n
        if sum(part.num_rows for part in waiting) >= _ROW_GROUP:
            yield pa.concat_tables(waiting), requests
            waiting, requests = [], 0
    if waiting:
        yield pa.concat_tables(waiting), requests


def decisions_table(model: Model, requests: Requests, top: int | None) -> Any:
    """Arrow table of the decisions, a row per request, or per rank with `top`."""
    import pyarrow as pa

    ranks = min(top or 1, int(requests.sets.length.max()))
    decisions = model.decide_rows(model.index.rows(requests.ids), requests.sets, top=ranks)
    kept = decisions.index.ravel() >= 0
    owner = np.repeat(np.arange(len(decisions)), ranks)[kept]
    index = decisions.index.ravel()[kept]
    columns: dict[str, Any] = {"request": requests.request.take(owner), "user": requests.user.take(owner)}
    if top is not None:
        columns["rank"] = pa.array(np.tile(np.arange(1, ranks + 1), len(decisions))[kept])
    columns["index"] = pa.array(index)
    if requests.item is not None:
        columns["item"] = requests.item.take(requests.sets.start[owner] + index)
    columns |= {
        "estimate": pa.array(decisions.estimate.ravel()[kept]),
        "width": pa.array(decisions.width.ravel()[kept]),
        "score": pa.array(decisions.score.ravel()[kept]),
        "pooled_count": pa.array(decisions.pooled_count[owner]),
        "pooled_users": pa.array(decisions.pooled_users[owner]),
        "seen": pa.array(decisions.seen[owner]),
    }
    return pa.table(columns)


def _writer_for(out: Path) -> Callable[[Path, Any], Any]:
    """Opener of a writer of the format that the file's name asks for."""
    openers = {".parquet": _parquet, ".csv": _csv, ".arrow": _arrow}
    if out.suffix.lower() not in openers:
        raise FileError(f"decisions cannot be written to {str(out)!r}; name a .parquet, .csv or .arrow file")
    return openers[out.suffix.lower()]


def _parquet(path: Path, schema: Any) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetWriter(path, schema)


def _csv(path: Path, schema: Any) -> Any:
    import pyarrow.csv as pc

    return pc.CSVWriter(path, schema)


def _arrow(path: Path, schema: Any) -> AbstractContextManager[Any]:
    import pyarrow as pa

    writer: AbstractContextManager[Any] = pa.ipc.new_file(str(path), schema)
    return writer
