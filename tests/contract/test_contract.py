"""What every algorithm promises, each found by introspection of `coterie.algorithms`."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.contract.classes import ACTIONS, CLASSES, FIELDS, IDS, fitted, logs_of, make, obeys

import coterie as ct

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")

each_class = pytest.mark.parametrize("algorithm", CLASSES, ids=lambda one: one.__name__)
each_kind = pytest.mark.parametrize("kind", IDS)


@pytest.fixture(params=CLASSES, ids=lambda one: one.__name__)
def model(request: pytest.FixtureRequest) -> Any:
    return fitted(request.param)


def test_introspection_finds_the_slot_algorithms() -> None:
    assert {"OffC2LUB", "OffCLUB", "Independent", "Pooled", "Oracle"} <= {one.__name__ for one in CLASSES}


@each_class
@each_kind
def test_logs_and_statistics_give_the_same_model(algorithm: Any, kind: str) -> None:
    """Bit for bit; `confidence`, `bonus` and `rescale` are keywords of every class."""
    made = make(algorithm, confidence=ct.Confidence(noise=0.01), bonus=ct.Bonus(sign=1), rescale=False)
    one, other = made.fit(logs_of(kind)), made.fit(ct.summarize(logs_of(kind)))
    users = [*IDS[kind], "zoe" if kind == "text" else 77]
    for field in FIELDS:
        np.testing.assert_array_equal(
            getattr(one.decide_many(users, ACTIONS), field), getattr(other.decide_many(users, ACTIONS), field)
        )
    np.testing.assert_array_equal(one.theta, other.theta)
    assert str(one.report) == str(other.report)
    assert type(one.report).__name__ == "FitReport"


@each_class
def test_parameters_model_and_decision_are_frozen(algorithm: Any) -> None:
    made, model = make(algorithm), fitted(algorithm)
    for frozen in (
        made,
        model,
        model.decide("ann", ACTIONS),
        model.decide_many(["ann"], ACTIONS),
        model.explain("ann"),
    ):
        with pytest.raises(FrozenInstanceError):
            setattr(frozen, fields(frozen)[0].name, None)


@pytest.mark.parametrize("name", ["users", "theta", "pooled_count", "pooled_users"])
def test_writing_into_an_array_of_a_model_changes_nothing(model: Any, name: str) -> None:
    """Either it is refused, or the array was a copy."""
    require_unmoved(model, name)


def test_writing_into_the_gaps_changes_nothing() -> None:
    require_unmoved(fitted(ct.OffC2LUB), "gap")


def require_unmoved(model: Any, name: str) -> None:
    users = IDS["text"]
    before, lenders = model.decide_many(users, ACTIONS), [model.neighbours(user).tolist() for user in users]
    array = getattr(model, name)
    with suppress(ValueError):  # "assignment destination is read-only"
        array[:] = array[-1]
    assert model.users.tolist() == users
    assert [model.neighbours(user).tolist() for user in users] == lenders
    for field in FIELDS:
        np.testing.assert_array_equal(
            getattr(model.decide_many(users, ACTIONS), field), getattr(before, field)
        )


def test_statistics_are_not_writeable() -> None:
    stats = ct.summarize(logs_of())
    for name in ("count", "moment", "packed_gram", "reward_square"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(stats, name)[:] = 0


def test_statistics_do_not_follow_the_arrays_they_were_made_from() -> None:
    ones = [np.ones(shape) for shape in ((2,), (2, 1), (2, 1), (2,))]
    users = np.array([1, 2])
    names = ("count", "moment", "gram", "reward_square")
    made = ct.UserStatistics.from_arrays(users=users, **dict(zip(names, ones, strict=True)))  # type: ignore[arg-type]
    for array in (users, *ones):
        array[:] = 7
    assert made.users.tolist() == [1, 2]
    assert all((getattr(made, name) == 1).all() for name in names)


@each_class
@each_kind
def test_fields_are_aligned_with_the_users_of_the_statistics(algorithm: Any, kind: str) -> None:
    stats = ct.summarize(logs_of(kind))
    shuffled = stats.taking(np.array([3, 5, 0, 2, 1, 4]))
    model, other = (
        fitted(algorithm, kind),
        make(algorithm, confidence=ct.Confidence(noise=0.01)).fit(shuffled),
    )
    assert model.users.tolist() == stats.users.tolist() == IDS[kind]
    assert other.users.tolist() == shuffled.users.tolist()
    assert model.theta.shape == (6, 3)
    assert model.pooled_count.shape == model.pooled_users.shape == (6,)
    back = shuffled.index.rows(stats.users)
    np.testing.assert_allclose(other.theta[back], model.theta, rtol=1e-9, atol=1e-12)
    for u, user in enumerate(IDS[kind]):
        choice = model.decide(user, np.eye(3)[:1])
        assert (choice.pooled_count, choice.pooled_users) == (model.pooled_count[u], model.pooled_users[u])
        assert choice.estimate == pytest.approx(model.theta[u, 0], rel=1e-12)
        lenders = stats.index.rows(model.neighbours(user))
        if not obeys(algorithm, "neighbours add up"):
            continue
        assert len(lenders) == model.pooled_users[u]
        assert stats.count[lenders].sum() == model.pooled_count[u]


@each_class
@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("form", ["norm", "squared"])
def test_score_is_estimate_and_signed_width_exactly(algorithm: Any, sign: int, form: str) -> None:
    model = fitted(algorithm, bonus=ct.Bonus(sign=sign, form=form, scale=0.3))  # type: ignore[arg-type]
    batch = model.decide_many([*IDS["text"], "zoe"], ACTIONS)
    assert np.array_equal(batch.score, batch.estimate + sign * batch.width)
    assert (batch.width > 0).all()
    for user in [*IDS["text"], "zoe"]:
        choice = model.decide(user, ACTIONS)
        assert choice.score == choice.estimate + sign * choice.width
        assert choice.width > 0
        zero = model.decide(user, np.zeros((2, 3)))
        assert (zero.index, zero.estimate, zero.width, zero.score) == (0, 0, 0, 0)


def test_decision_fields_are_plain_and_batched_alike(model: Any) -> None:
    users = ["eve", "zoe", "ann", "eve"]
    batch = model.decide_many(users, ACTIONS)
    kinds = {"index": int, "pooled_users": int, "seen": bool}
    assert len(batch) == 4
    for b, user in enumerate(users):
        choice = model.decide(user, ACTIONS)
        for field in FIELDS:
            assert type(getattr(choice, field)) is kinds.get(field, float)
            assert getattr(choice, field) == getattr(batch, field)[b]


def test_ties_go_to_the_lowest_index(model: Any) -> None:
    """Actions 0 and 2 are equal; so are all of a repeated one."""
    for user in [*IDS["text"], "zoe"]:
        best = model.decide(user, ACTIONS).index
        assert best != 2
        tied = np.array([ACTIONS[3], ACTIONS[best], ACTIONS[best], ACTIONS[best]])
        assert model.decide(user, tied).index == int(best != 3)
        assert model.decide_many([user], np.repeat(ACTIONS[1:2], 9, axis=0)).index.tolist() == [0]


@each_class
@each_kind
def test_an_unknown_user_is_served_and_not_seen(algorithm: Any, kind: str) -> None:
    model, known = fitted(algorithm, kind), IDS[kind][0]
    for unknown in ("ann ", "an", "ANN", "") if kind == "text" else (0, -1, 77, 2**63 - 1):
        choice = model.decide(unknown, ACTIONS)
        assert not choice.seen
        assert model.decide_many([known, unknown, known], ACTIONS).seen.tolist() == [True, False, True]
        assert unknown not in model.neighbours(unknown).tolist()
        assert "never seen in the logs" in str(model.explain(unknown))


@each_class
def test_intercept_is_appended_when_deciding(algorithm: Any) -> None:
    """As a log whose actions end in 1, decided over actions that end in 1; both are rescaled alike."""
    made = make(algorithm, confidence=ct.Confidence(noise=0.01))
    model = made.fit(logs_of(intercept=True))
    batch = next(logs_of(intercept=False).batches())
    ones = np.hstack([batch.action, np.ones((len(batch), 1))])
    by_hand = made.fit(ct.Logs.from_arrays(batch.users, ones, batch.reward, weight=batch.weight))
    assert (model.dim, by_hand.dim, model.theta.shape) == (3, 4, (6, 4))
    np.testing.assert_array_equal(model.theta, by_hand.theta)
    longer = np.hstack([ACTIONS, np.ones((4, 1))])
    for user in ("ann", "void", "zoe"):
        assert model.decide(user, ACTIONS) == by_hand.decide(user, longer)
        assert (
            model.decide_many([user] * 2, np.array([ACTIONS, ACTIONS])).score.tolist()
            == [by_hand.decide(user, longer).score] * 2
        )
    with pytest.raises(
        ct.errors.ActionError, match="actions have 4 coordinates and the model was fitted on 3"
    ):
        model.decide("ann", longer)


def test_neighbours_include_oneself_and_explanations_add_up(model: Any) -> None:
    for user in IDS["text"]:
        lenders = model.neighbours(user).tolist()
        told = model.explain(user)
        assert user in lenders
        assert sorted(one.user for one in told.neighbours) == sorted(lenders)
        assert sorted([*lenders, *(one.user for one in told.left_out)]) == IDS["text"]
        if told.pooled_count:
            assert sum(one.share for one in told.neighbours) == pytest.approx(1, abs=1e-12)
        assert told.neighbours[0].user == user
        shares = [one.share for one in told.neighbours[1:]]
        assert shares == sorted(shares, reverse=True)
        assert all(one.reason for one in told.left_out)
        text = str(told)
        assert repr(user) in text
        assert f"served by {model.algorithm}" in text
        assert f"{told.pooled_users} user" in text


@each_class
@each_kind
def test_saved_models_decide_alike_whole_and_compact(algorithm: Any, kind: str, tmp_path: Path) -> None:
    model, users = fitted(algorithm, kind), IDS[kind]
    model.save(tmp_path / "whole")
    with pytest.warns(ct.CoterieWarning, match="neighbours, explain and statistics are lost"):
        model.save(tmp_path / "compact", compact=True)
    whole, compact = ct.load(tmp_path / "whole"), ct.load(tmp_path / "compact")
    for back in (whole, compact):
        assert (back.algorithm, back.parameters, back.report) == (
            model.algorithm,
            model.parameters,
            model.report,
        )
        assert (back.confidence, back.bonus, back.scale) == (model.confidence, model.bonus, model.scale)
        assert [back.decide(user, ACTIONS) for user in users] == [
            model.decide(user, ACTIONS) for user in users
        ]
    assert [str(whole.explain(user)) for user in users] == [str(model.explain(user)) for user in users]
    refitted = make(algorithm, confidence=ct.Confidence(noise=0.01)).fit(whole.statistics)
    np.testing.assert_array_equal(refitted.theta, model.theta)
    for lost in (compact.neighbours, compact.explain, lambda _: compact.statistics):
        with pytest.raises(ct.errors.FileError, match=r"saved with compact=True and has no .*save it whole"):
            lost(users[0])


def test_an_infinite_gap_or_count_is_refused() -> None:
    with pytest.raises(ct.errors.ParameterError, match="gap is inf; it must be a finite number"):
        ct.OffC2LUB(gap=math.inf)
    with pytest.raises(ct.errors.ParameterError, match="min_samples is inf; it must be a finite number"):
        ct.OffC2LUB(min_samples=math.inf)
