"""Finished cells are kept: one small file each, so that a run that was killed goes on where it was.

Takes: cells and how to run one.
Gives: all rows, in the order of the cells, whatever order they were finished in.
Next: `tables`, `figures`.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread

import msgspec

from coterie.array_file import replace_file
from coterie.experiments.cell import Row, run
from coterie.experiments.methods import METHODS, methods_of
from coterie.experiments.settings import Cell
from coterie.progress import Progress, silent

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def rows_of(
    cells: Sequence[Cell],
    out: Path,
    folder: str | None,
    jobs: int,
    progress: Progress = silent,
    *,
    methods: Sequence[str] | None = None,
) -> list[Row]:
    """Rows of all cells; methods that have a row in `out/cells` are not run again.

    `methods` are those asked for; unless given, the cells' own.
    """
    kept = out / "cells"
    kept.mkdir(parents=True, exist_ok=True)
    asked = {cell: methods_of(cell) if methods is None else tuple(methods) for cell in cells}
    missing = [cell for cell in cells if _missing(kept, cell, asked[cell])]
    done = len(cells) - len(missing)
    progress("cells", done, len(cells))
    # The largest first, so that no process is left with one at the end.
    missing.sort(key=lambda cell: -cell.size)
    todo = [(cell, kept, folder, asked[cell]) for cell in missing]
    for _ in _finished(todo, jobs):
        done += 1
        progress("cells", done, len(cells))
    return [
        row
        for cell in cells
        for row in _read(kept, cell)
        if row.method in asked[cell] or row.method.startswith("bound:")
    ]


def _finished(todo: Sequence[tuple[Cell, Path, str | None, Sequence[str]]], jobs: int) -> Iterator[None]:
    """Run the cells in processes; one item as each is done. The first failure ends the others' waiting."""
    if not todo:
        return
    with (
        _one_thread_each(),
        ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_end_with_parent) as pool,
    ):
        futures = [pool.submit(keep, *one) for one in todo]
        try:
            yield from (future.result() for future in as_completed(futures))
        finally:
            pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """Let this process end when the one that started it was killed, rather than wait for work for ever."""
    parent = parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()


def keep(cell: Cell, kept: Path, folder: str | None, names: Sequence[str]) -> None:
    """Run the methods that have no row yet and write all rows in one step."""
    known = _read(kept, cell)
    order = {name: at for at, name in enumerate(METHODS)}
    rows = [*known, *run(cell, folder, _missing(kept, cell, names))]
    rows.sort(key=lambda row: order.get(row.method, len(order)))
    replace_file(_file(kept, cell), lambda path: path.write_bytes(msgspec.json.encode(rows)))


def _missing(kept: Path, cell: Cell, names: Sequence[str]) -> list[str]:
    """Methods without a row; one that needs clusters has none where there are no clusters."""
    known = {row.method for row in _read(kept, cell)}
    possible = cell.dataset == "synthetic"
    return [
        name
        for name in names
        if name not in known and METHODS[name].is_installed and (possible or not METHODS[name].clusters)
    ]


def _read(kept: Path, cell: Cell) -> list[Row]:
    """Rows that are kept."""
    file = _file(kept, cell)
    return msgspec.json.decode(file.read_bytes(), type=list[Row]) if file.is_file() else []


def _file(kept: Path, cell: Cell) -> Path:
    return kept / f"{cell.name}.json"


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started meanwhile use one thread: all cores are busy, and sums have one order."""
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
