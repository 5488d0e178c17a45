r"""Three users in one dimension, all the way from rows to decisions, by hand.

Every action is 1, so that sum(a a') = N. With ridge 1, noise 0 and ||theta|| <= 1 the multiplier is
0 * sqrt(...) + 1 * sqrt(1) = 1, hence CI_u = 1 / sqrt(1 + N_u) under `Observed()`:

| user | N | sum r | M = 1 + N | theta-hat = sum r / M | CI = 1 / sqrt(M) |
|------|---|-------|-----------|-----------------------|------------------|
| ann  | 3 | 0     | 4         | 0                     | 1/2              |
| bob  | 8 | 9     | 9         | 1                     | 1/3              |
| eve  | 15| 8     | 16        | 1/2                   | 1/4              |

| pair    | distance | CI + CI | Gamma = distance - | Gamma-tilde = distance + |
|---------|----------|---------|--------------------|--------------------------|
| ann bob | 1        | 5/6     | 1/6                | 11/6                     |
| ann eve | 1/2      | 3/4     | -1/4               | 5/4                      |
| bob eve | 1/2      | 7/12    | -1/12              | 13/12                    |
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import coterie as ct

USERS = ["ann", "bob", "eve"]
COUNT = [3, 8, 15]
MOMENT = [0.0, 9.0, 8.0]
QUIET = ct.Confidence(ridge=1.0, noise=0.0)

pytestmark = pytest.mark.filterwarnings("ignore:outside the paper's conditions:coterie.errors.CoterieWarning")


def stats() -> ct.UserStatistics:
    """One row per sample, each with the mean reward of its user."""
    user = np.repeat(USERS, COUNT)
    reward = np.repeat(np.divide(MOMENT, COUNT), COUNT)
    return ct.summarize(ct.Logs.from_arrays(user, np.ones((len(user), 1)), reward))


def lenders(model: Any) -> dict[str, list[str]]:
    return {user: model.neighbours(user).tolist() for user in USERS}


def test_the_sums_are_the_table() -> None:
    assert stats().count.tolist() == COUNT
    assert stats().gram.ravel().tolist() == COUNT
    assert stats().moment.ravel() == pytest.approx(MOMENT)
    assert stats().reward_square == pytest.approx([0, 81 / 8, 64 / 15])


def test_off_club_drops_the_one_pair_that_is_provably_different() -> None:
    """1 > 5/6 is dropped; 1/2 <= 3/4 and 1/2 <= 7/12 stay. The prior is added once.

    ann: 8 / (1 + 18); bob: 17 / (1 + 23); eve, who has both: 17 / (1 + 26).
    """
    model = ct.OffCLUB(confidence=QUIET).fit(stats())
    assert lenders(model) == {"ann": ["ann", "eve"], "bob": ["bob", "eve"], "eve": USERS}
    assert model.pooled_count.tolist() == [18, 23, 26]
    assert model.pooled_users.tolist() == [2, 2, 3]
    assert model.theta.ravel() == pytest.approx([8 / 19, 17 / 24, 17 / 27])
    told = model.explain("ann")
    assert told.radius == pytest.approx(1 / 2)
    assert [one.user for one in told.left_out] == ["bob"]
    assert (told.left_out[0].distance, told.left_out[0].threshold) == pytest.approx((1, 5 / 6))


def test_off_c2lub_with_a_fixed_gap() -> None:
    """Gap 1.3: 1 < 1.3 - 5/6 fails; 1/2 < 1.3 - 3/4 and 1/2 < 1.3 - 7/12 hold. The prior is once per user.

    ann: 8 / (2 + 18); bob: 17 / (2 + 23); eve: 17 / (3 + 26).
    """
    model = ct.OffC2LUB(gap=1.3, confidence=QUIET).fit(stats())
    assert lenders(model) == {"ann": ["ann", "eve"], "bob": ["bob", "eve"], "eve": USERS}
    assert model.theta.ravel() == pytest.approx([8 / 20, 17 / 25, 17 / 29])


@pytest.mark.parametrize(
    ("gap", "sharing", "gaps", "who"),
    [
        # M(ann) = {bob}, M(bob) = {ann}, M(eve) is empty: her gap is 0 and nobody lends to her. For ann the
        # pair with eve asks 1/2 < 11/6 - 3/4; the one with bob 1 < 11/6 - 5/6, a tie, so no edge.
        ("over", "own", [11 / 6, 11 / 6, 0], {"ann": ["ann", "eve"], "bob": ["bob", "eve"], "eve": ["eve"]}),
        # Both ends must accept, and eve never does.
        ("over", "mutual", [11 / 6, 11 / 6, 0], {user: [user] for user in USERS}),
        # The smallest gap that any user has, for eve too.
        ("over", "global", [11 / 6] * 3, {"ann": ["ann", "eve"], "bob": ["bob", "eve"], "eve": USERS}),
        # 1/6 is below every sum of two radii.
        ("under", "own", [1 / 6, 1 / 6, 0], {user: [user] for user in USERS}),
    ],
)
def test_off_c2lub_with_estimated_gaps(
    gap: Any, sharing: Any, gaps: list[float], who: dict[str, list[str]]
) -> None:
    model = ct.OffC2LUB(gap=gap, sharing=sharing, confidence=QUIET).fit(stats())
    assert model.gap == pytest.approx(gaps)
    assert lenders(model) == who


def test_counts_below_the_least_are_joined_to_nobody() -> None:
    """With min_samples 8 ann is out; bob, who has exactly 8, is in."""
    model = ct.OffC2LUB(gap=1.3, min_samples=8, confidence=QUIET).fit(stats())
    assert lenders(model) == {"ann": ["ann"], "bob": ["bob", "eve"], "eve": ["bob", "eve"]}


@pytest.mark.parametrize(
    ("bonus", "width"),
    [
        # ||a|| = 1 / sqrt(25), beta = 1
        (ct.Bonus(), 0.2),
        (ct.Bonus(form="squared", scale=3.0), 3 / 25),
        # beta ends in sqrt(1 * 2)
        (ct.Bonus(prior="proof"), 0.2 * math.sqrt(2)),
    ],
)
def test_bobs_decision(bonus: ct.Bonus, width: float) -> None:
    """theta = 17/25; of 1, -1 and 1/2 the first has the best estimate and the best score."""
    model = ct.OffC2LUB(gap=1.3, confidence=QUIET, bonus=bonus).fit(stats())
    choice = model.decide("bob", [[-1.0], [1.0], [0.5]])
    assert choice.index == 1
    assert choice.estimate == pytest.approx(17 / 25)
    assert choice.width == pytest.approx(width)
    assert choice.score == pytest.approx(17 / 25 - width)
    assert (choice.pooled_count, choice.pooled_users, choice.seen) == (23, 2, True)


def test_pessimism_prefers_doing_little_where_little_is_known() -> None:
    """Under `Independent` ann has theta 0 and width |a| / 2: the action 0 wins, score 0 against -1/2."""
    model = ct.Independent(confidence=QUIET).fit(stats())
    assert model.decide("ann", [[1.0], [0.0], [-1.0]]).index == 1


def test_a_user_never_seen() -> None:
    """theta-hat 0 and CI = 1 / sqrt(1) = 1: to ann 0 <= 3/2, to bob 1 <= 4/3, to eve 1/2 <= 5/4; all lend."""
    model = ct.OffCLUB(confidence=QUIET).fit(stats())
    choice = model.decide("zoe", [[1.0]])
    assert choice.estimate == pytest.approx(17 / 27)
    assert (choice.pooled_count, choice.pooled_users, choice.seen) == (26, 4, False)


def test_regularity_in_place_of_eigenvalues() -> None:
    """`IID(1/2)`: CI = 1 / sqrt(N / 4), and N_min is 64 log(8 * 3 * 1 / (0.01 / 4)) = 64 log 9600 = 586.8."""
    confidence = ct.Confidence(ridge=1.0, noise=0.0, regularity=ct.IID(0.5))
    model = ct.OffCLUB(confidence=confidence).fit(stats())
    assert model.explain("ann").radius == pytest.approx(2 / math.sqrt(3))
    assert model.explain("zoe").radius == math.inf
    assert ct.theory.min_samples(3, 1, 0.01, 0.5) == pytest.approx(586.8, abs=0.1)
    assert lenders(ct.OffC2LUB(gap=9.0, confidence=confidence).fit(stats())) == {u: [u] for u in USERS}
