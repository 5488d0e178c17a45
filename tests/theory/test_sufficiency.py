"""N_min and delta-sufficiency against hand arithmetic."""

import math

import numpy as np
import pytest

from coterie import theory
from coterie.confidence import IID, Observed, Smoothed
from coterie.errors import ParameterError


def test_min_samples_by_hand() -> None:
    """U = 1000, d = 20, delta = 0.01, x = 1: 16 log(8 * 1000 * 20 / 0.01) = 16 log(1.6e7) = 16 * 16.5881."""
    assert theory.min_samples(1000, 20, 0.01, 1.0) == pytest.approx(265.41, abs=0.01)


def test_min_samples_takes_numbers_and_regularities() -> None:
    expected = 64 * math.log(8 * 10 * 2 / (0.25 * 0.1))
    assert theory.min_samples(10, 2, 0.1, 0.5) == pytest.approx(expected)
    assert theory.min_samples(10, 2, 0.1, Smoothed(0.5)) == pytest.approx(expected)
    assert theory.min_samples(10, 2, 0.1, IID(0.5)) == pytest.approx(expected)
    assert theory.min_samples(10, 2, 0.1, Observed()) == 0


def test_the_larger_term_decides() -> None:
    """x = 0.1, d = 1, U = 1, delta = 0.08: first 1600 log(8 / (0.01 * 0.08)) = 1600 * 9.2103 = 14736.5;
    second 5120 log(25) / gap^2 = 16480.6 / gap^2, which is the smaller one for gap 2 (4120.2).
    """
    assert theory.sufficient_samples(1, 1, 0.08, 0.1, gap=2.0) == pytest.approx(14736.5, abs=0.1)
    assert theory.sufficient_samples(1, 1, 0.08, 0.1, gap=1.0) == pytest.approx(16480.6, abs=0.1)


def test_sufficient_radii_are_at_most_a_quarter_of_the_gap() -> None:
    """What the count is for (proof of Theorem 1), under the conditions on lambda and delta."""
    n_users, dim, delta, x, gap, ridge = 50, 5, 0.05, 0.2, 0.4, 0.5
    count = theory.sufficient_samples(n_users, dim, delta, x, gap)
    beta = math.sqrt(dim * math.log(1 + count / (ridge * dim)) + 2 * math.log(2 * n_users / delta))
    assert (beta + math.sqrt(ridge)) / math.sqrt(x * count / 2) <= gap / 4


def test_who_is_sufficient() -> None:
    """Two users: the second term is 512 log(4 / 0.08) = 2003.0 at x = gap = 1, d = 1."""
    edge = 512 * math.log(50)
    count = np.array([edge - 1, edge + 1])
    assert theory.sufficient_users(count, 1, 0.08, 1.0, 1.0).tolist() == [False, True]
    assert not theory.is_sufficient(count, 1, 0.08, 1.0, 1.0)
    assert theory.is_sufficient(count + 1.5, 1, 0.08, 1.0, 1.0)


def test_observed_has_no_sufficient_count() -> None:
    with pytest.raises(
        ParameterError, match=r"the regularity is Observed\(\); a statement in terms of counts"
    ):
        theory.sufficient_samples(1, 1, 0.1, Observed(), 1.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n_users": 0}, "n_users is 0; it must be a finite number, 1 or more"),
        ({"dim": 0}, "dim is 0"),
        ({"failure_prob": 1.0}, "failure_prob is 1.0; it must lie strictly between 0 and 1"),
        ({"regularity": 0.0}, "the regularity is 0.0; it must be a finite number above 0"),
        ({"regularity": "much"}, "the regularity is 'much'"),
    ],
)
def test_bad_numbers_are_refused(change: dict[str, object], said: str) -> None:
    arguments = {"n_users": 5, "dim": 2, "failure_prob": 0.1, "regularity": 0.5} | change
    with pytest.raises(ParameterError, match=said):
        theory.min_samples(**arguments)  # type: ignore[arg-type]


def test_bad_counts_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"count has -1\.0 as its smallest number"):
        theory.sufficient_users([3.0, -1.0], 1, 0.1, 1.0, 1.0)
    with pytest.raises(ParameterError, match=r"count has shape \(\)"):
        theory.sufficient_users(3.0, 1, 0.1, 1.0, 1.0)
