"""Off-policy values: every possible log of a small world, weighed by its probability, gives the value.

The expectation of an estimator is computed by enumeration, so that "unbiased" is exact.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import coterie as ct
from coterie.errors import LogError
from coterie.evaluation import Plan, evaluate
from coterie.evaluation.off_policy import ESTIMATORS, Weighed, clipped, effective_size, value
from coterie.worlds import Synthetic

MEAN = np.array([[0.9, 0.2, 0.5], [0.1, 0.6, 0.3]])  # of two contexts' three actions, reward 0 or 1
SKEWED = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])
UNIFORM = np.full((2, 3), 1 / 3)
CHOICE = np.array([0, 1])
TRUTH = (0.9 + 0.6) / 2
WRONG = np.array([[0.5, 0.4, 0.1], [0.3, 0.3, 0.9]])


def expected(
    estimator: Callable[[Weighed], Any], p: Any, q: Any, clip: float = np.inf, given: bool = False
) -> float:
    """Expectation over logs of two rows, one per context; `given` that the estimate is defined."""
    total = chance = 0.0
    for probability, rows in logs(p, q):
        found = value(estimator(clipped(rows, clip)))
        if not given or not np.isnan(found):
            total, chance = total + probability * found, chance + probability
    return total / chance


def logs(p: Any, q: Any) -> Iterator[tuple[float, Weighed]]:
    context = np.arange(2)
    for action in product(range(3), repeat=2):
        for reward in product((0, 1), repeat=2):
            a, r = np.array(action), np.array(reward, dtype=float)
            mean = MEAN[context, a]
            probability = float(np.prod(p[context, a] * np.where(r == 1, mean, 1 - mean)))
            weight = (a == CHOICE) / p[context, a]
            yield probability, Weighed(weight, r, q[context, a], q[context, CHOICE])


@pytest.mark.parametrize("p", [SKEWED, UNIFORM], ids=["skewed", "uniform"])
def test_ips_and_doubly_robust_are_unbiased_for_any_reward_model(p: Any) -> None:
    assert expected(ESTIMATORS["ips"], p, WRONG) == pytest.approx(TRUTH, abs=1e-12)
    assert expected(ESTIMATORS["doubly_robust"], p, WRONG) == pytest.approx(TRUTH, abs=1e-12)


def test_the_direct_method_is_as_wrong_as_its_model() -> None:
    assert expected(ESTIMATORS["direct"], SKEWED, MEAN) == pytest.approx(TRUTH)
    assert expected(ESTIMATORS["direct"], SKEWED, WRONG) == pytest.approx((0.5 + 0.3) / 2)


def test_clipping_only_takes_away_and_nothing_above_the_largest_weight() -> None:
    """Weights are 5 and 10; clipped at 4 the value is 4 (0.2 * 0.9 + 0.1 * 0.6) / 2."""
    assert expected(ESTIMATORS["ips"], SKEWED, WRONG, clip=4) == pytest.approx(0.48)
    assert expected(ESTIMATORS["ips"], SKEWED, WRONG, clip=10) == pytest.approx(TRUTH)


def test_replay_is_unbiased_given_a_match_if_logging_is_uniform_and_matches_are_alike_often() -> None:
    assert expected(ESTIMATORS["replay"], UNIFORM, WRONG, given=True) == pytest.approx(TRUTH)
    assert expected(ESTIMATORS["replay"], SKEWED, WRONG, given=True) != pytest.approx(TRUTH, abs=0.01)


def test_snips_shifts_with_the_rewards_and_ips_does_not() -> None:
    rows = Weighed(np.array([2.0, 0, 1]), np.array([1.0, 0, 1]), *np.zeros((2, 3)))
    shifted = Weighed(rows.weight, rows.reward + 1, rows.logged, rows.chosen)
    assert value(ESTIMATORS["snips"](shifted)) == pytest.approx(value(ESTIMATORS["snips"](rows)) + 1)
    assert value(ESTIMATORS["ips"](shifted)) - value(ESTIMATORS["ips"](rows)) == pytest.approx(1)
    heavier = Weighed(2 * rows.weight, rows.reward, rows.logged, rows.chosen)
    assert value(ESTIMATORS["snips"](heavier)) == value(ESTIMATORS["snips"](rows))


def test_a_policy_that_logged_itself_has_the_mean_reward() -> None:
    rows = Weighed(np.ones(4), np.array([1.0, 2, 3, 4]), *np.zeros((2, 4)))
    for name in ("ips", "snips", "doubly_robust", "replay"):
        assert value(ESTIMATORS[name](rows)) == 2.5
    assert effective_size(rows.weight) == 4


def logged_table(seed: int = 0, n: int = 3000) -> tuple[pa.Table, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Log of 40 users and 6 shared actions with skewed propensities; the truth and the actions."""
    rng = np.random.default_rng(seed)
    truth = Synthetic(n_users=40, n_clusters=2, dim=3, min_gap=1.0).world(seed).truth
    actions = rng.standard_normal((6, 3)) / 2
    user = rng.integers(0, 40, n)
    p = rng.dirichlet(np.full(6, 3.0), 40) * 0.7 + 0.05
    taken = (rng.random(n)[:, None] > np.cumsum(p[user], axis=1)).sum(axis=1)
    mean = truth.theta[user] @ actions.T
    reward = mean[np.arange(n), taken] + 0.3 * rng.standard_normal(n)
    table = pa.table(
        {
            "user": user,
            "item": [f"i{k}" for k in taken],
            "reward": reward,
            "p": p[user, taken],
            "seen": [[f"i{k}" for k in range(6)]] * n,
        }
    )
    return table, truth.theta, actions


def items_of(actions: Any) -> pa.Table:
    return pa.table({"item": [f"i{k}" for k in range(len(actions))], "vector": actions.tolist()})


PLAN = Plan(fractions=(1.0,), splits=5, algorithms=("independent", "pooled"), clip=3.0)


def of_log(table: pa.Table, actions: Any, **more: Any) -> ct.Logs:
    named: dict[str, Any] = {"propensity": "p", **more}
    return ct.read_logs(table, user="user", item="item", items=items_of(actions), reward="reward", **named)


def test_values_of_a_world_are_near_the_truth() -> None:
    table, theta, actions = logged_table()
    run = evaluate(of_log(table, actions, candidates="seen"), PLAN)
    best = float((theta @ actions.T).max(axis=1).mean())
    by = {(one.algorithm, one.estimator): one for one in run.values}
    for name in ("ips", "snips", "doubly_robust", "direct"):
        assert by["independent", name].value == pytest.approx(best, abs=0.1)  # standard error about 0.03
    robust = by["independent", "doubly_robust"]
    assert robust.low is not None
    assert robust.high is not None
    assert robust.low - 0.02 < best < robust.high + 0.02
    assert by["independent", "ips"].mean_weight == pytest.approx(1, abs=0.15)
    assert by["independent", "clipped_ips"].largest_weight == 3
    assert by["independent", "clipped_ips"].clipped > 0
    assert by["logging policy", "logged"].value == pytest.approx(float(np.mean(table["reward"])))
    assert ("independent", "replay") not in by
    assert any("not logged with equal probability" in note for note in run.notes)


def test_candidates_as_a_column_a_list_a_table_or_vectors_are_the_same() -> None:
    table, _, actions = logged_table(n=600)
    names = [f"i{k}" for k in range(6)]
    ways: list[Any] = ["seen", names, pa.table({"item": names}), actions]
    runs = [evaluate(of_log(table, actions, candidates=way), PLAN).values for way in ways]
    assert runs[0] == runs[1] == runs[2] == runs[3]


def test_uniform_logging_has_a_replay_and_missing_propensities_leave_the_direct_method() -> None:
    table, _, actions = logged_table(n=600)
    rng = np.random.default_rng(1)
    table = table.set_column(1, "item", pa.array([f"i{k}" for k in rng.integers(0, 6, 600)]))
    even = table.set_column(3, "p", pa.array(np.full(600, 1 / 6)))
    found = {one.estimator for one in evaluate(of_log(even, actions, candidates="seen"), PLAN).values}
    assert "replay" in found
    run = evaluate(of_log(even, actions, candidates="seen", propensity=None), PLAN)
    assert {one.estimator for one in run.values} == {"logged", "direct"}
    assert any("no column of propensities, which ips, snips" in note for note in run.notes)
    run = evaluate(of_log(even, actions), PLAN)
    assert run.values == ()
    assert any("the candidate sets are not" in note for note in run.notes)


def test_a_chosen_action_outside_its_candidates_is_named_or_counted() -> None:
    table, _, actions = logged_table(n=600)
    some = [f"i{k}" for k in range(5)]
    with pytest.raises(LogError, match=r"row \d+ has a chosen action that is not among its candidates"):
        evaluate(of_log(table, actions, candidates=some), PLAN)
    run = evaluate(of_log(table, actions, candidates=some, on_bad="drop"), PLAN)
    outside = table["item"].to_pylist().count("i5")
    assert any(
        note.startswith(f"{outside} rows have a chosen action that is not among") for note in run.notes
    )
    assert run.values[0].n_rows == 600 - outside


def test_bad_candidates_are_one_sentence() -> None:
    table, _, actions = logged_table(n=100)
    for given, sentence in (
        (["i0", "i9"], "candidate 'i9' is an item that the item table lacks"),
        (np.eye(2), "candidates have 2 coordinates and the log's actions have 3"),
        ([], "candidates is empty"),
        (pa.table({"other": [1]}), "the table of candidates has no column"),
    ):
        with pytest.raises(LogError, match=sentence):
            evaluate(of_log(table, actions, candidates=given), PLAN)
    odd = table.set_column(4, "seen", pa.array([["i0"], *[["i1", "i7"]] * 99]))
    with pytest.raises(
        LogError, match="candidate 'i7' in column 'seen' is an item that the item table lacks"
    ):
        evaluate(of_log(odd, actions, candidates="seen"), PLAN)
    empty = table.set_column(4, "seen", pa.array([[], *[["i1"]] * 99], pa.list_(pa.string())))
    with pytest.raises(LogError, match="row 0 has no candidates in column 'seen'"):
        evaluate(of_log(empty, actions, candidates="seen"), PLAN)


def test_rewards_that_never_vary_where_matched_are_not_trusted() -> None:
    """User 0 always takes item 0 by her model; wherever the log did, the reward was 1."""
    table, _, _ = logged_table(n=600)
    ones = [1.0 if item == "i0" else 0.0 for item in table["item"].to_pylist()]
    basis = np.vstack([np.eye(3), -np.eye(3)])
    run = evaluate(
        of_log(table.set_column(2, "reward", pa.array(ones)), basis, candidates="seen"),
        Plan(fractions=(1.0,), splits=2, algorithms=("pooled",)),
    )
    assert any("matched rows of pooled have reward 1, so intervals" in note for note in run.notes)
