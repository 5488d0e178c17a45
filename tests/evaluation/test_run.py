"""A run is written to a folder and read again, whole; what is no run is refused with one sentence."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from coterie.errors import FileError
from coterie.evaluation.run import Covered, Difference, EvaluationRun, Score, Trial, Value, Verdict

SCORE = Score(
    algorithm="pooled", metric="choice", fraction=1.0, group="all", value=0.5, low=0.4, high=None,
    count=3.5, n_users=2, n_rows=9,
)  # fmt: skip


def some_run() -> EvaluationRun:
    return EvaluationRun(
        settings={"splits": 5, "fractions": [0.5, 1.0]},
        counts={"rows": 9},
        notes=("one note",),
        verdicts=(
            Verdict(group="all", metric="choice", sentence="Use it.", winner=None, candidates=("a", "b")),
        ),
        scores=(SCORE, msgspec.structs.replace(SCORE, fraction=0.5)),
        differences=(
            Difference(
                algorithm="a", against="b", metric="choice", fraction=1.0, group="all", value=0.1, low=-0.1,
                high=0.3, told_apart=False, n_users=4,
            ),
        ),
        calibration=(
            Covered(
                algorithm="a", fraction=1.0, level=0.9, covered=0.8, low=0.7, high=0.9, n_users=4, n_rows=8
            ),
        ),
        values=(
            Value(
                algorithm="a", estimator="ips", value=1.0, low=None, high=None, bernstein=None, betting=0.5,
                effective=3.0, largest_weight=2.0, mean_weight=1.0, matched=3, clip=None, clipped=0, n_rows=8,
                n_users=4,
            ),
        ),
        trials=(
            Trial(algorithm="a", split=0, fraction=1.0, settings="ridge=1", log_likelihood=-1.0, chosen=True),
        ),
        users={"user": np.array(["x", "y"]), "rows": np.array([3, 6])},
    )  # fmt: skip


def test_a_saved_run_is_loaded_whole(tmp_path: Path) -> None:
    run = some_run()
    run.save(tmp_path / "run")
    loaded = EvaluationRun.load(tmp_path / "run")
    for name in ("settings", "counts", "notes", "verdicts", "scores", "differences", "calibration", "values"):
        assert getattr(loaded, name) == getattr(run, name)
    assert loaded.trials == run.trials
    assert loaded.users["user"].tolist() == ["x", "y"]
    assert loaded.verdict.candidates == ("a", "b")


def test_an_empty_run_is_loaded(tmp_path: Path) -> None:
    EvaluationRun(settings={}, counts={}).save(tmp_path)
    assert EvaluationRun.load(tmp_path).scores == ()


def test_a_curve_is_in_the_order_of_the_fractions() -> None:
    curves = some_run().curve("choice")
    assert [score.fraction for score in curves["pooled"]] == [0.5, 1.0]


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"holds no evaluation \(no run.json\)"):
        EvaluationRun.load(tmp_path)
    some_run().save(tmp_path)
    (tmp_path / "scores.parquet").write_bytes(b"no parquet")
    with pytest.raises(FileError, match="is no table of an evaluation"):
        EvaluationRun.load(tmp_path)
    (tmp_path / "scores.parquet").unlink()
    with pytest.raises(FileError, match=r"has no scores.parquet"):
        EvaluationRun.load(tmp_path)
    (tmp_path / "run.json").write_text('{"format": 99}')
    with pytest.raises(FileError, match="has format 99; this version reads format 1"):
        EvaluationRun.load(tmp_path)
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(FileError, match="describes no evaluation"):
        EvaluationRun.load(tmp_path)
    with pytest.raises(FileError, match="is a file; name a folder"):
        some_run().save(tmp_path / "run.json")
