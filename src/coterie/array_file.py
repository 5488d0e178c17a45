"""Arrays in one file: the safetensors format with a JSON manifest, written atomically, read by mapping.

Takes: named arrays and a manifest.
Gives: a file that is either the old one or the new one complete; arrays mapped from it on reading.
Next: `coterie.statistics` and `coterie.model_file`, which say which arrays there are.
"""

import glob
import json
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from coterie.errors import FileError

FORMAT_VERSION = 1
_KEY = "coterie"
_SEAL = "coterie.checksum"
_VERIFY_UP_TO = 256 << 20  # bytes that are checksummed on opening (about 0.2 s); larger files on request
_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "U64": "<u8", "I32": "<i4", "U32": "<u4", "U8": "|u1"}
_NAMES = {np.dtype(text): name for name, text in _DTYPES.items()}
_LARGEST_HEADER = 100 << 20

Arrays = Mapping[str, NDArray[Any]]


class Manifest(msgspec.Struct, frozen=True):
    """What a file is: its kind, versions, parameters and the CRC-32 of every array."""

    kind: str
    format_version: int
    package_version: str
    parameters: dict[str, Any]
    checksums: dict[str, int]


@dataclass(frozen=True, eq=False)
class ArrayFile:
    """An opened file: its manifest and its arrays, mapped and read-only."""

    manifest: Manifest
    arrays: Arrays


def write(path: str | os.PathLike[str], kind: str, arrays: Arrays, parameters: Mapping[str, Any]) -> None:
    """Write a file beside `path` and put it in place in one step, so that no reader sees half of it."""
    widest_first = sorted(arrays.items(), key=lambda entry: -_storable_width(entry[1]))
    stored = {name: _storable(array) for name, array in widest_first}  # so that each begins aligned
    manifest = Manifest(
        kind=kind,
        format_version=FORMAT_VERSION,
        package_version=version("coterie"),
        parameters=dict(parameters)
        | {"_shapes": {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}},
        checksums={name: _checksum(array) for name, array in stored.items()},
    )
    replace_file(path, lambda temporary: _save(temporary, stored, manifest))


def replace_file(path: str | os.PathLike[str], save: Any) -> None:
    """Let `save(temporary path)` write a new file and move it to `path` once it is safely on disk."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileError(
            f"there is no folder {str(target.parent)!r} to write {target.name!r} into; make it first"
        )
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial")
    _remove_left(target)
    try:
        save(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as failure:
        raise FileError(f"{str(target)!r} cannot be written: {failure.strerror or failure}") from failure
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _remove_left(target: Path) -> None:
    """Remove what runs that were killed left of new files for this place; those of others are kept."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.partial"):
        writer = left.name.split(".")[-2]
        if writer.isdecimal() and os.name == "posix" and not _runs(int(writer)):
            with suppress(OSError):
                left.unlink()


def _runs(process: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def read(path: str | os.PathLike[str], kinds: tuple[str, ...], *, verify: bool | None = None) -> ArrayFile:
    """Open a file of one of `kinds`; `verify` checks all checksums (default: in files up to 256 MiB)."""
    file = Path(path)
    if not file.is_file():
        raise FileError(f"there is no file {str(file)!r}; check the name and the working folder")
    size = file.stat().st_size
    header, start = _header(file, size)
    manifest = _manifest(file, header)
    if manifest.kind not in kinds:
        raise FileError(
            f"{str(file)!r} holds {manifest.kind!r}; {' or '.join(map(repr, kinds))} is required here"
        )
    arrays = _mapped(file, header, start, size)
    if verify or (verify is None and size <= _VERIFY_UP_TO):
        for name, array in arrays.items():
            if _checksum(array) != manifest.checksums.get(name):
                raise damaged(file, f"the array {name!r} is not what was written")
    shapes = manifest.parameters.get("_shapes", {})
    return ArrayFile(manifest, {name: _restored(array, *shapes[name]) for name, array in arrays.items()})


def _storable_width(array: NDArray[Any]) -> int:
    return 4 if array.dtype.kind == "U" else array.dtype.itemsize


def _storable(array: NDArray[Any]) -> NDArray[Any]:
    """Array in a type that the format has; fixed-width text becomes its code points."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "U":
        width = array.dtype.itemsize // 4
        return (
            array.view(np.uint32).reshape(len(array), width)
            if array.size
            else np.zeros((0, width), np.uint32)
        )
    return array


def _restored(array: NDArray[Any], dtype: str, shape: list[int]) -> NDArray[Any]:
    if dtype[1:2] == "U":
        return array.view(dtype).reshape(shape) if array.size else np.zeros(shape, dtype)
    return array


def _save(path: Path, arrays: Arrays, manifest: Manifest) -> None:
    """Write header and arrays one after the other, without a second copy in memory."""
    header: dict[str, Any] = {}
    at = 0
    for name, array in arrays.items():
        end = at + array.nbytes
        header[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [at, end]}
        at = end
    described = json.dumps(msgspec.to_builtins(manifest))  # which keeps infinities, as msgspec does not
    sealed = {_KEY: described, _SEAL: _seal(described, header)}
    text = json.dumps({"__metadata__": sealed, **header}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for array in arrays.values():
            file.write(_bytes(array))


def _header(file: Path, size: int) -> tuple[dict[str, Any], int]:
    try:
        with file.open("rb") as opened:
            length = int.from_bytes(opened.read(8), "little")
            if size < 8 or length > min(size - 8, _LARGEST_HEADER):  # noqa: PLR2004
                raise damaged(file, "it is too short, or no file of this library")
            header = json.loads(opened.read(length))
    except OSError as failure:
        raise FileError(f"{str(file)!r} cannot be read: {failure.strerror or failure}") from failure
    except (ValueError, RecursionError) as failure:
        if isinstance(failure, FileError):
            raise
        raise damaged(file, "its header cannot be read, or it is no file of this library") from failure
    if not isinstance(header, dict):
        raise damaged(file, "its header is not an object")
    return header, 8 + length


def _manifest(file: Path, header: dict[str, Any]) -> Manifest:
    metadata = header.pop("__metadata__", None)
    text = metadata.get(_KEY) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise FileError(
            f"{str(file)!r} is a safetensors file of something else; a file saved by coterie is required"
        )
    try:
        told = json.loads(text)
        version = told.get("format_version")
        if isinstance(version, int) and version > FORMAT_VERSION:
            raise FileError(
                f"{str(file)!r} has format version {version} and this coterie reads up to {FORMAT_VERSION}; "
                "install a newer coterie to open it"
            )
        if metadata.get(_SEAL) != _seal(text, header):
            raise damaged(file, "its header is not what was written")
        return msgspec.convert(told, Manifest)
    except (msgspec.DecodeError, AttributeError, ValueError, RecursionError) as failure:
        if isinstance(failure, FileError):
            raise
        raise damaged(file, "its manifest cannot be read") from failure


def _mapped(file: Path, header: dict[str, Any], start: int, size: int) -> dict[str, NDArray[Any]]:
    """Read-only arrays over the mapped file, each checked to lie inside it."""
    raw = np.memmap(file, dtype=np.uint8, mode="r") if size > start else np.zeros(size, np.uint8)
    arrays, last = {}, start
    for name, entry in header.items():
        try:
            begin, end = (start + int(offset) for offset in entry["data_offsets"])
            dtype, shape = np.dtype(_DTYPES[entry["dtype"]]), tuple(int(n) for n in entry["shape"])
            if not (start <= begin <= end <= size):
                raise damaged(file, f"the array {name!r} ends beyond the file")
            arrays[name] = raw[begin:end].view(dtype).reshape(shape)
            last = max(last, end)
        except (KeyError, TypeError, ValueError) as failure:
            if isinstance(failure, FileError):
                raise
            raise damaged(file, f"the entry of the array {name!r} is not valid") from failure
    if last != size:
        raise damaged(file, f"it has {size} bytes where {last} were written")
    return arrays


def _seal(manifest: str, header: dict[str, Any]) -> str:
    """Checksum of everything in a file but the arrays, which have their own."""
    return str(zlib.crc32((manifest + json.dumps(header, sort_keys=True)).encode()))


def _checksum(array: NDArray[Any]) -> int:
    return zlib.crc32(_bytes(np.ascontiguousarray(array)))


def _bytes(array: NDArray[Any]) -> Any:
    """Bytes of an array without a copy."""
    return array.reshape(-1).view(np.uint8).data if array.size else b""


def damaged(file: str | os.PathLike[str], what: str) -> FileError:
    """Error for a file that is not what it should be."""
    return FileError(f"{str(file)!r} is truncated, altered or foreign: {what}; save it again from its source")
