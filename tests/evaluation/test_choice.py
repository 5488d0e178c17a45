"""The value of choosing, against drawing every set of rows by hand."""

from itertools import combinations

import numpy as np
import pytest

from coterie.evaluation.choice import picked


@pytest.mark.parametrize(("rows", "size"), [(2, 2), (5, 3), (6, 5), (4, 9)])
def test_it_is_the_mean_over_all_sets(rows: int, size: int) -> None:
    rng = np.random.default_rng(rows)
    score, reward = rng.standard_normal(rows), rng.standard_normal(rows)
    sets = list(combinations(range(rows), min(rows, size)))
    by_hand = np.mean([reward[max(one, key=lambda i: score[i])] for one in sets])
    found = picked(score, reward, np.zeros(rows, dtype=np.int64), 1, size)
    assert found[0] == pytest.approx(by_hand, abs=1e-12)


def test_equal_scores_are_worth_a_random_pick() -> None:
    reward = np.array([1.0, 2.0, 6.0])
    assert picked(np.zeros(3), reward, np.zeros(3, dtype=np.int64), 1, 2)[0] == pytest.approx(3.0)


def test_half_of_the_rows_tied_share() -> None:
    """Scores 2, 1, 1 in pairs: {0,1} and {0,2} take row 0, {1,2} takes either, so (6 + 6 + 1.5) / 3."""
    found = picked(np.array([2.0, 1, 1]), np.array([6.0, 1, 2]), np.zeros(3, dtype=np.int64), 1, 2)
    assert found[0] == pytest.approx(4.5)


def test_users_do_not_touch_each_other_and_one_row_is_no_choice() -> None:
    user = np.array([2, 0, 2, 0, 1])
    found = picked(np.array([1.0, 5, 2, 4, 9]), np.array([10.0, 1, 20, 2, 7]), user, 3, 5)
    assert found[[0, 2]].tolist() == [1, 20]
    assert np.isnan(found[1])
