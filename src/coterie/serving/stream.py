"""From a table of requests to a table of decisions, in bounded memory.

Takes: a model, a `RequestReader` and the name of a file.
Gives: a file of decisions, put in place in one step; the number of requests decided.
Next: `coterie.cli`.

Rows are read, and decided, by several threads, a few batches at a time, and written in the order of the
table; a request is decided by one thread, so that the file does not depend on their number, nor on whether
an earlier run was killed and this one goes on from what it had decided.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from coterie import array_file
from coterie.errors import FileError, LogError
from coterie.logs.logs import default_threads, in_order
from coterie.model import Model
from coterie.progress import Progress, silent
from coterie.serving.cuts import Cut
from coterie.serving.met import Met
from coterie.serving.parts import Parts, Tables, parts_of
from coterie.serving.requests import RequestReader, Requests

_ROW_GROUP = 1 << 16


def decide_file(
    model: Model,
    requests: RequestReader,
    out: str | os.PathLike[str],
    *,
    top: int | None = None,
    progress: Progress = silent,
    depends: str | None = None,
) -> int:
    """Number of requests decided and written to `out` (.parquet, .csv or .arrow).

    Columns: request, user, rank (with `top`), index, item (where requests name items), estimate, width,
    score, pooled_count, pooled_users, seen. `top` ranks the best so many actions of each request.

    With `depends`, a text that names all that the decisions depend on (the model, the requests, the
    settings), what is decided is kept beside `out` until the end, and a run after one that was killed goes
    on from there if its text is the same. The file is the same either way.
    """
    opener = _writer_for(Path(out))
    decided = 0
    _require_place(Path(out))
    keeping = nullcontext() if depends is None else parts_of(Path(out), depends)
    with keeping as parts:

        def save(temporary: Path) -> None:
            nonlocal decided
            writer = None
            try:
                for table in _regrouped(_counted(_tables(model, requests, top, parts, progress))):
                    writer = writer or opener(temporary, table.schema)
                    writer.write_table(table)
            finally:
                if writer is not None:
                    writer.close()
            if writer is None:
                raise LogError(f"{requests.source.name} has no requests; at least one is required")

        def _counted(tables: Iterator[Any]) -> Iterator[Any]:
            nonlocal decided
            for table in tables:
                decided += table.num_rows if top is None else _n_first(table)
                yield table

        array_file.replace_file(out, save)
    return decided


def _tables(
    model: Model, reader: RequestReader, top: int | None, parts: Parts | None, progress: Progress
) -> Iterator[Any]:
    """Tables of decisions in the order of the requests, those kept by an earlier run included."""
    total, met, skip = reader.n_rows(), Met(), 0
    kept = parts.kept() if parts is not None else []

    def fresh() -> Tables:
        def decided(cut: Cut) -> tuple[Any, int]:
            return decisions_table(model, reader.ready(cut), top, threads=1), cut.done

        threads = default_threads()
        yield from in_order(decided, reader.cuts(skip=skip, met=met, threads=threads), threads)

    tables = fresh() if parts is None else parts.tables(kept, fresh())
    for at, (table, done) in enumerate(tables):
        if at < len(kept):
            met.first_again(_first_of_each(table, top))
            skip = done
        yield table
        progress("deciding", done, total)


def _first_of_each(table: Any, top: int | None) -> Any:
    """Request ids of a table of decisions, each once."""
    import pyarrow.compute as pc

    once = table if top is None else table.filter(pc.equal(table["rank"], 1))
    return once["request"].combine_chunks()


def _n_first(table: Any) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(pc.equal(table["rank"], 1)).as_py() or 0)


def _regrouped(tables: Iterator[Any]) -> Iterator[Any]:
    """The rows of all tables in tables of `_ROW_GROUP` rows, so that the file does not show the parts."""
    import pyarrow as pa

    waiting: Any = None
    for table in tables:
        waiting = table if waiting is None else pa.concat_tables([waiting, table])
        while waiting.num_rows >= _ROW_GROUP:
            yield waiting.slice(0, _ROW_GROUP).combine_chunks()
            waiting = waiting.slice(_ROW_GROUP)
    if waiting is not None and waiting.num_rows:
        yield waiting.combine_chunks()


def decisions_table(model: Model, requests: Requests, top: int | None, threads: int | None = None) -> Any:
    """Arrow table of the decisions, a row per request, or per rank with `top`."""
    import pyarrow as pa

    ranks = min(top or 1, int(requests.sets.length.max()))
    rows = model.index.rows(requests.ids)
    decisions = model.decide_rows(rows, requests.sets, top=ranks, threads=threads)
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


def _require_place(out: Path) -> None:
    """Refuse a folder that is not there before the work, not after it."""
    if not out.parent.is_dir():
        raise FileError(f"there is no folder {str(out.parent)!r} to write {out.name!r} into; make it first")


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
