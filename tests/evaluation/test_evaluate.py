"""An evaluation finds what was put in, repeats itself, and has no NaN; bad input is one sentence."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.program import done, run

import coterie as ct
from coterie.errors import LogError, ParameterError
from coterie.evaluation import EvaluationRun, Plan, evaluate
from coterie.worlds import Synthetic

QUICK = Plan(fractions=(0.3, 1.0), splits=2, algorithms=("independent", "pooled", "off-club", "off-c2lub"))


@pytest.fixture(scope="module")
def clustered() -> EvaluationRun:
    drawn = Synthetic(n_users=60, n_clusters=2, dim=3, noise=0.3, min_gap=1.0).draw(n_rows=1200, rng=1)
    return evaluate(drawn.logs, QUICK)


def test_two_clusters_are_neither_one_nor_sixty(clustered: EvaluationRun) -> None:
    """20 rows a user, noise 0.3, clusters a distance 1 apart: pooling errs by far, alone is the noisiest."""
    error = {s.algorithm: s.value for s in clustered.curve("squared_error")["pooled"][-1:]} | {
        name: curve[-1].value for name, curve in clustered.curve("squared_error").items()
    }
    assert error["off-club"] is not None
    assert error["pooled"] is not None
    assert error["off-club"] < 0.13 < error["pooled"]  # the noise is 0.09, the clusters' spread at least 0.08
    assert "pooled" not in clustered.verdict.candidates
    assert "independent" not in clustered.verdict.candidates


def test_more_rows_teach_more(clustered: EvaluationRun) -> None:
    for curve in clustered.curve("squared_error").values():
        assert [score.fraction for score in curve] == [0.3, 1.0]
        assert curve[1].count > 2 * curve[0].count
    alone = [score.value or 0.0 for score in clustered.curve("squared_error")["independent"]]
    assert alone[1] < alone[0]


def test_choosing_lies_between_random_and_hindsight(clustered: EvaluationRun) -> None:
    value = {name: curve[-1].value or 0.0 for name, curve in clustered.curve("choice").items()}
    assert value["random pick"] < value["pooled"] < value["off-club"] < value["best in hindsight"]


def test_the_same_seed_gives_the_same_run(clustered: EvaluationRun) -> None:
    drawn = Synthetic(n_users=60, n_clusters=2, dim=3, noise=0.3, min_gap=1.0).draw(n_rows=1200, rng=1)
    again = evaluate(drawn.logs, QUICK)
    assert again.scores == clustered.scores
    assert again.differences == clustered.differences


def test_intervals_hold_their_values_and_nothing_is_nan(clustered: EvaluationRun, tmp_path: Path) -> None:
    for score in clustered.scores:
        if score.value is not None and score.low is not None and score.high is not None:
            assert score.low <= score.value <= score.high
    for one in clustered.differences:
        assert one.value >= 0
        assert one.low <= one.value <= one.high
    clustered.save(tmp_path)
    for file in tmp_path.glob("*.parquet"):
        kept = pq.read_table(file)
        for column in kept.columns:
            if pa.types.is_floating(column.type):
                assert not np.isnan(column.drop_null().to_numpy()).any(), file.name


def test_a_calibrated_spread_covers_at_its_level(clustered: EvaluationRun) -> None:
    """1,200 judged rows: a share of 0.9 has a standard error below 0.01 were rows independent."""
    for one in clustered.calibration:
        if one.algorithm == "off-club" and one.fraction == 1:
            assert abs(one.covered - one.level) < 0.06


def test_users_held_out_are_judged_as_never_seen() -> None:
    drawn = Synthetic(n_users=40, n_clusters=1, dim=3, noise=0.3).draw(n_rows=800, rng=2)
    plan = Plan(split="users", fractions=(1.0,), algorithms=("independent", "pooled"))
    found = evaluate(drawn.logs, plan)
    assert found.counts["unseen_users"] == 40
    assert found.verdict.winner == "pooled"  # all users are alike; alone, nothing is known of a user
    assert any("never seen" in note for note in found.notes)


def test_one_algorithm_is_its_own_verdict() -> None:
    drawn = Synthetic(n_users=10, n_clusters=1, dim=2).draw(n_rows=200, rng=2)
    found = evaluate(drawn.logs, Plan(algorithms=["pooled"], fractions=[1.0], splits=1))
    assert found.verdict.winner == "pooled"
    assert found.differences == ()
    assert any("There are 10 users" in note for note in found.notes)


def test_one_user_has_no_verdict() -> None:
    logs = ct.Logs.from_arrays([0] * 40, np.eye(2)[np.arange(40) % 2], np.arange(40.0) % 3)
    found = evaluate(logs, Plan(algorithms=["independent", "pooled"], fractions=[1.0], splits=1))
    assert any("There is 1 user, and" in note for note in found.notes)
    with pytest.raises(LogError, match="1 user was judged, and comparing takes two users or more"):
        _ = found.verdict


def test_the_settings_are_checked() -> None:
    with pytest.raises(ParameterError, match="there is no algorithm 'best'; there are independent, pooled"):
        Plan(algorithms=["best"])
    with pytest.raises(ParameterError, match="name at least one, each once"):
        Plan(algorithms=["pooled", "pooled"])
    with pytest.raises(ParameterError, match=r"fractions are \[2.0\]; give numbers above 0 and at most 1"):
        Plan(fractions=[2.0])
    with pytest.raises(ParameterError, match="choice_size is 1"):
        Plan(choice_size=1)
    with pytest.raises(ParameterError, match="metric is 'best'"):
        Plan(metric="best")


def test_logs_that_teach_nothing_are_refused() -> None:
    with pytest.raises(LogError, match="the log has 2 rows and actions have 3 coordinates"):
        evaluate(ct.Logs.from_arrays([1, 2], np.eye(3)[:2], [0.0, 1.0]))
    with pytest.raises(
        LogError, match="every reward is 1, so there is nothing to tell good actions from bad"
    ):
        evaluate(ct.Logs.from_arrays([1, 2], np.ones((2, 1)), [1.0, 1.0]))


def test_the_command_says_which_and_fits_it(tmp_path: Path) -> None:
    drawn = Synthetic(n_users=40, n_clusters=1, dim=3, noise=0.5).draw(n_rows=800, rng=2)
    columns = {f"f{j}": drawn.action[:, j] for j in range(3)}
    log = tmp_path / "log.parquet"
    pq.write_table(pa.table({"user": drawn.user, **columns, "reward": drawn.reward}), log)
    told = ("--user", "user", "--action", "f*", "--reward", "reward", "--fractions", "1", "--splits", "2")
    kept, model = tmp_path / "run", tmp_path / "model"
    two = ("--algorithm", "independent", "--algorithm", "pooled")
    ran = done("evaluate", log, *told, *two, "--run", kept, "--out", model)
    assert "For all users, use pooled; the next best, independent, is worse by" in ran.out
    assert ct.load(model).algorithm == "Pooled"
    assert EvaluationRun.load(kept).verdict.winner == "pooled"
    assert json.loads(done("evaluate", log, *told, *two, "--format", "json").out)["counts"]["users"] == 40
    assert done("evaluate", log, *told, *two, "--format", "csv").out.startswith("algorithm,metric,fraction")
    failed = run("evaluate", log, *told, "--algorithm", "best")
    assert (failed.status, failed.err.count("\n")) == (1, 1)
    assert run("evaluate", log, *told[:-4], "--fractions", "half").status == 2


def test_a_mixture_is_compared_and_its_kind_is_tuned() -> None:
    """Two exact clusters, 12 rows a user: exact points predict better than anybody alone."""
    drawn = Synthetic(n_users=30, n_clusters=2, dim=2, noise=0.3, min_gap=1.0).draw(n_rows=360, rng=1)
    found = evaluate(drawn.logs, Plan(algorithms=("independent", "mixture"), fractions=(1.0,), splits=1))
    tried = {trial.settings for trial in found.trials if trial.algorithm == "mixture"}
    assert tried == {"kind=points", "kind=gaussian", "kind=gaussians"}
    error = {name: curve[-1].value or 0.0 for name, curve in found.curve("squared_error").items()}
    assert error["mixture"] < error["independent"]
    covered = {one.level: one.covered for one in found.calibration if one.algorithm == "mixture"}
    assert covered[0.8] == pytest.approx(0.8, abs=0.15)  # 72 rows: standard error 0.047
