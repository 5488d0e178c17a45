"""Where rows come from: files, folders, globs, dataframes; each a stream of Arrow batches.

Takes: a path or an object with `__arrow_c_stream__`.
Gives: a `Source`: its column names, and pieces of rows with the place that they came from.
Next: `decode`.
"""

import glob
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from coterie.errors import FileError, LogError

Kinds = Mapping[str, Literal["number", "text"]]

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".gz": "csv",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}
_READ_AHEAD = 4  # batches decoded ahead of use: enough to keep two cores busy, little memory


@dataclass(frozen=True, eq=False)
class Piece:
    """Some consecutive rows (an Arrow record batch), the place they are from and its first row there."""

    rows: Any
    where: str
    first_row: int


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
        return FileSource([str(p) for p in source], _format_of([str(p) for p in source]), str(source[0]))
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "collect_batches"):
        return StreamSource(source)
    raise LogError(
        f"logs cannot be read from a {type(source).__name__}; give a file, a glob, a folder, a dataframe "
        "that speaks the Arrow stream protocol, or use Logs.from_arrays for NumPy arrays"
    )


@dataclass(frozen=True, eq=False)
class FileSource:
    """Files of one format, read in the order of their names."""

    paths: list[str] | str
    format: str
    name: str

    @classmethod
    def of(cls, path: str) -> "FileSource":
        """Source of one file, a folder (hive partitions included) or a glob."""
        if glob.has_magic(path) and not Path(path).exists():
            found = sorted(p for p in glob.glob(path, recursive=True) if Path(p).is_file())  # noqa: PTH207
            if not found:
                raise FileError(f"no file matches {path!r}; check the pattern and the working folder")
            return cls(found, _format_of(found), path)
        if Path(path).is_dir():
            inside = sorted(str(p) for p in Path(path).rglob("*") if p.is_file() and p.suffix in FORMATS)
            if not inside:
                raise FileError(f"folder {path!r} has no Parquet, CSV or Arrow file; name a folder that has")
            return cls(path, _format_of(inside), path)
        if not Path(path).exists():
            raise FileError(f"there is no file {path!r}; check the name and the working folder")
        return cls([path], _format_of([path]), path)

    def columns(self) -> list[str]:
        """Names of the columns in the first file, hive partitions included."""
        return list(self._dataset({}).schema.names)

    def n_rows(self) -> int | None:
        """Rows by the files' own account; a CSV file has none."""
        return None if self.format == "csv" else int(self._dataset({}).count_rows())

    def pieces(self, columns: list[str], batch_rows: int, kinds: Kinds) -> Iterator[Piece]:
        """Stream the files one after the other."""
        import pyarrow as pa

        dataset = self._dataset(kinds)
        try:
            for fragment in dataset.get_fragments():
                first = 0
                for rows in fragment.to_batches(
                    schema=dataset.schema,
                    columns=columns,
                    batch_size=batch_rows,
                    batch_readahead=_READ_AHEAD,
                    fragment_readahead=1,
                ):
                    if rows.num_rows:
                        yield Piece(rows, fragment.path, first)
                    first += rows.num_rows
        except (pa.ArrowInvalid, OSError) as failure:
            raise _unreadable(self, failure) from failure

    def _dataset(self, kinds: Kinds) -> Any:
        import pyarrow as pa
        import pyarrow.dataset as ds

        try:
            return ds.dataset(
                self.paths,
                format=self._csv_format(kinds) if self.format == "csv" else self.format,
                partitioning="hive",
                exclude_invalid_files=False,
            )
        except (pa.ArrowInvalid, OSError) as failure:
            raise _unreadable(self, failure) from failure

    def _csv_format(self, kinds: Kinds) -> Any:
        import pyarrow as pa
        import pyarrow.csv as pc
        import pyarrow.dataset as ds

        types = {"number": pa.float64(), "text": pa.string()}
        first = self.paths if isinstance(self.paths, str) else self.paths[0]
        return ds.CsvFileFormat(
            parse_options=pc.ParseOptions(delimiter="\t" if ".tsv" in first else ","),
            convert_options=pc.ConvertOptions(
                column_types={name: types[kind] for name, kind in kinds.items()},
                strings_can_be_null=True,
                null_values=["", "NA", "null", "NULL", "None"],
            ),
        )


@dataclass(frozen=True, eq=False)
class StreamSource:
    """Anything that gives an Arrow stream: pandas, Polars, PyArrow, DuckDB; a Polars LazyFrame too."""

    table: Any

    @property
    def name(self) -> str:
        """Type of the dataframe."""
        return f"the {type(self.table).__name__}"

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
        for batch in self._batches():
            rows = batch.select(columns)
            for start in range(0, rows.num_rows, batch_rows):
                yield Piece(rows.slice(start, batch_rows), self.name, first + start)
            first += rows.num_rows
        if first == 0 and hasattr(self.table, "read_next_batch"):
            raise LogError(f"{self.name} gave no rows: a reader can be read once; read it into a table first")

    def _batches(self) -> Iterator[Any]:
        import pyarrow as pa

        if hasattr(self.table, "collect_batches"):
            for frame in self.table.collect_batches():
                yield from pa.table(frame).to_batches()
        else:
            yield from self._reader()

    def _reader(self) -> Any:
        import pyarrow as pa

        return pa.RecordBatchReader.from_stream(self.table)


def _format_of(paths: list[str]) -> str:
    formats = set()
    for path in paths:
        suffix = Path(path).suffix.lower()
        if suffix not in FORMATS:
            raise FileError(
                f"{path!r} ends in {suffix or 'nothing'}; Parquet (.parquet), CSV (.csv, .tsv, .csv.gz) and "
                "Arrow IPC (.arrow, .feather) can be read"
            )
        formats.add(FORMATS[suffix])
    if len(formats) > 1:
        raise FileError(
            f"the files are of several formats ({', '.join(sorted(formats))}); read one format at a time"
        )
    return formats.pop()


def _unreadable(source: FileSource, failure: Exception) -> FileError | LogError:
    """Sentence for what Arrow could not read: a value of a CSV file, or the file itself."""
    value = re.search(r"CSV conversion error to (\w+): invalid value '(.*)'", str(failure))
    if value:
        column = re.search(r"In CSV column #(\d+)", str(failure))
        name = source.columns()[int(column[1])] if column else "?"
        row = re.search(r"Row #(\d+)", str(failure))
        line = f" in line {row[1]}" if row else ""
        return LogError(
            f"column {name!r} of {source.name} holds {value[2]!r}{line} where a number is required; "
            'mend it, or pass on_bad="drop"'
        )
    reason = str(failure).strip().split("\n", maxsplit=1)[0]
    return FileError(
        f"{source.name} is not a readable {source.format} file (foreign, truncated or damaged): {reason}"
    )
