"""How a file of each format is opened: its columns, its rows, and a stream of batches in bounded memory.

Takes: the path of one Parquet, CSV, TSV or Arrow IPC file.
Gives: an `OpenFile`, or the sentence that says why it cannot be read.
Next: `sources`, which strings files together.

Parquet and Arrow IPC are read on demand: Arrow's own reader of data sets runs ahead of a slow consumer
without bound, and keeps what it has buffered until the end of the file.
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
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
_BUFFER = 1 << 20  # bytes of each column of a Parquet file that are read at a time
_MOST_REASON = 200  # characters of what Arrow says that are passed on
_READ_AHEAD = 4  # blocks of a text file parsed ahead of use: enough to keep two cores busy, little memory


@dataclass(frozen=True, eq=False)
class OpenFile:
    """Column names, rows (None where only reading tells) and `batches(columns, batch_rows)` of a file."""

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

    file = pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER)

    def batches(columns: list[str], batch_rows: int) -> Iterator[Any]:
        yield from file.iter_batches(batch_rows, columns=columns)

    return OpenFile(list(file.schema_arrow.names), int(file.metadata.num_rows), batches)


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
