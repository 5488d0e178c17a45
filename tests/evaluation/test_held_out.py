"""Predictions, losses and the spread of the noise, worked by hand; rows read, bad ones refused or counted."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import coterie as ct
from coterie.errors import LogError
from coterie.evaluation.held_out import judged, per_user, sums_of
from coterie.evaluation.predict import Predicted, predict
from coterie.evaluation.rows import rows_of, times
from coterie.evaluation.tuning import Inner, likelihood

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")


def test_losses_of_two_users_by_hand() -> None:
    """Training: user 0 has rewards 1 and 3 (mean 2), user 1 none, so the overall mean 2 is hers.

    Judged: user 0 gets 5 and 1 where 4 and 2 were said, user 1 gets 0 where 1 was said; spread 1 + 0.
    """
    logs = ct.Logs.from_arrays([0, 0, 0, 0, 1], np.ones((5, 1)), [1.0, 3.0, 5.0, 1.0, 0.0])
    rows = rows_of(logs)
    part = np.array([1.0, 1, 0, 0, 0])
    on = judged(rows, part == 0, part, 2)
    estimate = np.array([4.0, 2.0, 1.0])
    sums = sums_of(Predicted(estimate, np.zeros(3), estimate), 1.0, on)
    assert on.count.tolist() == [2, 0]
    assert sums["squared_error"].tolist() == [2, 1]
    assert sums["own_mean_error"].tolist() == [9 + 1, 4]
    assert sums["choice_rows"].tolist() == [2, 0]
    assert sums["choice"].tolist() == [10, 0]
    assert sums["random"].tolist() == [6, 0]
    assert sums["hindsight"].tolist() == [10, 0]
    assert sums["log_likelihood"][1] == pytest.approx(-0.5 * math.log(2 * math.pi) - 0.5)
    assert sums["covered_0.5"].tolist() == [0, 0]
    assert sums["covered_0.8"].tolist() == [2, 1]


def test_the_spread_is_the_one_that_makes_the_rows_likeliest() -> None:
    stats = ct.summarize(ct.Logs.from_arrays([0, 0], [[1.0], [1.0]], [1.0, 2.0]))
    model = ct.Independent(confidence=ct.Confidence(ridge=1.0)).fit(stats)
    inner = Inner(stats, 1.0, np.array([0, 0, -1]), np.ones((3, 1)), np.array([2.0, 0.5, 1.0]), np.ones(3))
    best, spread = likelihood(model, inner)
    said = predict(model, inner.at, inner.action)
    assert said.estimate.tolist() == pytest.approx([1.0, 1.0, 0.0])
    assert said.spread.tolist() == pytest.approx([1 / 3, 1 / 3, 1.0])

    def of(s: float) -> float:
        variance = s * s * (1 + said.spread)
        return float(
            np.mean(
                -0.5 * np.log(2 * math.pi * variance) - (inner.reward - said.estimate) ** 2 / 2 / variance
            )
        )

    assert best == pytest.approx(of(spread))
    assert best > max(of(0.99 * spread), of(1.01 * spread))


def test_statistics_of_a_part_are_those_of_its_rows() -> None:
    rng = np.random.default_rng(0)
    user, action, reward = rng.integers(0, 9, 80), rng.standard_normal((80, 3)), rng.standard_normal(80)
    rows = rows_of(ct.Logs.from_arrays(user, action, reward))
    kept = rng.random(80) < 0.2
    stats, at = rows.statistics(kept.astype(np.float64))
    alone = ct.summarize(ct.Logs.from_arrays(user[kept], action[kept], reward[kept]))
    assert stats.users.tolist() == alone.users.tolist()
    np.testing.assert_array_equal(stats.packed_gram, alone.packed_gram)
    np.testing.assert_array_equal(stats.moment, alone.moment)
    assert all(stats.users[at[u]] == rows.users[u] for u in range(len(rows.users)) if at[u] >= 0)


def test_rows_of_several_batches_keep_their_users() -> None:
    names = [f"u{k}" for k in (3, 1, 2, 3, 10, 1)]
    table = pa.table({"user": names, "x": [1.0] * 6, "r": np.arange(6.0)})
    rows = rows_of(ct.read_logs(table, user="user", action=["x"], reward="r", batch_rows=2))
    assert rows.users[rows.user].tolist() == names
    assert rows.reward.tolist() == list(range(6))


def table(**columns: object) -> pa.Table:
    return pa.table({"user": [1, 1, 2, 2], "x": [1.0] * 4, "r": [0.0, 1, 0, 1], **columns})


NAMED: dict[str, Any] = {"user": "user", "action": ["x"], "reward": "r"}


@pytest.mark.parametrize("bad", [0.0, 1.5, -0.1, None])
def test_a_propensity_outside_its_range_is_named_or_counted(bad: float | None) -> None:
    given = table(p=[0.5, 0.5, bad, 0.5])
    with pytest.raises(LogError, match=r"row 2 of .* has a propensity that is not above 0 and at most 1"):
        rows_of(ct.read_logs(given, **NAMED, propensity="p"))
    rows = rows_of(ct.read_logs(given, **NAMED, propensity="p", on_bad="drop"))
    assert len(rows) == 3
    assert rows.dropped == {"a propensity that is not above 0 and at most 1": 1}


def test_times_are_numbers_that_grow_with_time() -> None:
    stamps = np.array(["2024-01-01T00:00:01", "2023-06-01T00:00:00"], dtype="datetime64[s]")
    found = times(stamps, "t")
    assert found[0] > found[1]
    given = table(t=pa.array([1, None, 3, 4], pa.timestamp("us")))
    with pytest.raises(LogError, match=r"row 1 of .* has no time, or none that can be ordered"):
        rows_of(ct.read_logs(given, **NAMED, time="t"))
    with pytest.raises(LogError, match="time column 't' holds 'soon', which is not a time"):
        rows_of(ct.read_logs(table(t=["soon"] * 4), **NAMED, time="t"))


def test_sums_per_user() -> None:
    assert per_user(np.array([0, 2, 0]), np.array([1.0, 5.0, 2.0]), 3).tolist() == [3, 0, 5]
