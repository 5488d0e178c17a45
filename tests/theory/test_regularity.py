"""The integral against closed forms and a plain sum; the eigenvalue bound against hand arithmetic."""

import math

import numpy as np
import pytest

from coterie import theory
from coterie.errors import ParameterError


def closed_form_one(lambda_a: float, variance: float) -> float:
    """S = 1: lambda_a - sigma sqrt(pi/2) erf(lambda_a / (sigma sqrt 2))."""
    sigma = math.sqrt(variance)
    return lambda_a - sigma * math.sqrt(math.pi / 2) * math.erf(lambda_a / (sigma * math.sqrt(2)))


def closed_form_two(lambda_a: float, variance: float) -> float:
    """S = 2: expand the square; the new term is sigma sqrt(pi)/2 erf(lambda_a / sigma)."""
    sigma = math.sqrt(variance)
    loss = closed_form_one(lambda_a, variance) - lambda_a
    return lambda_a + 2 * loss + sigma * math.sqrt(math.pi) / 2 * math.erf(lambda_a / sigma)


def midpoint_sum(lambda_a: float, variance: float, candidates: int) -> float:
    """400,000 midpoints of the printed integrand."""
    x = lambda_a * (np.arange(400_000) + 0.5) / 400_000
    inner = -np.expm1(-((lambda_a - x) ** 2) / (2 * variance))
    return float((inner**candidates).mean() * lambda_a)


@pytest.mark.parametrize("lambda_a", [0.001, 0.05, 1.0])
@pytest.mark.parametrize("variance", [1e-10, 1e-6, 1e-4])
def test_one_and_two_candidates_have_closed_forms(lambda_a: float, variance: float) -> None:
    one, two = closed_form_one(lambda_a, variance), closed_form_two(lambda_a, variance)
    assert theory.smoothed_regularity(lambda_a, variance, 1) == pytest.approx(one, rel=1e-9)
    assert theory.smoothed_regularity(lambda_a, variance, 2) == pytest.approx(two, rel=1e-8)


@pytest.mark.parametrize("candidates", [1, 3, 20, 1000])
@pytest.mark.parametrize("variance", [1e-6, 1e-4, 1e-3, 4e-3])
def test_integral_is_the_midpoint_sum(variance: float, candidates: int) -> None:
    expected = midpoint_sum(0.05, variance, candidates)
    assert theory.smoothed_regularity(0.05, variance, candidates) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("candidates", [1, 20, 45])
def test_tiny_integrand_keeps_its_relative_accuracy(candidates: int) -> None:
    """For lambda_a much below sigma, 1 - e^-t ~ t: lambda_a^(2S+1) / ((2S+1) (2 sigma^2)^S).

    The next term of the expansion is smaller by S lambda_a^2 / (4 sigma^2) <= 45e-6 / 4.
    """
    lambda_a, variance, s = 1e-3, 1.0, candidates
    log_leading = (2 * s + 1) * math.log(lambda_a) - math.log(2 * s + 1) - s * math.log(2 * variance)
    value = theory.smoothed_regularity(lambda_a, variance, candidates)
    assert value == pytest.approx(math.exp(log_leading), rel=2e-5)


def test_below_the_smallest_float_it_is_zero() -> None:
    """S = 60 in the test above: 121 log 0.001 = -836, and exp(-745) is the smallest float."""
    assert theory.smoothed_regularity(1e-3, 1.0, 60) == 0.0


def test_no_variance_leaves_lambda_a() -> None:
    assert theory.smoothed_regularity(0.05, 0.0, 20) == 0.05
    assert theory.smoothed_regularity(0.05, 1e-16, 20) == pytest.approx(0.05, rel=1e-5)


def test_more_variance_and_more_candidates_leave_less() -> None:
    by_variance = [theory.smoothed_regularity(0.05, v, 5) for v in (0.0, 1e-5, 1e-4, 1e-3)]
    by_candidates = [theory.smoothed_regularity(0.05, 1e-4, s) for s in (1, 2, 10, 100)]
    assert by_variance == sorted(by_variance, reverse=True)
    assert by_candidates == sorted(by_candidates, reverse=True)


def test_bounded_variance_leaves_three_eighths() -> None:
    """At lambda_a / 2 the bracket is (1 - 1/(4S))^S >= 3/4, so the integral is at least 3 lambda_a / 8."""
    for candidates in (1, 5, 1000):
        variance = theory.variance_limit(0.05, candidates)
        assert theory.smoothed_regularity(0.05, variance, candidates) >= 3 / 8 * 0.05


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0.0, 1.0, 1), "lambda_a is 0.0; it must be a finite number above 0"),
        ((math.nan, 1.0, 1), "lambda_a is nan"),
        ((1.0, -1.0, 1), "variance is -1.0; it must be a finite number, 0 or more"),
        ((1.0, 1.0, 0), "candidates is 0; it must be a finite number, 1 or more"),
    ],
)
def test_bad_numbers_are_refused(arguments: tuple[float, float, int], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        theory.smoothed_regularity(*arguments)


def test_eigenvalue_bound_by_hand() -> None:
    """n = 9, d = 1, delta = 0.12: A = log(10 * 12 / 0.12) = log 1000 = 6.9078.

    18 * 9 * A = 1119.06, A^2 = 47.717, root of the sum 34.159, a third 11.386; A / 3 = 2.3026.
    9 * 0.5 - 11.386 - 2.303 = -9.189.
    """
    value = theory.eigenvalue_bound(9, lambda_a=0.5, dim=1, failure_prob=0.12)
    assert value == pytest.approx(-9.189, abs=1e-3)


def test_eigenvalue_bound_solves_the_bernstein_equation() -> None:
    """t = n lambda_a - bound solves t^2 / 2 = A (n + t / 3)."""
    n, la, dim, delta = 5000, 0.05, 20, 0.01
    t = n * la - theory.eigenvalue_bound(n, la, dim, delta)
    a = math.log((n + 1) * (n + 3) * dim / delta)
    assert t * t / 2 == pytest.approx(a * (n + t / 3))


@pytest.mark.statistical
def test_eigenvalue_bound_holds_for_independent_actions() -> None:
    """200 draws of 3,000 unit vectors in d = 3 (lambda_a = 1/3): at delta = 0.05 no more than 10 failures
    are promised for all n together; the bound is loose, so none is expected.
    """
    rng = np.random.default_rng(0)
    failures = 0
    for _ in range(200):
        a = rng.standard_normal((3000, 3))
        a /= np.linalg.norm(a, axis=1, keepdims=True)
        for n in (50, 500, 3000):
            smallest = np.linalg.eigvalsh(a[:n].T @ a[:n])[0]
            failures += smallest < theory.eigenvalue_bound(n, 1 / 3, 3, 0.05)
    assert failures <= 10


def test_variance_limit_by_hand() -> None:
    """0.2^2 / (8 log 4) = 0.04 / 11.0904 = 0.0036067."""
    assert theory.variance_limit(0.2, 1) == pytest.approx(0.0036067, rel=1e-4)
    assert theory.has_bounded_variance(0.0036, 0.2, 1)
    assert not theory.has_bounded_variance(0.0037, 0.2, 1)
