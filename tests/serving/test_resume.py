"""A run that was stopped goes on where it was, and writes the same file to the last byte."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.serving.tables import DIM, items, model, read, reader, requests, table, write

from coterie.errors import FileError, LogError
from coterie.serving import RequestColumns, RequestReader, decide_file

FORMS = ["columns", "lists", "items", "wide lists", "wide items"]
N = 40


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven rows at a time, parts of five decisions, row groups of four."""
    monkeypatch.setattr("coterie.serving.requests.REQUEST_ROWS", 7)
    monkeypatch.setattr("coterie.serving.cuts.ACTIONS_AT_A_TIME", 7)
    monkeypatch.setattr("coterie.serving.parts._PART_ROWS", 5)
    monkeypatch.setattr("coterie.serving.stream._ROW_GROUP", 4)


def opened(folder: Path, form: str) -> RequestReader:
    rows, columns = table(requests(n=N), form)
    path = write(rows, folder / "requests.parquet")
    return RequestReader.open(str(path), columns, items() if columns.item else None, DIM)


class Stopper:
    """A progress that interrupts after so many batches; `done` is what it was told."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.done: list[int] = []

    def __call__(self, _stage: str, done: int, _total: int | None, /) -> None:
        self.done.append(done)
        if len(self.done) == self.after:
            raise KeyboardInterrupt


def parts(out: Path) -> Path:
    return out.with_name(f".{out.name}.parts")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
@pytest.mark.parametrize("top", [None, 2])
def test_interrupted_runs_add_up_to_the_same_file(
    form: str, suffix: str, top: int | None, tmp_path: Path
) -> None:
    asked, out, whole = opened(tmp_path, form), tmp_path / f"out{suffix}", tmp_path / f"whole{suffix}"
    assert decide_file(model(), asked, whole, top=top) == N
    for after in (4, 9):
        with pytest.raises(KeyboardInterrupt):
            decide_file(model(), asked, out, top=top, progress=Stopper(after), depends="same")
        assert not out.exists()
        assert parts(out).is_dir()
    last = Stopper(10**9)
    assert decide_file(model(), asked, out, top=top, progress=last, depends="same") == N
    assert out.read_bytes() == whole.read_bytes()
    assert last.done == sorted(last.done)
    assert last.done[-1] == asked.n_rows()
    assert {path.name for path in tmp_path.iterdir()} == {out.name, whole.name, "requests.parquet"}


def test_what_was_decided_is_not_decided_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, out = opened(tmp_path, "wide lists"), tmp_path / "out.csv"
    with pytest.raises(KeyboardInterrupt):
        decide_file(model(), asked, out, progress=Stopper(12), depends="same")
    kept = sum(read(path).num_rows for path in parts(out).glob("*.arrow"))
    assert kept > 5
    ready, again = RequestReader.ready, [0]

    def counting(self: RequestReader, cut: object) -> object:
        found = ready(self, cut)  # type: ignore[arg-type]
        again[0] += len(found.request)
        return found

    monkeypatch.setattr(RequestReader, "ready", counting)
    assert decide_file(model(), asked, out, depends="same") == N
    assert again[0] == N - kept


def test_parts_of_other_inputs_and_damaged_ones_are_not_used(tmp_path: Path) -> None:
    asked, out, whole = opened(tmp_path, "columns"), tmp_path / "out.csv", tmp_path / "whole.csv"
    decide_file(model(), asked, whole)
    with pytest.raises(KeyboardInterrupt):
        decide_file(model(), asked, out, top=2, progress=Stopper(12), depends="two ranks")
    decide_file(model(), asked, out, depends="one")
    assert out.read_bytes() == whole.read_bytes()
    for length in (0, 100):
        with pytest.raises(KeyboardInterrupt):
            decide_file(model(), asked, out, progress=Stopper(12), depends="one")
        second = sorted(parts(out).glob("*.arrow"))[1]
        second.write_bytes(second.read_bytes()[:length])
        decide_file(model(), asked, out, depends="one")
        assert out.read_bytes() == whole.read_bytes()


def test_a_request_that_comes_again_is_found_after_a_resumption_too(tmp_path: Path) -> None:
    ids = [*np.repeat(np.arange(30), 2).tolist(), 3]
    rows = pa.table({"request": ids, "user": ["u0"] * 61, "actions": [[0.1] * DIM] * 61})
    asked = RequestReader.open(rows, RequestColumns(), None, DIM)
    out = tmp_path / "out.csv"
    with pytest.raises(KeyboardInterrupt):
        decide_file(model(), asked, out, progress=Stopper(9), depends="same")
    with pytest.raises(LogError, match="the rows of request 3 are not adjacent"):
        decide_file(model(), asked, out, depends="same")
    assert list(tmp_path.iterdir()) == []


def test_a_second_run_for_the_same_file_is_refused(tmp_path: Path) -> None:
    asked, out = opened(tmp_path, "columns"), tmp_path / "out.csv"
    parts(out).mkdir()
    with (parts(out) / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(
            FileError, match=r"^another run is writing '.*out.csv'; wait for it, or name another"
        ):
            decide_file(model(), asked, out, depends="same")
    assert decide_file(model(), asked, out, depends="same") == N


WRITER = """
import sys, time
from pathlib import Path
from coterie.serving import RequestReader, cuts, decide_file, parts, requests, stream
from tests.serving.tables import DIM, model, table, requests as drawn
requests.REQUEST_ROWS = cuts.ACTIONS_AT_A_TIME = 64
parts._PART_ROWS, stream._ROW_GROUP = 50, 40
rows, columns = table(drawn(n=2000), "columns")
asked = RequestReader.open(sys.argv[1], columns, None, DIM)
fitted = model()
decide_file(fitted, RequestReader.open(rows.slice(0, 60), columns, None, DIM), sys.argv[2] + ".warm.csv")
Path(sys.argv[2] + ".ready").touch()
print(decide_file(fitted, asked, sys.argv[2], depends="same",
                  progress=lambda *_: time.sleep(float(sys.argv[3]))))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_killed_at_random_moments_and_resumed_the_file_is_the_same(kills: int, tmp_path: Path) -> None:
    """The old file stays until the new one is whole; what is resumed is killed again, and again."""
    asked, _ = table(requests(n=2000), "columns")
    write(asked, tmp_path / "requests.parquet")
    whole, out = tmp_path / "whole.parquet", tmp_path / "out.parquet"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}

    def start(to: Path, pause: float) -> "subprocess.Popen[str]":
        call = [sys.executable, "-c", WRITER, str(tmp_path / "requests.parquet"), str(to), str(pause)]
        return subprocess.Popen(call, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)

    assert start(whole, 0).communicate()[0] == "2000\n"
    assert read(whole).num_rows == 2000
    rng, ready, resumed = np.random.default_rng(8), tmp_path / "out.parquet.ready", 0
    out.write_bytes(b"old")
    for _ in range(kills):
        ready.unlink(missing_ok=True)
        resumed += len(list(parts(out).glob("*.arrow"))) > 0 if parts(out).exists() else 0
        run = start(out, 0.002)
        while not ready.exists() and run.poll() is None:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.15))
        run.kill()
        run.communicate()
        if out.read_bytes() != b"old":
            assert out.read_bytes() == whole.read_bytes()
            out.write_bytes(b"old")
    assert start(out, 0).communicate()[0] == "2000\n"
    assert out.read_bytes() == whole.read_bytes()
    assert resumed > 0
    assert not parts(out).exists()
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_the_reader_of_a_frame_is_resumed_too(tmp_path: Path) -> None:
    """A dataframe is read from its start, and what was decided left out."""
    asked, out = reader(requests(n=N), "columns"), tmp_path / "out.csv"
    with pytest.raises(KeyboardInterrupt):
        decide_file(model(), asked, out, progress=Stopper(9), depends="same")
    decide_file(model(), asked, out, depends="same")
    decide_file(model(), asked, tmp_path / "whole.csv")
    assert out.read_bytes() == (tmp_path / "whole.csv").read_bytes()
