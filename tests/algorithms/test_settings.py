"""Parameter objects of the wrong kind are refused by every algorithm, in one sentence."""

import math
from typing import Any

import pytest

import coterie as ct
from coterie.errors import ParameterError

LOGS = ct.Logs.from_arrays(["a", "b"], [[1.0], [1.0]], [1.0, 2.0])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"confidence": 3}, r"confidence is 3; give a Confidence\(...\)"),
        ({"bonus": "greedy"}, r"bonus is 'greedy'; give a Bonus\(...\)"),
        ({"rescale": "no"}, "rescale is 'no'; give True or False"),
    ],
)
@pytest.mark.parametrize("algorithm", [ct.OffC2LUB, ct.OffCLUB, ct.Independent, ct.Pooled])
def test_wrong_parameter_objects(algorithm: Any, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        algorithm(**wrong).fit(LOGS)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("ab", "labels is 'ab'; give a label per user"),
        (3, "labels is 3; give a label per user"),
        ([1], "labels has 1 entries; one label per user is required, 2 in all"),
        ([1, math.nan], "labels holds NaN"),
        ([[1], [2]], "labels holds what cannot be compared"),
        ({"a": 1}, "labels has no label for 1 users, 'b' among them"),
    ],
)
def test_labels_that_are_none(labels: object, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        ct.Oracle(labels).fit(LOGS)
