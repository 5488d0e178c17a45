"""How a file of each format is opened: its columns, its rows, and a stream of batches in bounded memory.

Takes: the path of one Parquet, CSV, TSV or Arrow IPC file.
Gives: an `OpenFile`, or the sentence that says why it cannot be read.
Next: `sources`, which strings files together.

Parquet and Arrow IPC are read on demand: Arrow's own reader of data sets runs ahead of a slow consumer
without bound, and keeps what it has buffered until the end of the file. Row groups of Parquet that are
small enough are read by whichever thread decodes them, several at a time; larger ones are streamed.
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from coterie.errors import FileError, LogError

Kinds = Mapping[str, Literal["number", "text", "id"]]

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "tsv",
    ".tsv.gz": "tsv",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}
_BUFFER = 1 << 17  # bytes of each column of a Parquet file that are read at a time
_MOST_REASON = 200  # characters of what Arrow says that are passed on
_BATCH_BYTES = 32 << 20  # of a Parquet file's columns, decoded, that are read at a time
_READ_AHEAD = 4  # blocks of a text file parsed ahead of use: enough to keep two cores busy, little memory


@dataclass(frozen=True, eq=False)
class Unread:
    """Some rows of a file that any thread may read: how many, and how."""

    num_rows: int
    read: Callable[[], Any]


@dataclass(frozen=True, eq=False)
class OpenFile:
    """Column names, rows (None where only reading tells) and `batches(columns, batch_rows)` of a file.

    A batch is an Arrow record batch or `Unread`.
    """

    names: list[str]
    n_rows: int | None
    batches: Callable[[list[str], int], Iterator[Any]]


def format_of(paths: list[str]) -> str:
    """The one format of all these files, told by their names."""
    formats = set()
    for path in paths:
        ending = suffix(Path(path))
        if ending not in FORMATS:
            raise FileError(
                f"{path!r} ends in {ending or 'nothing'}; Parquet (.parquet), CSV (.csv, .tsv, .csv.gz) and "
                "Arrow IPC (.arrow, .feather) can be read"
            )
        formats.add(FORMATS[ending])
    if len(formats) > 1:
        raise FileError(
            f"the files are of several formats ({', '.join(sorted(formats))}); read one format at a time"
        )
    return formats.pop()


def suffix(path: Path) -> str:
    """End of a file's name, in lower case; both ends of a compressed one."""
    name = path.name.lower()
    return "".join(Path(name).suffixes[-2:]) if name.endswith(".gz") else Path(name).suffix


@contextmanager
def opened(path: str, form: str, kinds: Kinds) -> Iterator[OpenFile]:
    """A file to read; what Arrow says against it becomes a sentence."""
    import pyarrow as pa

    try:
        yield _open(path, form, kinds)
    except (pa.ArrowException, OSError) as failure:
        raise _unreadable(path, form, str(failure)) from failure


def _open(path: str, form: str, kinds: Kinds) -> OpenFile:
    if form == "parquet":
        return _parquet(path)
    return _ipc(path) if form == "ipc" else _text(path, "\t" if form == "tsv" else ",", kinds)


def _parquet(path: str) -> OpenFile:
    import pyarrow.parquet as pq

    told = {"pre_buffer": False, "buffer_size": _BUFFER}
    file = pq.ParquetFile(path, **told)
    told["metadata"] = file.metadata

    def read(groups: list[int], columns: list[str]) -> Any:
        """Record batch of a few row groups, by a reader of its own."""
        with opened(path, "parquet", {}), pq.ParquetFile(path, **told) as own:
            rows = own.read_row_groups(groups, columns, use_threads=False).combine_chunks()
        return rows.to_batches()[0] if rows.num_rows else rows.schema.empty_table().to_batches()[0]

    def batches(columns: list[str], batch_rows: int) -> Iterator[Any]:
        most = min(batch_rows, _rows_within(file, columns))
        for groups, n in _groups_together(file.metadata, most):
            if n <= most:
                yield Unread(n, partial(read, groups, columns))
            else:
                yield from file.iter_batches(most, row_groups=groups, columns=columns)

    return OpenFile(list(file.schema_arrow.names), int(file.metadata.num_rows), batches)


def _groups_together(metadata: Any, most: int) -> Iterator[tuple[list[int], int]]:
    """Row groups of a Parquet file, small neighbours together up to so many rows, and their rows."""
    together: list[int] = []
    rows = 0
    for at in range(metadata.num_row_groups):
        n = metadata.row_group(at).num_rows
        if together and rows + n > most:
            yield together, rows
            together, rows = [], 0
        together.append(at)
        rows += n
    if together:
        yield together, rows


def _rows_within(file: Any, columns: list[str]) -> int:
    """Rows of these columns that are decoded into `_BATCH_BYTES`, told by the first row group."""
    if not file.metadata.num_row_groups:
        return 1
    group = file.metadata.row_group(0)
    chunks = (group.column(at) for at in range(group.num_columns))
    wanted = [chunk for chunk in chunks if chunk.path_in_schema.partition(".")[0] in columns]
    size = sum(max(chunk.total_uncompressed_size, 8 * chunk.num_values) for chunk in wanted)
    return max(1, _BATCH_BYTES * max(int(group.num_rows), 1) // max(int(size), 1))


def _ipc(path: str) -> OpenFile:
    import pyarrow as pa

    file = pa.memory_map(path)
    reader = pa.ipc.open_file(file)
    names = list(reader.schema.names)

    def batches(columns: list[str], batch_rows: int) -> Iterator[Any]:
        wanted = [at for at, name in enumerate(names) if name in columns]
        narrow = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=wanted))
        for at in range(narrow.num_record_batches):
            batch = narrow.get_batch(at)
            for start in range(0, batch.num_rows, batch_rows):
                yield batch.slice(start, batch_rows)

    return OpenFile(names, int(reader.count_rows()), batches)


def _text(path: str, delimiter: str, kinds: Kinds) -> OpenFile:
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.dataset as ds
    from pyarrow.fs import LocalFileSystem

    types = {"number": pa.float64(), "text": pa.string(), "id": pa.string()}
    ids = [name for name, kind in kinds.items() if kind == "id"]
    form = ds.CsvFileFormat(
        parse_options=pc.ParseOptions(delimiter=delimiter),
        convert_options=pc.ConvertOptions(
            column_types={name: types[kind] for name, kind in kinds.items()},
            strings_can_be_null=True,
            null_values=["", "NA", "null", "NULL", "None"],
        ),
    )
    fragment = form.make_fragment(path, filesystem=LocalFileSystem())

    def batches(columns: list[str], batch_rows: int) -> Iterator[Any]:
        ahead = {"batch_readahead": _READ_AHEAD, "fragment_readahead": 1}
        for rows in fragment.to_batches(columns=columns, batch_size=batch_rows, **ahead):
            for name in ids:
                at = rows.schema.get_field_index(name)
                rows = rows.set_column(at, name, typed_ids(rows.column(at)))  # noqa: PLW2901
            yield rows

    return OpenFile(list(fragment.physical_schema.names), None, batches)


def typed_ids(text: Any) -> Any:
    """Ids of a text file: integers if every one is written as integers are, without leading zeros.

    >>> import pyarrow as pa
    >>> typed_ids(pa.array(["7", "12"])).type, typed_ids(pa.array(["7", "007"])).type
    (DataType(int64), DataType(string))
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for kind in (pa.int64(), pa.uint64()):
        try:
            whole = pc.cast(text, kind)
        except pa.ArrowInvalid:
            continue
        if pc.all(pc.equal(pc.cast(whole, pa.string()), text)).as_py() is not False:
            return whole
    return text


def _unreadable(path: str, form: str, failure: str) -> FileError | LogError:
    """Sentence for what Arrow could not read: a value of a text file, or the file itself."""
    value = re.search(r"CSV conversion error to (\w+): invalid value '(.*)'", failure, re.DOTALL)
    if not value:
        reason = textwrap.shorten(
            failure.strip().split("\n", maxsplit=1)[0], _MOST_REASON, placeholder=" ..."
        )
        return FileError(f"{path} is not a readable {form} file (foreign, truncated or damaged): {reason}")
    at = re.search(r"In CSV column #(\d+)", failure)
    name = _open(path, form, {}).names[int(at[1])] if at else "?"
    row = re.search(r"Row #(\d+)", failure)
    seen = f"column {name!r} of {path} holds {value[2]!r}{f' in line {row[1]}' if row else ''}"
    if value[1] == "double":
        return LogError(f'{seen} where a number is required; mend it, or pass on_bad="drop" for a log')
    return LogError(
        f"{seen} where the first rows of the file hold {value[1]}; write one kind of value in the column, "
        "or keep the log as Parquet, which has types"
    )
