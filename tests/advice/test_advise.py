"""Advice: facts by hand, the recommendation that a simulated log calls for, warnings with what to do."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.program import done, run

import coterie as ct
from coterie.advice import Advice, advise
from coterie.advice.facts import counts_of
from coterie.advice.separation import differences_of, pairs_of
from coterie.errors import LogError, ParameterError
from coterie.worlds import Synthetic

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")


def of(n_clusters: int, per_user: int, noise: float = 0.3, users: int = 80, **more: Any) -> ct.Logs:
    settings = Synthetic(n_users=users, n_clusters=n_clusters, dim=4, noise=noise, **more)
    world = settings.world(3)
    rng = np.random.default_rng(4)
    user = np.repeat(np.arange(users), per_user)
    action, reward = world.logging.log(world, user, rng)
    return ct.Logs.from_arrays(user, action, reward)


def flat(value: Any) -> list[Any]:
    """Every number and text inside plain values."""
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in flat(one)]
    if isinstance(value, list | tuple):
        return [leaf for one in value for leaf in flat(one)]
    return [value]


def test_users_who_are_alike_are_pooled() -> None:
    assert advise(of(1, 20)).by_data.algorithm == "pooled"


def test_groups_with_many_rows_are_separated_and_with_few_are_joined() -> None:
    many, few = advise(of(4, 60, min_gap=1.0)), advise(of(4, 6, noise=1.0, min_gap=1.0))
    assert (many.by_data.algorithm, few.by_data.algorithm) == ("off-club", "off-c2lub")
    assert many.by_data.settings["graph_scale"] < 1
    model = ct.OffCLUB(
        graph_scale=many.by_data.settings["graph_scale"],
        confidence=ct.Confidence(noise="estimate", ridge=many.by_data.settings["ridge"]),
    ).fit(of(4, 60, min_gap=1.0))
    assert model.pooled_users.mean() == pytest.approx(20, abs=2)


def test_users_of_whom_no_two_are_alike_are_served_alone() -> None:
    """With 400 rows and noise 0.1 each of 80 random directions is known to about 0.01."""
    assert advise(of(80, 400, noise=0.1)).by_data.algorithm == "independent"


def test_caution_and_reach_choose_the_gap_policy_with_the_paper_s_reason() -> None:
    logs = of(4, 60, min_gap=1.0)
    for prefer, gap, word in (
        ("caution", "under", "bias is dangerous"),
        ("reach", "over", "pooling much data"),
    ):
        advice = advise(logs, prefer=prefer)  # type: ignore[arg-type]
        assert advice.by_data.settings["gap"] == advice.by_paper.settings["gap"] == gap
        assert any(word in reason for reason in advice.by_paper.reasons)
    with pytest.raises(ParameterError, match="prefer is 'fame'"):
        advise(logs, prefer="fame")  # type: ignore[arg-type]


def test_table_1_asks_for_sufficient_users() -> None:
    """One coordinate that is always 1: x = 1, and 512 log(2 * 2 / 0.01) R^2 = 31 rows suffice at gap 1 "
    "for R = 0.1."""
    rng = np.random.default_rng(0)
    n = 20_000
    reward = np.repeat([1.0, -1.0], n) + 0.1 * rng.standard_normal(2 * n)
    logs = ct.Logs.from_arrays(np.repeat([0, 1], n), np.ones((2 * n, 1)), reward)
    advice = advise(logs)
    assert advice.by_paper.algorithm == "off-club"
    assert "All 2 users" in advice.by_paper.reasons[0]
    at_one = next(one for one in advice.facts.sufficient if one.gap == 2)
    enough = 16 * math.log(8 * 2 / 0.01)  # N_min is the larger term here: 118
    assert at_one.needed == pytest.approx(max(enough, 512 * math.log(400) * 0.01 / 4), rel=0.02)


def test_the_f_test_is_that_of_two_regressions() -> None:
    """Against scipy's one-way analysis of variance, where each user's regression is on a constant."""
    from scipy.stats import f_oneway

    rng = np.random.default_rng(2)
    groups = [rng.standard_normal(n) + shift for n, shift in ((9, 0.0), (14, 0.5), (20, -0.2))]
    user = np.repeat(np.arange(3), [len(group) for group in groups])
    stats = ct.summarize(ct.Logs.from_arrays(user, np.ones((43, 1)), np.concatenate(groups)))
    found = differences_of(stats, 1.0)
    assert found is not None
    assert found.p_value == pytest.approx(f_oneway(*groups).pvalue)


def test_counts_and_pairs_by_hand() -> None:
    logs = ct.Logs.from_arrays([1, 2, 2, 3, 3, 3], np.ones((6, 1)), [1.0, 2, 2, 4, 4, 4])
    stats = ct.summarize(logs)
    assert counts_of(stats).quantiles["50%"] == 2
    assert (counts_of(stats).none, counts_of(stats).one, counts_of(stats).fewer_than_d) == (0, 1, 0)
    pairs = pairs_of(stats, ct.Confidence(ridge=1.0, noise=0.0), 1.0, (0.0, 1.0))
    assert pairs is not None  # estimates 1/2, 4/3 and 3, radii 1/sqrt(2), 1/sqrt(3) and 1/2
    assert pairs.distance["50%"] == pytest.approx(3 - 4 / 3)
    assert pairs.threshold["50%"] == pytest.approx(1 / math.sqrt(2) + 1 / 2)
    assert pairs.separated["1"] == pytest.approx(2 / 3)


KINDS: list[tuple[list[float], str]] = [
    ([0, 1, 1, 0], "binary"),
    ([-1, 1, 1, -1], "two values"),
    ([1, 2, 3, 5], "few values"),
]


@pytest.mark.parametrize(("rewards", "kind"), KINDS)
def test_kinds_of_rewards(rewards: list[float], kind: str) -> None:
    logs = ct.Logs.from_arrays([1, 1, 2, 2] * 20, np.ones((80, 1)), rewards * 20)
    assert advise(logs).facts.rewards.kind == kind


def test_scales_of_rewards() -> None:
    n = 200
    for rewards, kind in (
        (np.arange(n), "counts"),
        (np.linspace(0, 1, n), "bounded"),
        (np.linspace(-1, 1, n), "real"),
    ):
        logs = ct.Logs.from_arrays(np.arange(n) % 9, np.ones((n, 1)), rewards)
        assert advise(logs).facts.rewards.kind == kind


def table(n: int = 400) -> pa.Table:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(n) / 4
    times = np.datetime64("2024-03-01T00:00:00", "s") + rng.permutation(n)
    return pa.table(
        {
            "user": np.arange(n) % 40,
            "x": x,
            "same": x,
            "one": np.full(n, 0.5),
            "reward": 5 + x + 0.1 * rng.standard_normal(n),
            "when": times,
            "p": [0.25, 0.0, *[0.5] * (n - 2)],
        }
    )


def advice_on(given: pa.Table, action: list[str], **more: Any) -> Advice:
    return advise(ct.read_logs(given, user="user", action=action, reward="reward", **more))


def test_warnings_say_what_to_do() -> None:
    advice = advice_on(table(), ["x", "same", "one"], time="when", propensity="p")
    said = "\n".join(advice.warnings)
    assert "Feature 'one' is the same in every row" in said
    assert "Features 'x' and 'same' are the same in every row; leave one of them out." in said
    assert "Logged actions span 2 of 3 coordinates" in said
    assert "1 rows have a propensity that is not above 0 and at most 1" in said
    assert "rows are earlier than the row before them" in said
    assert advice.facts.time == ("2024-03-01T00:00:00", "2024-03-01T00:06:39")
    assert advice.facts.propensities == (0.25, 0.5)


def test_an_offset_without_an_intercept_is_noticed() -> None:
    assert any("read the log with intercept=True" in one for one in advice_on(table(), ["x"]).warnings)
    assert not any("intercept=True" in one for one in advice_on(table(), ["x"], intercept=True).warnings)


def test_candidate_sets_give_the_smoothed_regularity() -> None:
    sets = [[[1.0, 0.0], [0.0, 1.0]]] * 400
    given = table().append_column("seen", pa.array(sets))
    both = advice_on(given, ["x", "one"], candidates="seen").facts.actions
    shared = advice_on(given, ["x", "one"], candidates=np.eye(2)).facts.actions
    assert both.candidates == shared.candidates == 2
    assert both.smoothed is not None
    assert 0 < both.smoothed < both.regularity
    assert shared.smoothed == pytest.approx(both.smoothed, rel=0.05)


def test_logs_that_teach_nothing() -> None:
    with pytest.raises(LogError, match="every reward is 1, so there is nothing to tell"):
        advise(ct.Logs.from_arrays([1, 2], np.ones((2, 1)), [1.0, 1.0]))
    short = advise(ct.Logs.from_arrays([1, 2, 3], np.eye(3), [0.0, 1.0, 2.0]))
    assert short.by_data.algorithm == "pooled"
    assert any("too few rows for the noise to be estimated" in one for one in short.warnings)
    assert not any(isinstance(one, float) and math.isnan(one) for one in flat(short.plain()))


def test_the_command_prints_one_screen_and_json(tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    pq.write_table(table(), log)
    told = ("advise", log, "--user", "user", "--action", "x", "--reward", "reward", "--intercept")
    out = done(*told, "--prefer", "caution").out
    assert out.startswith("Log: 400 rows, 40 users, 2 coordinates")
    assert "By the paper's Table 1: --algorithm off-c2lub --gap under --noise estimate" in out
    assert "Not checked: that rewards are linear" in out
    assert len(out.splitlines()) < 40
    assert json.loads(done(*told, "--format", "json").out)["facts"]["users"] == 40
    assert run(*told, "--prefer", "fame").status == 2
