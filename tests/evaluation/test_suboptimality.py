"""The gap of a decision, worked by hand."""

import numpy as np
import pytest

import coterie as ct
from coterie.evaluation import gaps_of, mean_gap

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")


def test_the_gap_is_the_reward_lost() -> None:
    """theta = (1, 2): the actions are worth 1, 2 and 1.5, so choosing them loses 1, 0 and 0.5."""
    actions = np.array([[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]] * 3)
    lost = gaps_of([0, 1, 2], actions, np.array([[1.0, 2.0]] * 3))
    assert lost.tolist() == [1, 0, 0.5]


def test_the_mean_gap_of_a_model_is_that_of_its_decisions() -> None:
    """A greedy model of theta near 1 takes action 1; the truth of user 1 is -1, so she loses 1 - 0.25."""
    logs = ct.Logs.from_arrays([0, 1], [[1.0], [1.0]], [1.0, 1.0])
    model = ct.Pooled(bonus=ct.Bonus(sign=0)).fit(logs)
    actions = np.array([[[0.25], [1.0]]] * 2)
    assert mean_gap(model, [0, 1], actions, np.array([[1.0], [-1.0]])) == pytest.approx(0.75 / 2)
