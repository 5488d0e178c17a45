"""Candidate actions weighed by hand: own part, own choice, intervals, and the features that decide."""

import math
from typing import Any

import numpy as np
import pytest

import coterie as ct
from coterie.model import Model

ACTIONS = [[0.0, 1.0], [1.0, 0.0]]


def logs() -> ct.Logs:
    """Ann: 8 times (1, 0) for 0.5, once (0, 1) for 1. Bob: once (1, 0) for 1, 8 times (0, 1) for 0."""
    user = ["ann"] * 9 + ["bob"] * 9
    action = [[1, 0]] * 8 + [[0, 1]] + [[1, 0]] + [[0, 1]] * 8
    return ct.Logs.from_arrays(user, action, [0.5] * 8 + [1.0] + [1.0] + [0.0] * 8)


def model(algorithm: Any = ct.Pooled, sign: Any = 0, **more: Any) -> Model:
    confidence = ct.Confidence(ridge=1.0, noise=0.1)
    fitted: Model = algorithm(confidence=confidence, bonus=ct.Bonus(sign=sign, **more)).fit(logs())
    return fitted


def test_the_parts_of_an_estimate() -> None:
    """Pooled M is diag(10, 10) and b is (5, 1): estimates 0.5 and 0.1. Ann's own moment is (4, 1).

    Her own parts are 4/10 and 1/10; alone M is diag(9, 2), so her own estimates are 4/9 and 1/2.
    """
    told = model().explain("ann", ACTIONS).comparison
    assert told is not None
    assert (told.chosen, told.own_choice, told.runner_up) == (1, 0, 0)
    best, other = told.candidates
    assert (best.index, best.name) == (1, None)
    assert (best.estimate, best.own_part) == pytest.approx((0.5, 0.4))
    assert (other.estimate, other.own_part) == pytest.approx((0.1, 0.1))
    assert (best.own_estimate, other.own_estimate) == pytest.approx((4 / 9, 1 / 2))


def test_the_features_that_made_the_difference() -> None:
    """(1, 0) against (0, 1) at weights (0.5, 0.1)."""
    told = model().explain("ann", ACTIONS).comparison
    assert told is not None
    assert [one.feature for one in told.contributions] == ["action[0]", "action[1]"]
    assert [one.difference for one in told.contributions] == pytest.approx([0.5, -0.1])
    assert told.width_difference == 0


@pytest.mark.parametrize("more", [{}, {"form": "squared"}, {"scale": 0.5}])
def test_the_interval_is_that_of_the_confidence_whatever_the_bonus(more: dict[str, Any]) -> None:
    """beta = 0.1 sqrt(2 log(1 + 18 / 2) + 2 log(2 * 2 / 0.01)) + 1, and the norm is 1 / sqrt(10)."""
    reach = (0.1 * math.sqrt(2 * math.log(10) + 2 * math.log(400)) + 1) / math.sqrt(10)
    told = model(sign=-1, **more).explain("ann", ACTIONS).comparison
    assert told is not None
    for one in told.candidates:
        assert (one.high - one.estimate, one.estimate - one.low) == pytest.approx((reach, reach))


@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("algorithm", [ct.OffC2LUB, ct.OffCLUB, ct.Independent, ct.Pooled])
@pytest.mark.filterwarnings("ignore:outside the paper's conditions")
def test_the_comparison_says_what_decide_does(algorithm: Any, sign: Any) -> None:
    fitted = model(algorithm, sign)
    for user in ("ann", "bob", "nobody"):
        told, choice = fitted.explain(user, ACTIONS).comparison, fitted.decide(user, ACTIONS)
        assert told is not None
        best = told.candidates[0]
        assert (told.chosen, best.score, best.estimate) == (choice.index, choice.score, choice.estimate)
        assert told.own_choice == model(ct.Independent, sign).decide(user, ACTIONS).index
        lead = sum(one.difference for one in told.contributions) + told.width_difference
        assert lead == pytest.approx(best.score - told.candidates[1].score)


def test_alone_everything_is_own() -> None:
    told = model(ct.Independent).explain("bob", ACTIONS).comparison
    assert told is not None
    for one in told.candidates:
        assert one.own_part == pytest.approx(one.estimate, abs=1e-12)
        assert (one.own_estimate, one.own_score) == pytest.approx((one.estimate, one.score))


def test_an_estimate_that_is_no_ridge_estimate_has_no_own_part() -> None:
    rng = np.random.default_rng(0)
    user, action = np.repeat(np.arange(4), 30), rng.standard_normal((120, 2)) / 4
    reward = action @ [1.0, 0.5] + 0.1 * rng.standard_normal(120)
    told = ct.ARMUL(penalty=0.3).fit(ct.Logs.from_arrays(user, action, reward)).explain(0, ACTIONS).comparison
    assert told is not None
    assert {one.own_part for one in told.candidates} == {None}


def test_one_action_has_no_runner_up() -> None:
    told = model().explain("ann", [[1.0, 0.0]])
    assert told.comparison is not None
    assert (told.comparison.runner_up, told.comparison.contributions) == (None, ())
    assert "Ahead of" not in str(told)


def test_names_and_words() -> None:
    text = str(model().explain("ann", ACTIONS, names=["tea", "milk"]))
    assert "Of 2 actions user 'ann' gets 'milk': estimated reward 0.5, between" in text
    assert "; 0.4 of that comes from own rewards." in text
    assert "it would have been 'tea', put at 0.5 by them and at 0.1 by all that was pooled." in text
    assert "  Ahead of 'tea' by 0.4 of score:\n    action[0]: +0.5 (1 against 0, weight 0.5)" in text


def test_names_that_do_not_match_are_refused() -> None:
    with pytest.raises(ct.errors.ActionError, match="1 names and 2 actions were given; give a name for each"):
        model().explain("ann", ACTIONS, names=["tea"])


@pytest.mark.parametrize(
    ("algorithm", "reason"),
    [(ct.Pooled, "everybody lends"), (lambda **k: ct.Oracle([0, 0], **k), "has the same label")],
)
def test_why_others_lend(algorithm: Any, reason: str) -> None:
    assert [one.reason for one in model(algorithm).explain("ann").neighbours] == ["own data", reason]


def test_of_a_user_never_seen_that_is_said_first() -> None:
    """Ann has 9 of 18 samples, as has Bob; pooled, action 1 is put at 0.5 and action 0 at 0.1, as above."""
    told = str(model().explain("zoe", ACTIONS)).splitlines()
    lent = "from 18 samples lent by 2 users, most of all by 'ann' (50%)."
    assert told[:5] == [
        "User 'zoe' was never seen in the logs and has no data of her own. Check the id; if it is right:",
        f"  Pooled serves her, as anybody unknown, {lent}",
        told[2],
        "She has no data of her own: without the others' every action would be put at 0.",
        "  Actions, best first:",
    ]
    assert told[2].startswith("Of 2 actions user 'zoe' gets number 1: estimated reward 0.5, between ")
    assert not any("own data alone" in line or "Lends" in line for line in told)
    alone = str(model(ct.Independent).explain("zoe")).splitlines()
    assert alone[1:] == ["  Independent lends her nobody's data, so nothing is known of any action."]
