"""`coterie paper` from end to end on a small world: files, resuming, missing data and missing packages."""

import csv
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.cli.program import run

# A script, since settings are made small by hand and processes are started anew: each reads its file again.
SMALL = """
import sys
from coterie.experiments import datasets, settings, store
datasets.N_USERS, datasets.N_CLUSTERS, datasets.DIM = 12, 2, 3
settings.SUFFICIENT = (200, 400)
if __name__ == "__main__":
    from coterie.cli import main
    sys.argv[0] = "coterie"
    main()
"""
COLUMNS = "dataset,method,dataset_size,suboptimality_gap,standard_error,published,ratio"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.py"
    path.write_text(SMALL)
    return path


def start(script: Path, out: Path, *options: str) -> "subprocess.Popen[str]":
    command = [sys.executable, str(script), "paper", "tables", "--dataset", "synthetic", "--out", str(out)]
    return subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=script.parent
    )


METHODS = ("--method", "Off-CLUB", "--method", "LinUCB_IND", "--method", "Oracle", "--seeds", "3")


def test_the_same_bytes_whatever_the_jobs_and_after_being_killed(small: Path, tmp_path: Path) -> None:
    whole = start(small, tmp_path / "one", *METHODS, "--jobs", "1")
    out, err = whole.communicate(timeout=120)
    assert whole.returncode == 0, err
    assert "6 rows in" in out
    killed = start(small, tmp_path / "two", *METHODS, "--jobs", "2")
    cells = tmp_path / "two" / "cells"
    deadline = time.monotonic() + 100
    while not list(cells.glob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    killed.kill()  # SIGKILL
    killed.communicate()
    kept = {path: path.stat().st_mtime_ns for path in cells.glob("*.json")}
    assert kept
    again = start(small, tmp_path / "two", *METHODS, "--jobs", "2")
    assert again.communicate(timeout=120)
    assert again.returncode == 0
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())  # nothing is computed twice
    one, two = ((tmp_path / name / "tables.csv").read_bytes() for name in ("one", "two"))
    assert one == two
    assert one.decode().splitlines()[0] == COLUMNS


def test_a_run_leaves_tables_results_provenance_and_one_page(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = start(small, out, *METHODS)
    printed, err = ran.communicate(timeout=120)
    assert ran.returncode == 0, err
    rows = list(csv.DictReader((out / "tables.csv").read_text().splitlines()))
    assert {row["method"] for row in rows} == {"Off-CLUB", "LinUCB_IND", "Oracle"}
    results = pq.read_table(out / "results.parquet")
    assert len(results) == 18
    assert {"experiment", "dataset", "method", "size", "distribution", "logging", "seed", "gap",
            "standard_error", "seconds", "neighbours"} == set(results.column_names)  # fmt: skip
    told = json.loads((out / "provenance.json").read_text())
    assert told["preset"] == "paper_tables"
    assert {"python", "numpy", "processor", "commit", "cores"} <= set(told)
    page = (out / "index.html").read_text()
    assert "Provenance" in page
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]', page.replace('xlink:href="#', ""))
    assert "see" in printed


def test_what_is_missing_is_named_and_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No ratings files, no scikit-learn, no matplotlib: the command still runs to its end."""
    from coterie.cli import paper
    from coterie.experiments import methods

    for module in (methods, paper):
        monkeypatch.setattr(module, "find_spec", lambda _: None)
    monkeypatch.delenv("COTERIE_DATA", raising=False)
    ran = run("paper", "tables", "--dataset", "yelp", "--out", tmp_path)
    assert ran.status == 0, ran.err
    assert "yelp is left out: there is no yelp_top1000_counts.parquet or review.json" in ran.err
    assert "left out for want of scikit-learn: DBSCAN_Improve, XMeans_Improve" in ran.err
    assert "every figure is left out for want of matplotlib" in ran.err
    assert ran.err.count("pip install 'coterie[paper]'") == 2
    assert (tmp_path / "tables.csv").read_text() == COLUMNS + "\n"
    assert "yelp is left out" in (tmp_path / "index.html").read_text()


def test_an_unknown_method_is_refused_with_the_names(tmp_path: Path) -> None:
    ran = run("paper", "tables", "--method", "LinUBC", "--out", tmp_path)
    assert ran.status == 2
    assert "'LinUBC' is no method; there are LinUCB_IND, CLUB" in ran.err
