"""Array files: written in one step or not at all, and refused with a sentence when anything is off."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coterie import array_file
from coterie.errors import FileError

ARRAYS: dict[str, Any] = {
    "names": np.array(["ann", "b", "", "élan"]),
    "odd": np.arange(3, dtype=np.uint8),
    "numbers": np.linspace(-1.0, 1.0, 6).reshape(2, 3),
    "single": np.array([0.5, 2.0], np.float32),
    "ids": np.array([2**64 - 1, 0], np.uint64),
    "signed": np.array([[-5, 2**40]]),
    "empty": np.zeros((0, 4)),
    "nobody": np.array([], dtype="<U3"),
}
PARAMETERS = {"note": 'a "quoted" é', "list": [1, 2.5, None, True, float("inf")], "nested": {"a": {}}}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("arrays") / "file"
    array_file.write(path, "kind", ARRAYS, PARAMETERS)
    return path.read_bytes()


def require_same(opened: array_file.ArrayFile) -> None:
    assert {key: value for key, value in opened.manifest.parameters.items() if key[0] != "_"} == PARAMETERS
    assert set(opened.arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert opened.arrays[name].dtype == array.dtype
        assert opened.arrays[name].shape == array.shape
        assert opened.arrays[name].tobytes() == array.tobytes()


def read(path: Path) -> array_file.ArrayFile:
    return array_file.read(path, ("kind",))


def refused(path: Path, sentence: str, opener: Callable[[Path], Any] = read) -> None:
    with pytest.raises(FileError, match=sentence) as failure:
        opener(path)
    assert "\n" not in str(failure.value)


def test_there_and_back(tmp_path: Path, written: bytes) -> None:
    (tmp_path / "file").write_bytes(written)
    opened = read(tmp_path / "file")
    require_same(opened)
    assert (opened.manifest.kind, opened.manifest.format_version) == ("kind", array_file.FORMAT_VERSION)


def test_arrays_are_mapped_aligned_and_read_only(tmp_path: Path, written: bytes) -> None:
    (tmp_path / "file").write_bytes(written)
    for name, array in read(tmp_path / "file").arrays.items():
        assert array.flags.aligned, name
        if array.size:
            base: Any = array
            while not isinstance(base, np.memmap):
                base = base.base
            with pytest.raises(ValueError, match=r"read-only"):
                array[...] = array


def test_the_safetensors_library_reads_the_same(tmp_path: Path, written: bytes) -> None:
    """Text is stored as code points, a row per id."""
    (tmp_path / "file").write_bytes(written)
    theirs = safetensors.numpy.load_file(tmp_path / "file")
    assert set(theirs) == set(ARRAYS)
    for name, array in ARRAYS.items():
        if array.dtype.kind != "U":
            np.testing.assert_array_equal(theirs[name], array)
            assert theirs[name].dtype == array.dtype
    names = ["".join(map(chr, row)).rstrip(chr(0)) for row in theirs["names"].tolist()]
    assert names == ARRAYS["names"].tolist()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
def test_truncated(share: float, tmp_path: Path, written: bytes) -> None:
    (tmp_path / "file").write_bytes(written[: int(share * len(written))])
    refused(tmp_path / "file", r"is truncated, altered or foreign")


def test_truncated_by_one_byte_and_too_long(tmp_path: Path, written: bytes) -> None:
    for altered in (written[:-1], written + b"\0", written[:7], written[:8]):
        (tmp_path / "file").write_bytes(altered)
        refused(tmp_path / "file", r"is truncated, altered or foreign")


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_one_byte_changed(data: st.DataObject, tmp_path: Path, written: bytes) -> None:
    """Refused, or (in padding, or in the letter case of an escape) read as before; no other exception."""
    at = data.draw(st.integers(0, len(written) - 1))
    mask = data.draw(st.integers(1, 255))
    altered = bytearray(written)
    altered[at] ^= mask
    (tmp_path / "file").write_bytes(altered)
    try:
        opened = read(tmp_path / "file")
    except FileError as failure:
        assert "\n" not in str(failure)  # noqa: PT017
    else:
        require_same(opened)


def test_every_byte_of_the_arrays_is_guarded(tmp_path: Path, written: bytes) -> None:
    begin = 8 + int.from_bytes(written[:8], "little")
    for at in range(begin, len(written)):
        altered = bytearray(written)
        altered[at] ^= 1
        (tmp_path / "file").write_bytes(altered)
        refused(tmp_path / "file", r"is not what was written; save it again")
    assert read_unverified(tmp_path / "file").manifest.kind == "kind"


def read_unverified(path: Path) -> array_file.ArrayFile:
    return array_file.read(path, ("kind",), verify=False)


def with_header(written: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """File with another header: what one who knows the format could write."""
    length = int.from_bytes(written[:8], "little")
    header = json.loads(written[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + written[8 + length :]


def newer(header: dict[str, Any]) -> None:
    manifest = json.loads(header["__metadata__"]["coterie"])
    manifest["format_version"] = array_file.FORMAT_VERSION + 1
    manifest["what_is_to_come"] = [1]
    header["__metadata__"] = {"coterie": json.dumps(manifest)}


def test_a_newer_format_is_refused(tmp_path: Path, written: bytes) -> None:
    (tmp_path / "file").write_bytes(with_header(written, newer))
    refused(
        tmp_path / "file", r"has format version 2 and this coterie reads up to 1; install a newer coterie"
    )


def rename(header: dict[str, Any]) -> None:
    header["others"] = header.pop("ids")


def outside(header: dict[str, Any]) -> None:
    header["ids"]["data_offsets"][1] += 10**6


def other_parameter(header: dict[str, Any]) -> None:
    header["__metadata__"]["coterie"] = header["__metadata__"]["coterie"].replace("2.5", "3.5")


def no_seal(header: dict[str, Any]) -> None:
    del header["__metadata__"]["coterie.checksum"]


@pytest.mark.parametrize("change", [rename, outside, other_parameter, no_seal])
def test_a_changed_header_is_refused(
    change: Callable[[dict[str, Any]], None], tmp_path: Path, written: bytes
) -> None:
    (tmp_path / "file").write_bytes(with_header(written, change))
    refused(tmp_path / "file", r"its header is not what was written")


def test_foreign_files_and_other_kinds(tmp_path: Path, written: bytes) -> None:
    safetensors.numpy.save_file({"a": np.ones(3)}, tmp_path / "foreign")
    refused(
        tmp_path / "foreign", r"is a safetensors file of something else; a file saved by coterie is required"
    )
    (tmp_path / "list").write_bytes((2).to_bytes(8, "little") + b"[]")
    refused(tmp_path / "list", r"its header is not an object")
    (tmp_path / "deep").write_bytes((200_000).to_bytes(8, "little") + b"[" * 200_000)
    refused(tmp_path / "deep", r"its header cannot be read")
    (tmp_path / "file").write_bytes(written)
    refused(tmp_path / "file", r"holds 'kind'; 'model' or 'statistics' is required here", other_kind)
    refused(tmp_path / "nowhere", r"^there is no file '.*nowhere'; check the name")
    refused(tmp_path, r"^there is no file")


def other_kind(path: Path) -> array_file.ArrayFile:
    return array_file.read(path, ("model", "statistics"))


@pytest.mark.parametrize("failing", ["fsync", "save", "interrupt"])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    array_file.write(path, "kind", ARRAYS, PARAMETERS)
    kinds = {
        "fsync": OSError(28, "No space left on device"),
        "save": ValueError("x"),
        "interrupt": KeyboardInterrupt(),
    }

    def fail(*_: object) -> None:
        raise kinds[failing]

    if failing == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(array_file, "_bytes", fail_late(array_file._bytes, fail))
    expected = FileError if failing == "fsync" else type(kinds[failing])
    with pytest.raises(expected) as failure:
        array_file.write(path, "kind", {"a": np.zeros(3), "b": np.zeros(2)}, {})
    if failing == "fsync":
        assert str(failure.value) == f"{str(path)!r} cannot be written: No space left on device"
    monkeypatch.undo()
    require_same(read(path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def fail_late(original: Callable[..., Any], fail: Callable[..., None]) -> Callable[..., Any]:
    """Fails at the last array, when the first one is on disk (each is asked for twice: checksum, write)."""
    calls = 0

    def bytes_of(array: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 4:
            fail()
        return original(array)

    return bytes_of


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    def write(path: Path) -> None:
        array_file.write(path, "kind", ARRAYS, {})

    refused(
        tmp_path / "no" / "file", r"^there is no folder '.*no' to write 'file' into; make it first", write
    )
    (tmp_path / "folder").mkdir()
    refused(tmp_path / "folder", r"'.*folder' cannot be written: ", write)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]
