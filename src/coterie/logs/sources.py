"""Where rows come from: files, folders, globs, dataframes; each a stream of Arrow batches.

Takes: a path or an object with `__arrow_c_stream__`.
Gives: a `Source`: its column names, and pieces of rows with the place that they came from.
Next: `decode`.
"""

import difflib
import glob
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

from coterie.errors import FileError, LogError
from coterie.logs.formats import FORMATS, Kinds, Unread, format_of, opened, suffix

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # the name that Hive gives to the folder of nulls


@dataclass(frozen=True, eq=False)
class Piece:
    """Some consecutive rows, the place they are from and its first row there; read when first looked at."""

    held: Any
    where: str
    first_row: int

    @property
    def rows(self) -> Any:
        """The rows as an Arrow record batch.

        Not a `cached_property`, which before Python 3.12 has one lock for all pieces: they would be read
        one after the other, whatever the number of threads.
        """
        if "_rows" not in vars(self):
            vars(self)["_rows"] = self.held.read() if isinstance(self.held, Unread) else self.held
        return vars(self)["_rows"]


class Source(Protocol):
    """A table that can be read as a stream."""

    @property
    def name(self) -> str:
        """What a message calls it."""

    def columns(self) -> list[str]:
        """Names of its columns."""

    def n_rows(self) -> int | None:
        """Rows in it, where that is known without reading them."""

    def pieces(self, columns: list[str], batch_rows: int, kinds: Kinds) -> Iterator[Piece]:
        """Stream of its rows; `kinds` says how to read columns of a format that has no types."""


def open_source(source: object) -> Source:
    """Source of a path, a glob, a folder, a list of files or a dataframe."""
    if isinstance(source, str | Path):
        return FileSource.of(str(source))
    if isinstance(source, list | tuple) and source and all(isinstance(p, str | Path) for p in source):
        return FileSource.of(tuple(map(str, source)))
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "collect_batches"):
        return StreamSource(source)
    raise LogError(
        f"logs cannot be read from a {type(source).__name__}; give a file, a glob, a folder, a dataframe "
        "that speaks the Arrow stream protocol, or use Logs.from_arrays for NumPy arrays"
    )


def require_columns(present: list[str], wanted: Iterable[str], where: str) -> None:
    """Nothing, if every wanted column is there once; else the sentence that names it or the nearest ones."""
    for name in wanted:
        if name not in present:
            near = difflib.get_close_matches(name, present, n=3, cutoff=0.5) or present[:5]
            raise LogError(f"{where} has no column {name!r}; the nearest are {', '.join(map(repr, near))}")
        if present.count(name) > 1:
            raise LogError(f"{where} has {present.count(name)} columns {name!r}; rename all but one")


@dataclass(frozen=True, eq=False)
class FileSource:
    """Files of one format, read in the order of their names.

    A folder or a glob is looked up anew by every pass. Each file is read with its own types, so that parts
    written by several hands may differ in width. `key=value` folders (hive partitions) are columns, unless
    the file has the column itself.
    """

    place: str | tuple[str, ...]
    format: str

    @classmethod
    def of(cls, place: str | tuple[str, ...]) -> "FileSource":
        """Source of one file, several, a folder (hive partitions included) or a glob."""
        return cls(place, format_of(files_at(place)))

    @property
    def name(self) -> str:
        """What was given."""
        return self.place if isinstance(self.place, str) else self.place[0]

    def columns(self) -> list[str]:
        """Names of the columns in the first file, hive partitions included."""
        first = files_at(self.place)[0]
        with opened(first, self.format, {}) as file:
            inside = file.names
        return [*inside, *(name for name in _told_by_folders(first) if name not in inside)]

    def n_rows(self) -> int | None:
        """Rows by the files' own account; a text file has none."""
        total = 0
        for path in files_at(self.place):
            with opened(path, self.format, {}) as file:
                if file.n_rows is None:
                    return None
                total += file.n_rows
        return total

    def pieces(self, columns: list[str], batch_rows: int, kinds: Kinds) -> Iterator[Piece]:
        """Stream the files one after the other."""
        paths = files_at(self.place)
        types = _folder_types(paths)
        for path in paths:
            with opened(path, self.format, kinds) as file:
                told = {name: told for name, told in _told_by_folders(path).items() if name not in file.names}
                require_columns([*file.names, *told], columns, path)
                inside = [name for name in columns if name not in told]
                for first, rows in _counted(file.batches(inside, batch_rows)):
                    yield Piece(_completed(rows, columns, told, types) if told else rows, path, first)


def _counted(batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    """Batches that have rows, each with the number of rows before it."""
    first = 0
    for rows in batches:
        if rows.num_rows:
            yield first, rows
        first += rows.num_rows


@dataclass(frozen=True, eq=False)
class StreamSource:
    """Anything that gives an Arrow stream: pandas, Polars, PyArrow, DuckDB; a Polars LazyFrame too."""

    table: Any
    called: str = ""

    @property
    def name(self) -> str:
        """Type of the dataframe, unless it is called something else."""
        return self.called or f"the {type(self.table).__name__}"

    def columns(self) -> list[str]:
        """Names of its columns."""
        if hasattr(self.table, "collect_schema"):
            return list(self.table.collect_schema().names())
        schema = getattr(self.table, "schema", None)
        names = getattr(schema, "names", None)
        if isinstance(names, list):
            return list(names)
        columns = getattr(self.table, "columns", None)
        return [str(name) for name in columns] if columns is not None else self._reader().schema.names

    def n_rows(self) -> int | None:
        """Rows, where the dataframe has a length."""
        return len(self.table) if hasattr(self.table, "__len__") else None

    def pieces(self, columns: list[str], batch_rows: int, kinds: Kinds) -> Iterator[Piece]:  # noqa: ARG002
        """Stream the rows, long batches cut without a copy."""
        first = 0
        for batch in self._batches(columns):
            rows = batch.select(columns)
            for start in range(0, rows.num_rows, batch_rows):
                yield Piece(rows.slice(start, batch_rows), self.name, first + start)
            first += rows.num_rows
        if first == 0 and hasattr(self.table, "read_next_batch"):
            raise LogError(f"{self.name} gave no rows: a reader can be read once; read it into a table first")

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        import pyarrow as pa

        narrow = self._narrowed(columns)
        try:
            if hasattr(narrow, "collect_batches"):
                for frame in narrow.collect_batches():
                    yield from pa.table(frame).to_batches()
            else:
                yield from pa.RecordBatchReader.from_stream(narrow)
        except (pa.ArrowException, OSError) as failure:
            reason = " ".join(map(str, failure.args)).strip().split("\n", maxsplit=1)[0]
            raise LogError(
                f"{self.name} cannot be read as a table of Arrow: {reason}; give each column one type"
            ) from failure

    def _narrowed(self, columns: list[str]) -> Any:
        """Frame without the columns that nobody asked for, where it can leave them out unconverted."""
        if hasattr(self.table, "loc"):
            return self.table.loc[:, [str(name) in columns for name in self.table.columns]]
        return self.table.select(columns) if hasattr(self.table, "collect_schema") else self.table

    def _reader(self) -> Any:
        import pyarrow as pa

        return pa.RecordBatchReader.from_stream(self.table)


def files_at(place: str | tuple[str, ...]) -> list[str]:
    """Files that a path, a folder, a glob or a list of paths stands for now."""
    if isinstance(place, tuple):
        for path in place:
            if not Path(path).is_file():
                raise FileError(f"there is no file {path!r}; check the name and the working folder")
        return list(place)
    if Path(place).is_dir():
        inside = (path for path in Path(place).rglob("*") if _is_data(path, Path(place)))
        found = sorted(map(str, inside))
        if not found:
            raise FileError(f"folder {place!r} has no Parquet, CSV or Arrow file; name a folder that has")
        return found
    if glob.has_magic(place) and not Path(place).exists():
        found = sorted(p for p in glob.glob(place, recursive=True) if Path(p).is_file())  # noqa: PTH207
        if not found:
            raise FileError(f"no file matches {place!r}; check the pattern and the working folder")
        return found
    if not Path(place).exists():
        raise FileError(f"there is no file {place!r}; check the name and the working folder")
    return [place]


def _is_data(path: Path, folder: Path) -> bool:
    """Whether a file in a folder is part of the table: of a known format, and not hidden by `.` or `_`."""
    hidden = any(part[0] in "._" for part in path.relative_to(folder).parts)
    return not hidden and suffix(path) in FORMATS and path.is_file()


def _told_by_folders(path: str) -> dict[str, str | None]:
    """Columns that the folders of a file name, as in `user=7/part.parquet`."""
    pairs = (part.partition("=") for part in Path(path).parent.parts)
    return {
        unquote(name): None if value == _NO_VALUE else unquote(value)
        for name, equals, value in pairs
        if equals
    }


def _folder_types(paths: list[str]) -> dict[str, Any]:
    """Arrow type of each column that folders name: integers where every value is one, else text."""
    import pyarrow as pa

    values: dict[str, set[str]] = {}
    for path in paths:
        for name, value in _told_by_folders(path).items():
            values.setdefault(name, set()).update([] if value is None else [value])
    types = {}
    for name, texts in values.items():
        whole = bool(texts) and all(re.fullmatch(r"0|-?[1-9]\d{0,19}", text) for text in texts)
        numbers = [int(text) for text in texts] if whole else []
        fits = (kind for kind in (pa.int64(), pa.uint64()) if whole and _holds(kind, numbers))
        types[name] = next(fits, pa.string())
    return types


def _holds(kind: Any, numbers: list[int]) -> bool:
    bits = kind.bit_width
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if str(kind) == "int64" else (0, 2**bits)
    return low <= min(numbers) and max(numbers) < high


def _completed(
    rows: Any, columns: list[str], told: Mapping[str, str | None], types: Mapping[str, Any]
) -> Any:
    """Rows with the columns that their folders tell."""
    import pyarrow as pa

    if isinstance(rows, Unread):
        return Unread(rows.num_rows, lambda: _completed(rows.read(), columns, told, types))

    def column(name: str) -> Any:
        if name not in told:
            return rows.column(name)
        value, kind = told[name], types[name]
        whole = value is not None and pa.types.is_integer(kind)
        return pa.repeat(pa.scalar(int(value or 0) if whole else value, kind), rows.num_rows)

    return pa.RecordBatch.from_arrays([column(name) for name in columns], names=columns)
