"""Decisions in a file are those of `model.decide`, and the file is the old one or the new one, never half."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.serving.tables import DIM, ITEM_IDS, Request, model, read, reader, requests, table

from coterie.decision import ActionSets
from coterie.errors import CoterieError, FileError, LogError
from coterie.serving import RequestColumns, RequestReader, Requests, decide_file
from coterie.serving.stream import decisions_table

FORMS = ("columns", "lists", "items", "wide lists", "wide items")
COLUMNS = ["request", "user", "index", "estimate", "width", "score", "pooled_count", "pooled_users", "seen"]


def expected(asked: list[Request], *, text: bool, intercept: bool = False) -> list[dict[str, Any]]:
    """Decisions of the model, one request at a time."""
    rows = []
    for request in asked:
        choice = model(text, intercept).decide(request.user, request.actions)
        rows.append({"request": request.name, "user": request.user, **vars(choice)})
    return rows


def assert_same(found: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> None:
    """The same rows, numbers up to rounding."""
    assert len(found) == len(wanted)
    for got, want in zip(found, wanted, strict=True):
        assert got == {
            name: pytest.approx(v, rel=1e-12) if isinstance(v, float) else v for name, v in want.items()
        }


@pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])
@pytest.mark.parametrize("text", [True, False], ids=["text ids", "integer ids"])
@pytest.mark.parametrize("form", FORMS)
def test_every_decision_is_the_model_s(form: str, text: bool, intercept: bool, tmp_path: Path) -> None:
    asked, out = requests(text), tmp_path / "out.parquet"
    n = decide_file(model(text, intercept), reader(asked, form), out)
    found = read(out)
    assert n == len(asked)
    if "items" in form:
        best = [request.choice[i] for request, i in zip(asked, found["index"].to_pylist(), strict=True)]
        assert found["item"].to_pylist() == [ITEM_IDS[i] for i in best]
        found = found.drop_columns("item")
    assert found.column_names == COLUMNS
    assert_same(found.to_pylist(), expected(asked, text=text, intercept=intercept))
    seen = dict(zip(found["user"].to_pylist(), found["seen"].to_pylist(), strict=True))
    assert set(seen.values()) == {True, False}
    assert all(known == (str(user).lstrip("u") in "01234") for user, known in seen.items())


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow", ".CSV"])
def test_every_format_holds_the_same(suffix: str, tmp_path: Path) -> None:
    out = tmp_path / f"out{suffix}"
    decide_file(model(), reader(requests(), "columns"), out)
    found = read(out if suffix != ".CSV" else out.rename(tmp_path / "out.csv"))
    assert found.column_names == COLUMNS
    assert_same(found.to_pylist(), expected(requests(), text=True))


@pytest.mark.parametrize("top", [1, 3, 7, 1_000_000_000])
@pytest.mark.parametrize("form", ["columns", "wide items"])
def test_a_ranking_is_all_scores_sorted(top: int, form: str, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    assert decide_file(model(), reader(requests(), form), out, top=top) == len(requests())
    found = read(out)
    at = 0
    for request in requests():
        alone = [model().decide(request.user, action[None]) for action in request.actions]
        order = np.argsort([-choice.score for choice in alone], kind="stable")[:top]
        for rank, index in enumerate(order.tolist(), start=1):
            row = {name: found[name][at].as_py() for name in found.column_names}
            assert (row["request"], row["rank"], row["index"]) == (request.name, rank, index)
            assert (row["estimate"], row["width"], row["score"]) == pytest.approx(
                (alone[index].estimate, alone[index].width, alone[index].score), rel=1e-12
            )
            assert form == "columns" or row["item"] == ITEM_IDS[request.choice[index]]
            at += 1
    assert at == found.num_rows


def test_ties_go_to_the_lowest_index() -> None:
    action = np.tile([[0.3, 0.1, 0.2], [0.1, 0.1, 0.1]], (3, 1))
    sets = ActionSets(action, np.array([0]), np.array([6]))
    one = pa.array(["r"])
    ranked = decisions_table(model(), Requests(one, pa.array(["u0"]), np.array(["u0"]), sets, None), 6)
    first, second = ranked["index"].to_pylist()[:3], ranked["index"].to_pylist()[3:]
    assert sorted([first, second]) == [[0, 2, 4], [1, 3, 5]]


def test_users_beyond_63_bits_keep_their_type_in_every_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coterie.serving.stream._ROW_GROUP", 1)
    user = pa.array([2**64 - 1, 3], pa.uint64())
    rows = pa.table({"request": [1, 2], "user": user, "actions": [[0.1] * DIM] * 2})
    out = tmp_path / "out.parquet"
    assert decide_file(model(text=False), RequestReader.open(rows, RequestColumns(), None, DIM), out) == 2
    assert read(out)["user"].to_pylist() == [2**64 - 1, 3]
    assert read(out)["seen"].to_pylist() == [False, True]


def test_progress_ends_at_the_last_row(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    opened = reader(requests(), "lists")
    decide_file(
        model(),
        opened,
        tmp_path / "out.csv",
        progress=lambda stage, done, total: told.append((stage, done, total)),
    )
    assert told[-1] == ("deciding", opened.n_rows(), opened.n_rows())


def broken(at: int) -> pa.Table:
    """Wide requests, the one at this row with NaN."""
    actions = [[[0.1] * DIM] * 2 for _ in range(30)]
    actions[at] = [[float("nan")] * DIM]
    return pa.table({"request": list(range(30)), "user": ["u0"] * 30, "actions": actions})


def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decide a few rows at a time and write at once, so that a late fault meets a file half written."""
    monkeypatch.setattr("coterie.serving.stream._ROW_GROUP", 1)
    monkeypatch.setattr("coterie.serving.cuts.ACTIONS_AT_A_TIME", 8)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
@pytest.mark.parametrize("old", [b"old", None])
def test_after_a_failure_the_old_file_is_intact_and_nothing_is_left(
    suffix: str, old: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_batches(monkeypatch)
    out = tmp_path / f"out{suffix}"
    if old is not None:
        out.write_bytes(old)
    with pytest.raises(CoterieError, match="action 0 of request 29 has NaN"):
        decide_file(model(), RequestReader.open(broken(29), RequestColumns(), None, DIM), out)
    assert [path.name for path in tmp_path.iterdir()] == ([out.name] if old is not None else [])
    assert old is None or out.read_bytes() == old


@pytest.mark.parametrize("form", FORMS)
def test_no_requests_are_an_error(form: str, tmp_path: Path) -> None:
    rows, columns = table(requests(), form)
    empty = RequestReader.open(rows.slice(0, 0), columns, reader(requests(), form).items, DIM)
    with pytest.raises(LogError, match=r"^the Table has no requests; at least one is required$"):
        decide_file(model(), empty, tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["out.txt", "out", "out.parquet.gz"])
def test_an_unknown_ending_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=f"{name}'; name a .parquet, .csv or .arrow file$"):
        decide_file(model(), reader(requests(), "lists"), tmp_path / name)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        FileError, match=r"there is no folder .*nowhere' to write 'out.csv' into; make it first"
    ):
        decide_file(model(), reader(requests(), "lists"), tmp_path / "nowhere" / "out.csv")


def test_a_folder_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(FileError, match=r"out.csv' cannot be written: Is a directory"):
        decide_file(model(), reader(requests(), "lists"), tmp_path / "out.csv")


WRITER = """
import sys
from pathlib import Path
from coterie.serving import decide_file
from tests.serving.tables import model, reader, requests
asked = reader(requests(), "columns")
decide_file(model(), asked, sys.argv[1])
Path(sys.argv[2]).touch()
while True:
    decide_file(model(), asked, sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_killed_at_any_moment_the_file_is_whole(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    out, ready = tmp_path / "out.parquet", tmp_path / "ready"
    wanted = expected(requests(), text=True)
    for moment in np.random.default_rng(4).uniform(0, 0.05, 4):
        out.write_bytes(b"old")
        ready.unlink(missing_ok=True)
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(out), str(ready)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(root)},
        )
        while not ready.exists() and writer.poll() is None:
            assert out.read_bytes() == b"old" or read(out).num_rows == len(wanted)
            time.sleep(0.002)
        time.sleep(moment)
        writer.kill()
        assert writer.wait() == -signal.SIGKILL
        assert_same(read(out).to_pylist(), wanted)
