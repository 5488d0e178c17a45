"""`coterie report` writes one page of a model, an evaluation, or both, and refuses the rest in one line."""

from pathlib import Path

import pytest
from tests.cli.program import COLUMNS, done, events, parsed, run, write
from tests.report.pages import carried, evaluation, model

from coterie.report import report_page


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    evaluation().save(tmp_path / "run")
    model().save(tmp_path / "model.coterie")
    return tmp_path


@pytest.mark.parametrize(
    "places", [["model.coterie"], ["run"], ["model.coterie", "run"], ["run", "model.coterie"]]
)
def test_the_page_is_the_library_s_own(folder: Path, places: list[str]) -> None:
    out = folder / "page.html"
    ran = done("report", *(folder / place for place in places), "--out", out)
    told = report_page(
        model() if "model.coterie" in places else None, evaluation() if "run" in places else None
    )
    assert carried(out.read_text())[0] == carried(told)[0]
    assert ran.out == f"Written to {out} ({out.stat().st_size / 1e6:.2f} MB); open it in a browser.\n"
    (found,) = parsed(done("report", folder / places[0], "--out", out, "--format", "json"), "json")
    assert found == {"out": str(out), "bytes": out.stat().st_size}


def test_a_title_is_taken_as_text(folder: Path) -> None:
    done("report", folder / "run", "--out", folder / "page.html", "--title", "Ours & theirs")
    assert "<title>Ours &amp; theirs</title>" in (folder / "page.html").read_text()


@pytest.mark.parametrize(
    ("places", "status", "message"),
    [
        ("model.coterie model.coterie", 2, "2 models were given"),
        ("run run", 2, "2 evaluations were given"),
        ("", 2, "Missing argument 'MODEL|RUN...'"),
        (".", 1, "holds no evaluation (no run.json)"),
        ("none", 1, "there is no file"),
        ("log.parquet", 1, "is truncated, altered or foreign"),
    ],
)
def test_what_is_no_model_or_run_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, places: str, status: int, message: str
) -> None:
    monkeypatch.chdir(folder)
    write(events(), folder / "log.parquet")
    ran = run("report", *places.split(), "--out", "page.html")
    assert (ran.status, ran.err.count("\n"), message in ran.err) == (status, 1, True), ran.err
    assert not (folder / "page.html").exists()


def test_the_model_is_not_written_over(folder: Path) -> None:
    place = folder / "model.coterie"
    ran = run("report", place, "--out", place)
    assert (ran.status, "is a file that this command reads" in ran.err) == (1, True)


def test_statistics_are_no_model(folder: Path) -> None:
    log = write(events(), folder / "log.parquet")
    done("fit", log, *COLUMNS, "--out", folder / "own.coterie")
    model().statistics.save(folder / "statistics")
    assert run("report", folder / "statistics", "--out", folder / "page.html").status == 1
