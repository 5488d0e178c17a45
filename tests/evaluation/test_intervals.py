"""Intervals and bounds: by hand, against laws, and on worlds with a known mean."""

import math

import numpy as np
import pytest
from scipy import stats

from coterie.evaluation.intervals import bernstein_lower, betting_lower, cut_share, percentiles, resampled


def test_resamples_have_the_bootstrap_s_mean_and_variance() -> None:
    """A sum of n draws with replacement has mean n x-bar and variance n s^2 (s^2 by 1/n)."""
    x = np.array([0.0, 1.0, 5.0, 6.0])[:, np.newaxis]
    sums = resampled(x, np.random.default_rng(0), 40_000)
    assert sums.mean() == pytest.approx(12, abs=0.1)  # standard error 0.026
    assert sums.var() == pytest.approx(4 * x.var(), rel=0.05)


def test_few_users_widen_the_percentiles() -> None:
    shares = [cut_share(n, 0.95) for n in (2, 5, 20, 1000)]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(0.025, rel=0.02)
    assert cut_share(5, 0.95) == pytest.approx(stats.norm.cdf(-math.sqrt(5 / 4) * stats.t.ppf(0.975, 4)))


def test_percentiles_of_many_columns() -> None:
    values = np.column_stack([np.arange(1001.0), -np.arange(1001.0)])
    low, high = percentiles(values, 10**6, 0.9)
    assert low == pytest.approx([50, -950], abs=0.1)
    assert high == pytest.approx([950, -50], abs=0.1)


def test_bernstein_by_hand() -> None:
    """Values 0, 1, 1, 1: mean 3/4, variance 1/4, log(2 / 0.2) = 2.3026."""
    log = math.log(10)
    by_hand = 0.75 - math.sqrt(2 * 0.25 * log / 4) - 7 * 2 * log / 9
    assert bernstein_lower(np.array([0.0, 1, 1, 1]), 2.0, 0.2) == pytest.approx(by_hand)
    assert bernstein_lower(np.ones(1), 1.0, 0.05) == -math.inf


def test_the_bet_is_lost_where_it_should_be() -> None:
    """At the bound the wealth is 1 / delta: a bound found by bisection is checked by playing it out."""
    x = np.random.default_rng(3).random(200)
    found = betting_lower(x, 0.05, np.random.default_rng(1))
    order = np.random.default_rng(1).permutation(x)
    wealth, most = 1.0, 1.0
    for i in range(len(order)):
        before = order[:i]
        spread = float(before.var()) if i else 0.0
        stake = 0.0 if not i else math.inf if spread == 0 else math.sqrt(2 * math.log(20) / (200 * spread))
        wealth *= 1 + min(0.5 / found, stake) * (order[i] - found)
        most = max(most, wealth)
    assert most == pytest.approx(20, rel=1e-6)
    assert 0.3 < found < x.mean()


def test_nothing_but_zeros_is_bounded_by_zero() -> None:
    assert betting_lower(np.zeros(50), 0.05, np.random.default_rng(0)) == 0


@pytest.mark.statistical
def test_bounds_hold_for_heavy_weights() -> None:
    """Weights 0 or 20, mean 1: 300 runs at level 0.95; 0.95 - 3 standard errors (0.0126) is 0.912."""
    rng = np.random.default_rng(7)
    held = {"bernstein": 0, "betting": 0}
    for _ in range(300):
        x = np.where(rng.random(400) < 0.05, 20.0, 0.0)
        held["bernstein"] += bernstein_lower(x, 20.0, 0.05) <= 1
        held["betting"] += betting_lower(x, 0.05, rng) <= 1
    assert min(held.values()) / 300 >= 0.912
