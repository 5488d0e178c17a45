"""What every algorithm and every fitted model refuses, and the sentence that says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.contract.classes import ACTIONS, CLASSES, IDS, fitted, logs_of, make

import coterie as ct

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")

each_class = pytest.mark.parametrize("algorithm", CLASSES, ids=lambda one: one.__name__)


@pytest.fixture(params=CLASSES, ids=lambda one: one.__name__)
def model(request: pytest.FixtureRequest) -> Any:
    return fitted(request.param)


@each_class
@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        ("text", 1, r"user ids here are text, but 1 was asked for; give ids of the same kind"),
        (
            "integers",
            "ann",
            r"user ids here are integers, but 'ann' was asked for; give ids of the same kind",
        ),
        ("integers", 1.5, "user ids must be (all )?integers or"),
        ("integers", True, "user ids must be integers or text"),
        ("text", None, "has no value in row 0"),
        ("text", b"ann", "user ids must be "),
        ("text", ("ann", "bob"), "one id per row is required"),
    ],
)
def test_ids_of_the_wrong_kind_are_refused(algorithm: Any, kind: str, wrong: object, message: str) -> None:
    model = fitted(algorithm, kind)
    for ask in (model.neighbours, model.explain, lambda user: model.decide(user, ACTIONS)):
        with pytest.raises(ct.CoterieError, match=message):
            ask(wrong)
    with pytest.raises(ct.CoterieError, match=message):
        model.decide_many([wrong], ACTIONS)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.ones((2, 2)), r"actions have 2 coordinates and the model was fitted on 3 \(.*\); give the same"),
        (np.ones((2, 4)), r"actions have 4 coordinates and the model was fitted on 3"),
        (np.ones(3), r"actions have shape \(3,\); \(K, d\) is required"),
        (np.ones((1, 2, 3)), r"actions have shape \(1, 2, 3\); \(K, d\) is required"),
        (np.ones((0, 3)), "the action set is empty; give at least one action"),
        ([], "the action set is empty; give at least one action"),
        (
            [[1, 2, 3], [1, np.nan, 3]],
            "action 1 of request 0 has NaN or infinity; every coordinate must be finite",
        ),
        ([[np.inf, 2, 3]], "action 0 of request 0 has NaN or infinity"),
        ([[1, 2, 3], [1, 2, 3], [1, 2, -np.inf]], "action 2 of request 0 has NaN or infinity"),
        ([["a", "b", "c"]], "actions are not an array of numbers"),
        ([[1, 2, 3], [1, 2]], "actions are not an array of numbers"),
        (None, "actions "),
    ],
)
def test_action_sets_that_cannot_be_decided_over(model: Any, actions: object, message: str) -> None:
    with pytest.raises(ct.errors.ActionError, match=message):
        model.decide("ann", actions)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.ones((2, 2, 2)), "actions have 2 coordinates and the model was fitted on 3"),
        (np.ones((3, 2, 3)), "2 users and 3 action sets were given; one set per user, or one shared"),
        (np.ones((2, 0, 3)), "the action set is empty"),
        (np.ones((0, 3)), "the action set is empty"),
        ([], "the action set is empty"),
        (np.ones(3), r"actions have shape \(3,\)"),
        (
            [np.ones((2, 3)), np.array([[1, 2, 3], [np.nan, 0, 0]])],
            "action 1 of request 1 has NaN or infinity",
        ),
        ([["a", "b", "c"]], "actions are not an array of numbers"),
        ([np.ones((2, 3)), np.ones((1, 3))], "actions are not an array of numbers"),
    ],
)
def test_batches_that_cannot_be_decided_over(model: Any, actions: object, message: str) -> None:
    with pytest.raises(ct.errors.ActionError, match=message):
        model.decide_many(["ann", "bob"], actions)


@each_class
@pytest.mark.parametrize("rubbish", [None, 3, "logs.csv", [[1.0]], np.ones((3, 3)), {"users": [1]}])
def test_fit_on_rubbish_is_refused(algorithm: Any, rubbish: object) -> None:
    name = type(rubbish).__name__
    with pytest.raises(
        ct.errors.LogError, match=f"fit takes UserStatistics or Logs, not {name}; see summarize"
    ):
        make(algorithm).fit(rubbish)


@each_class
def test_fit_without_users_is_refused(algorithm: Any) -> None:
    nobody = ct.summarize(logs_of()).without(IDS["text"])
    with pytest.raises(ct.errors.LogError, match="the statistics have no users; at least one is required"):
        make(algorithm).fit(nobody)
