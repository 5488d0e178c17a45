"""Finished cells are kept: one small file each, so that a run that was killed goes on where it was.

Takes: cells and how to run one.
Gives: all rows, in the order of the cells, whatever order they were finished in.
Next: `tables`, `figures`.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import msgspec

from coterie.array_file import replace_file
from coterie.experiments.cell import Row, run
from coterie.experiments.settings import Cell
from coterie.progress import Progress, silent

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def rows_of(
    cells: Sequence[Cell], out: Path, folder: str | None, jobs: int, progress: Progress = silent
) -> list[Row]:
    """Rows of all cells; those with a file in `out/cells` are not run again."""
    kept = out / "cells"
    kept.mkdir(parents=True, exist_ok=True)
    missing = [cell for cell in cells if not _file(kept, cell).is_file()]
    done = len(cells) - len(missing)
    progress("cells", done, len(cells))
    if missing:
        with _one_thread_each(), ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            futures = [pool.submit(_kept, cell, kept, folder) for cell in missing]
            for future in as_completed(futures):
                future.result()
                done += 1
                progress("cells", done, len(cells))
    decoder = msgspec.json.Decoder(list[Row])
    return [row for cell in cells for row in decoder.decode(_file(kept, cell).read_bytes())]


def _kept(cell: Cell, kept: Path, folder: str | None) -> None:
    """Run a cell and write its rows in one step."""
    rows = msgspec.json.encode(run(cell, folder))
    replace_file(_file(kept, cell), lambda path: path.write_bytes(rows))


def _file(kept: Path, cell: Cell) -> Path:
    return kept / f"{cell.name}.json"


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started meanwhile use one BLAS thread: all cores are busy, and sums have one order."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
