"""Numbers at the edge of what can be computed are refused by name, and no request is no mistake."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import coterie as ct
from coterie.errors import ActionError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
LOGS = ct.Logs.from_arrays([1, 1, 2], [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], [30.0, 2.0, 3.0])


@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("size", [1e200, 1.7e308])
def test_an_action_whose_square_overflows_is_named(sign: Any, size: float) -> None:
    model = ct.Independent(bonus=ct.Bonus(sign=sign)).fit(LOGS)
    with pytest.raises(
        ActionError, match=r"^action 0 of request 0 has numbers up to .*, too large to be scored"
    ):
        model.decide(1, [[size, size]])
    with pytest.raises(ActionError, match=r"^action 0 of request 1 has numbers up to"):
        model.decide_many([1, 2], [[[1.0, 0.0]], [[size, size]]])


def test_no_request_gives_no_decision() -> None:
    model = ct.Independent().fit(LOGS)
    assert len(model.decide_many([], np.ones((0, 3, 2)))) == len(model.decide_many([], np.ones((3, 2)))) == 0


def test_a_model_is_copied_and_sent_to_another_process() -> None:
    model = ct.OffC2LUB().fit(LOGS)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        assert other.decide(1, np.eye(2)) == model.decide(1, np.eye(2))
        assert other.neighbours(1).tolist() == [1]


@pytest.mark.parametrize("algorithm", [ct.Independent, ct.OffCLUB, ct.Pooled])
def test_a_ridge_that_rounding_swallows_is_refused(algorithm: Any) -> None:
    """Two equal rows (0.6, 0.6): their Gram is singular, and 0.72 + 1e-300 is 0.72."""
    alike = ct.Logs.from_arrays([1, 1], [[0.6, 0.6]] * 2, [1.0, 1.0])
    with pytest.raises(ParameterError, match=r"^ridge 1e-300 is too small beside the sums of the actions"):
        algorithm(confidence=ct.Confidence(ridge=1e-300)).fit(alike)


@pytest.mark.parametrize("regularity", [ct.Observed, ct.Smoothed, ct.IID, "observed", 0.1])
def test_a_regularity_is_an_object_and_not_its_class(regularity: Any) -> None:
    with pytest.raises(ParameterError, match=r"; give Observed\(\), Smoothed\(value\) or IID\(value\)$"):
        ct.Confidence(regularity=regularity)
