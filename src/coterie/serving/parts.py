"""Decisions kept part by part beside the file that they are for, so that a killed run can go on.

Takes: tables of decisions, each with the number of request rows read so far, and what they depend on.
Gives: the same tables; of an earlier run that depended on the same, those that were kept, read again.
Next: `stream`, which writes them all to one file.

A part is a file of its own, put in place in one step, and holds in its metadata what it depends on and
the rows that it covers; whatever else is in the folder is not believed.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie import array_file
from coterie.errors import FileError

_PART_ROWS = 1 << 18
_DEPENDS, _COVERS = b"coterie.depends", b"coterie.covers"

Tables = Iterator[tuple[Any, int]]


@dataclass(frozen=True)
class Parts:
    """A folder of parts; `depends` names everything that the decisions depend on."""

    folder: Path
    depends: str

    def tables(self, kept: list[Path], fresh: Tables) -> Tables:
        """Tables of the kept parts, then the fresh ones, which are kept from now on."""
        for path in kept:
            table, _ = _read(path)
            yield table.replace_schema_metadata(None), _covers(path)[1]
        yield from self._keeping(fresh, len(kept), _covers(kept[-1])[1] if kept else 0)

    def kept(self) -> list[Path]:
        """Parts that an earlier run left, as far as they follow on one another; all others are removed."""
        found: list[Path] = []
        done = 0
        for path in sorted(self.folder.iterdir()):
            covers = _covers(path, self.depends) if path.name == _name(len(found)) else (-1, -1)
            if covers[0] == done:
                done = covers[1]
                found.append(path)
            elif path.name != _LOCK:
                path.unlink()
        return found

    def _keeping(self, fresh: Tables, number: int, done: int) -> Tables:
        waiting: list[Any] = []
        for table, upto in fresh:
            yield table, upto
            waiting.append(table)
            if sum(one.num_rows for one in waiting) >= _PART_ROWS:
                self._keep(waiting, number, done, upto)
                waiting, number, done = [], number + 1, upto

    def _keep(self, tables: list[Any], number: int, first: int, done: int) -> None:
        import pyarrow as pa

        told = {_DEPENDS: self.depends.encode(), _COVERS: f"{first} {done}".encode()}
        table = pa.concat_tables(tables).replace_schema_metadata(told)

        def save(temporary: Path) -> None:
            with pa.ipc.new_file(str(temporary), table.schema) as writer:
                writer.write_table(table)

        array_file.replace_file(self.folder / _name(number), save)


_LOCK = "lock"


@contextmanager
def parts_of(out: Path, depends: str) -> Iterator[Parts]:
    """Folder of the parts of `out`, for one run at a time.

    It is removed in the end, and with the run's own refusals; it stays where the run is killed or
    interrupted, or a file cannot be written.
    """
    folder = out.with_name(f".{out.name}.parts")
    try:
        folder.mkdir(exist_ok=True)
        lock = (folder / _LOCK).open("w")
    except OSError as failure:
        raise FileError(f"{str(out)!r} cannot be written: {failure.strerror or failure}") from failure
    with lock:
        _require_alone(lock, out)
        try:
            yield Parts(folder, depends)
        except FileError:
            raise
        except Exception:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)


def stamp(path: str | os.PathLike[str]) -> list[object]:
    """What tells a file from another of the same name: absolute name, size and time of the last change."""
    found = Path(path).stat()
    return [str(Path(path).resolve()), found.st_size, found.st_mtime_ns]


def _require_alone(lock: Any, out: Path) -> None:
    """Refuse a second run for the same file; the system lets go of the lock when a run is killed."""
    with suppress(ImportError):  # where there are no such locks, two runs are the user's to avoid
        import fcntl

        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FileError(
                f"another run is writing {str(out)!r}; wait for it, or name another file"
            ) from None


def _name(number: int) -> str:
    return f"{number:06d}.arrow"


def _read(path: Path, columns: Callable[[Any], Any] = lambda reader: reader.read_all()) -> tuple[Any, Any]:
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        reader = pa.ipc.open_file(file)
        return columns(reader), reader.schema.metadata or {}


def _covers(path: Path, depends: str | None = None) -> tuple[int, int]:
    """Rows of the requests that a part covers; (-1, -1) for what is no part of these decisions."""
    import pyarrow as pa

    try:
        _, told = _read(path, lambda _: None)
        first, done = map(int, told[_COVERS].split())
    except (pa.ArrowException, OSError, KeyError, ValueError):
        return -1, -1
    return (first, done) if depends is None or told.get(_DEPENDS) == depends.encode() else (-1, -1)
