"""A user's mistake is one line on stderr and a status: 1 for the data, 2 for the usage, never a traceback."""

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.cli.program import COLUMNS, done, events, fitted, item_table, request_table, run, write

import coterie as ct
from coterie.cli import app

FIT = f"fit log.parquet {' '.join(COLUMNS)} --out new"
DECIDE = "decide model.coterie requests.parquet --out out.csv"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with a log, a model, requests, and files that are none of these."""
    monkeypatch.chdir(tmp_path)
    fitted(tmp_path).rename(tmp_path / "model.coterie")
    log = write(events(), tmp_path / "log.parquet")
    write(request_table(), tmp_path / "requests.parquet")
    write(request_table().slice(0, 0), tmp_path / "empty.parquet")
    write(events().slice(0, 0), tmp_path / "nothing.parquet")
    write(item_table().slice(0, 5), tmp_path / "items.parquet")
    ct.summarize(ct.read_logs(log, user="user", action=["f1"], reward="reward")).save(tmp_path / "statistics")
    done("fit", log, *COLUMNS, "--compact", "--out", tmp_path / "compact")
    (tmp_path / "foreign.parquet").write_bytes(b"PK\x03\x04 not Parquet at all")
    (tmp_path / "foreign.csv").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "bad.csv").write_text("user,f1,f2,f10,reward\n1,0.5,oops,0,1\n")
    (tmp_path / "cut.parquet").write_bytes(log.read_bytes()[:-300])
    (tmp_path / "cut.coterie").write_bytes((tmp_path / "model.coterie").read_bytes()[:-40])
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "subfolder").mkdir()
    return tmp_path


def one_line(arguments: str | list[str], status: int) -> str:
    """The line that a command fails with."""
    before = {path: path.stat().st_mtime_ns for path in Path().iterdir()}
    ran = run(*(arguments.split() if isinstance(arguments, str) else arguments))
    assert (ran.status, ran.out) == (status, "")
    lines = [line for line in ran.err.splitlines() if not line.startswith("coterie: note: ")]
    assert len(lines) == 1, ran.err
    assert lines[0].startswith("coterie: ")
    assert {path: path.stat().st_mtime_ns for path in Path().iterdir()} == before
    return lines[0]


DATA = [
    (FIT.replace("log", "missing"), "there is no file 'missing.parquet'; check the name"),
    (FIT.replace("log.parquet", "part*.csv"), "no file matches 'part*.csv'"),
    (FIT.replace("log.parquet", "subfolder"), "folder 'subfolder' has no Parquet, CSV or Arrow file"),
    (
        FIT.replace("--out new", "--out ./log.parquet"),
        "'./log.parquet' is a file that this command reads; name",
    ),
    (DECIDE.replace("out.csv", "requests.parquet"), "'requests.parquet' is a file that this command reads"),
    (FIT.replace("log.parquet", "notes.txt"), "'notes.txt' ends in .txt; Parquet"),
    (FIT.replace("log", "foreign"), "foreign.parquet is not a readable parquet file"),
    (FIT.replace("log", "cut"), "cut.parquet is not a readable parquet file"),
    (FIT.replace("log.parquet", "foreign.csv"), "foreign.csv is not a readable csv file"),
    (FIT.replace("log.parquet", "empty.csv"), "empty.csv is not a readable csv file"),
    (
        FIT.replace("log.parquet", "bad.csv"),
        "'oops' in line 2 where a number is required; mend it, or pass --",
    ),
    (FIT.replace("log", "nothing"), "there are no usable rows in nothing.parquet; at least one is required"),
    (FIT.replace("--user user", "--user usr"), "no column 'usr'; the nearest are 'user'"),
    (FIT.replace("--reward reward", "--reward rewards"), "no column 'rewards'; the nearest are 'reward'"),
    (FIT.replace("--reward reward", "--reward name"), "column 'name' holds string values ('u"),
    (FIT.replace("f*", "f1,f3"), "no column 'f3'; the nearest are"),
    (FIT.replace("f*", "z*"), "--action 'z*' matches no column; there are f10, name, f2, f1, vector"),
    (FIT.replace("f*", ","), "--action names no column"),
    (
        FIT.replace("--out new", "--out nowhere/new"),
        "there is no folder 'nowhere' to write 'nowhere/new' into",
    ),
    (FIT.replace("--out new", "--out subfolder"), "'subfolder' is a folder; name a file"),
    (FIT + " --ridge 0", "ridge is 0"),
    (FIT + " --failure-prob 1", "failure_prob is 1"),
    (FIT + " --gap -1", "gap is -1"),
    (FIT + " --graph-scale nan", "--graph-scale is nan"),
    (FIT + " --regularity smoothed:0", "is 0"),
    ("explain missing 3", "there is no file 'missing'"),
    ("explain statistics 3", "'statistics' holds statistics, not a model; fit one with 'coterie fit'"),
    ("explain cut.coterie 3", "'cut.coterie' is truncated, altered or foreign"),
    ("explain log.parquet 3", "'log.parquet' is truncated, altered or foreign"),
    ("explain compact 3", "saved with --compact and has no explanations"),
    (DECIDE.replace("model.coterie", "statistics"), "'statistics' holds statistics, not a model"),
    (DECIDE.replace("model.coterie", "subfolder"), "there is no file 'subfolder'"),
    (DECIDE.replace("requests", "foreign"), "foreign.parquet is not a readable parquet file"),
    (DECIDE.replace("requests", "empty"), "empty.parquet has no requests; at least one is required"),
    (DECIDE.replace("out.csv", "out.xlsx"), "decisions cannot be written to 'out.xlsx'"),
    (DECIDE.replace("out.csv", "nowhere/out.csv"), "there is no folder 'nowhere' to write 'out.csv' into"),
    (DECIDE + " --user usr", "no column 'usr'; the nearest are 'user'"),
    (DECIDE + " --request query", "no column 'query'; the nearest are"),
    (DECIDE + " --action f1,f2", "have 2 coordinates and the model was fitted on 3"),
    (DECIDE + " --item item --items items.parquet", "which the item table lacks"),
    (DECIDE + " --item thing --items items.parquet", "the item table has no column 'thing'"),
    (DECIDE.replace("requests", "items"), "items.parquet has no column 'user'"),
    ("demo --folder notes.txt", "'notes.txt' is a file; name a folder to keep the log in"),
]


@pytest.mark.parametrize(("arguments", "sentence"), DATA)
def test_a_mistake_in_the_data_is_one_line_and_status_1(folder: Path, arguments: str, sentence: str) -> None:
    assert sentence in one_line(arguments, 1)


USAGE = [
    ("fti", "No such command 'fti'; did you mean 'fit'? (see 'coterie --help')"),
    ("zzzz", "No such command 'zzzz'; there are demo, advise, evaluate, fit"),
    ("--nonsense", "No such option '--nonsense'"),
    (FIT + " --graph-scal 2", "'--graph-scale'"),
    (FIT.replace("--user user", ""), "Missing option '--user' (see 'coterie fit --help')"),
    (FIT.replace("--out new", ""), "Missing option '--out'"),
    (FIT.replace("--action f*", ""), "Missing option '--action' (or '--item' with '--items')"),
    (FIT + " --item item", "--item (a column of ids) and --items (a table) go together"),
    (FIT + " --item item --items items.parquet", "--action and --item exclude each other"),
    ("fit", "Missing argument 'LOGS'"),
    (FIT + " extra", "unexpected extra argument"),
    (
        FIT + " --ridge much",
        "Invalid value for '--ridge': 'much' is not a valid float (see 'coterie fit --help')",
    ),
    (FIT + " --noise loud", "Invalid value for '--noise': 'loud' is neither a number nor estimate"),
    (FIT + " --gap wide", "Invalid value for '--gap': 'wide' is neither a number nor over or under"),
    (FIT + " --min-samples few", "'few' is neither a number nor theory"),
    (FIT + " --algorithm best", "'best' is not one of 'off-c2lub', 'off-club', 'independent', 'pooled'"),
    (FIT + " --regularity smooth", "'smooth' is none of observed, smoothed:VALUE and iid:VALUE"),
    (FIT + " --regularity observed:1", "'observed:1' is none of"),
    (FIT + " --regularity iid:x", "'iid:x' is none of"),
    (FIT + " --format xml", "'xml' is not one of 'table', 'json', 'csv'"),
    (DECIDE + " --top 0", "Invalid value for '--top': 0 is not in the range x>=1"),
    (DECIDE + " --items items.parquet", "go together (see 'coterie decide --help')"),
    ("decide model.coterie requests.parquet", "Missing option '--out'"),
    ("explain model.coterie", "Missing argument 'USER'"),
    ("explain model.coterie bob", "Invalid value for USER: 'bob' is not an integer of 64 bits"),
    (
        "explain model.coterie 99999999999999999999",
        "is not an integer of 64 bits, as this model's user ids are",
    ),
    ("demo --seed one", "Invalid value for '--seed': 'one' is not a valid integer"),
    ("demo --seed -1", "Invalid value for '--seed': -1 is not in the range x>=0"),
]


@pytest.mark.parametrize(("arguments", "sentence"), USAGE)
def test_a_mistake_in_the_usage_is_one_line_and_status_2(folder: Path, arguments: str, sentence: str) -> None:
    assert sentence in one_line(arguments, 2)


def spoiled(name: str, value: Any) -> pa.Table:
    """The requests with another value in the seventh row."""
    values = request_table()[name].to_pylist()
    values[6] = value
    return request_table().set_column(request_table().column_names.index(name), name, pa.array(values))


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (lambda: spoiled("f2", np.nan), "action 2 of request 1 has NaN or no number in 'f2'"),
        (lambda: spoiled("user", None), "row 6 of requests.parquet (rows count from 0) has no user"),
        (lambda: spoiled("user", 55), "request 1 names more than one user"),
        (lambda: spoiled("request", 0), "the rows of request 0 are not adjacent"),
        (lambda: request_table().drop_columns("request"), "one action per row and no request column"),
        (
            lambda: request_table().drop_columns("f2"),
            "neither the model's action columns (f1, f2, f10) nor a column",
        ),
        (
            lambda: request_table().set_column(1, "user", pa.array(["a"] * 20)),
            "user ids here are integers, but 'a'",
        ),
    ],
)
def test_bad_requests_leave_the_old_decisions(
    folder: Path, rows: Callable[[], pa.Table], sentence: str
) -> None:
    Path("out.csv").write_text("old")
    write(rows(), Path("requests.parquet"))
    assert sentence in one_line(DECIDE, 1)
    assert Path("out.csv").read_text() == "old"


def test_a_bad_row_of_the_log_is_named_and_the_old_model_stays(folder: Path) -> None:
    reward = events()["reward"].to_pylist()
    reward[17] = float("nan")
    write(events().set_column(8, "reward", pa.array(reward)), folder / "log.parquet")
    line = one_line(FIT.replace("--out new", "--out model.coterie"), 1)
    assert "row 17 of " in line
    assert "NaN or no number in the reward (column 'reward')" in line


def test_a_warning_is_a_note_and_python_s_own_settings_come_back(folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.showwarning = shown = lambda *_: None
        ran = done(*FIT.split(), "--graph-scale", "0.5")
        assert (warnings.showwarning, warnings.filters) == (shown, [])
    assert ran.err.startswith("coterie: note: outside the paper's conditions")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), EOFError()])
def test_an_interrupt_stops_without_a_traceback(
    failure: BaseException, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr("coterie.model_file.load", interrupted)
    ran = run("explain", "model.coterie", 3)
    assert (ran.out, ran.err.strip(), ran.status) == ("", "coterie: stopped", 130)


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (PermissionError(13, "Permission denied", "secret"), "coterie: 'secret': Permission denied\n"),
        (OSError(28, "No space left on device"), "coterie: No space left on device\n"),
        (ct.CoterieError("two\nlines"), "coterie: two lines\n"),
    ],
)
def test_what_the_system_refuses_is_one_line(
    failure: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(**_: object) -> None:
        raise failure

    monkeypatch.setattr(app, "main", refused)
    assert (run("demo").err, run("demo").status) == (sentence, 1)


def test_the_installed_program_behaves_alike(folder: Path) -> None:
    program = Path(sys.executable).with_name("coterie")
    for arguments, status in (
        (["explain", "statistics", "3"], 1),
        (["explain", "--nonsense"], 2),
        (["--help"], 0),
    ):
        ran = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        assert ran.returncode == status
        assert ran.stderr.count("\n") == (1 if status else 0)
        assert ran.stderr.startswith("coterie: ") or not status
