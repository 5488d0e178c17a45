"""Theorems 1, 2 and 4 against hand arithmetic."""

import math

import pytest

from coterie import theory
from coterie.confidence import IID, Confidence, Observed, Smoothed
from coterie.errors import ParameterError
from coterie.theory.bounds import Theorem

QUIET = Confidence(ridge=1.0, noise=0.0, regularity=IID(0.5))
LOUD = Confidence(ridge=4.0, failure_prob=0.02, regularity=Smoothed(0.5))


def test_theorem_1_by_hand() -> None:
    """d = 2, U = 1, lambda = 4, N = 8000: log(1 + 8000 / 8) = log 1001 = 6.90875; 2 log 100 = 9.21034.

    beta = sqrt(2 * 6.90875 + 9.21034) + 2 = sqrt(23.02784) + 2 = 6.79873.
    2 beta / sqrt(4 + 2000) = 13.59747 / 44.76606 = 0.30375. N_min = 64 log(16 / 0.005) = 516.5.
    """
    bound = theory.suboptimality_bound(1, confidence=LOUD, dim=2, n_users=1, pooled_count=8000)
    assert bound == pytest.approx(0.30375, abs=1e-5)


def test_theorem_2_by_hand() -> None:
    """As above with four users of 2000: log(1 + 8000 / (4 * 4 * 2)) = log 251 = 5.52545.

    beta(V) = sqrt(11.05091 + 9.21034 + 2 log 10) + sqrt(16); U = 10 adds 2 log 10 = 4.60517:
    sqrt(24.86642) + 4 = 8.98662. sqrt 2 beta / sqrt(4000) = 0.200947.
    2 lambda U / (x N) = 80 / 4000 = 0.02; 2 eta gap / x = 2 * 0.25 * 0.3 / 0.5 = 0.3.
    2 (0.200947 + 0.02 + 0.3) + 0.200947 = 1.242841.
    """
    bound = theory.suboptimality_bound(
        2, confidence=LOUD, dim=2, n_users=10, pooled_count=8000, n_pooled=4, share=0.25, gap=0.3
    )
    assert bound == pytest.approx(1.242841, abs=2e-6)


def test_known_gap_drops_the_bias() -> None:
    """The same without the last term: 1.242841 - 0.6."""
    bound = theory.suboptimality_bound(
        "2-known", confidence=LOUD, dim=2, n_users=10, pooled_count=8000, n_pooled=4, gap=0.3
    )
    assert bound == pytest.approx(0.642841, abs=2e-6)


def test_fixed_form_takes_the_largest_logarithm() -> None:
    """largest_count = 3000: log(1 + 3000 / (4 * 2)) = log 376 = 5.92959 in place of log 251.

    beta = sqrt(11.85918 + 13.81551) + 4 = 9.06702; noise term 0.202745; 3 * that + 0.04 + 0.6 = 1.248235.
    """
    bound = theory.suboptimality_bound(
        "2-fixed", confidence=LOUD, dim=2, n_users=10, pooled_count=8000, n_pooled=4, share=0.25, gap=0.3,
        largest_count=3000,
    )  # fmt: skip
    assert bound == pytest.approx(1.248235, abs=3e-6)


def test_fixed_form_of_the_own_pool_is_theorem_2() -> None:
    """With the average as the largest count nothing is given away."""
    common = {"confidence": LOUD, "dim": 2, "n_users": 10, "pooled_count": 8000, "n_pooled": 4}
    plain = theory.suboptimality_bound(2, **common)  # type: ignore[arg-type]
    fixed = theory.suboptimality_bound("2-fixed", **common, largest_count=2000)  # type: ignore[arg-type]
    assert fixed == pytest.approx(plain)


def test_noise_and_theta_bound_scale() -> None:
    """Rewards twice as large: noise 2 and theta_bound 2 double Theorems 1 and (gap doubled) 2."""
    twice = Confidence(ridge=4.0, failure_prob=0.02, noise=2.0, theta_bound=2.0, regularity=Smoothed(0.5))
    both: tuple[Theorem, ...] = (1, 2)
    for theorem in both:
        once, double = (
            theory.suboptimality_bound(
                theorem, confidence=c, dim=2, n_users=10, pooled_count=8000, n_pooled=4, share=0.25, gap=g
            )
            for c, g in ((LOUD, 0.3), (twice, 0.6))
        )
        assert double == pytest.approx(2 * once)


@pytest.mark.parametrize("theorem", [1, 2])
def test_infinite_below_n_min(theorem: Theorem) -> None:
    """U = 1, d = 1, delta = 0.01, x = 0.5: N_min = 64 log(8 / (0.25 * 0.01)) = 64 * 8.0709 = 516.5."""

    def bound(count: float) -> float:
        return theory.suboptimality_bound(
            theorem, confidence=QUIET, dim=1, n_users=1, pooled_count=5000, count=count
        )

    assert bound(516) == math.inf
    assert bound(517) < math.inf


def test_no_samples_no_bound() -> None:
    assert theory.suboptimality_bound(1, confidence=QUIET, dim=1, n_users=1, pooled_count=0) == math.inf


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"theorem": 3}, "theorem is 3; the bounds are of 1, 2, '2-known' and '2-fixed'"),
        ({"theorem": "2-fixed"}, "largest_count is missing"),
        ({"theorem": 2, "share": 1.5}, "share is 1.5; theorem 2 allows 0 to 1"),
        ({"theorem": "2-known", "share": 0.1}, "share is 0.1; theorem '2-known' allows 0 to 0"),
        ({"theorem": 2, "gap": -1.0}, "gap is -1.0"),
        ({"confidence": Confidence(regularity=Observed())}, "a statement in terms of counts needs a number"),
        ({"confidence": Confidence(noise="estimate", regularity=IID(0.5))}, "noise is 'estimate'"),
        ({"n_pooled": 0}, "n_pooled is 0"),
    ],
)
def test_bad_numbers_are_refused(change: dict[str, object], said: str) -> None:
    arguments = {"theorem": 1, "confidence": QUIET, "dim": 1, "n_users": 1, "pooled_count": 5000} | change
    with pytest.raises(ParameterError, match=said):
        theory.suboptimality_bound(**arguments)  # type: ignore[arg-type]


def test_heterogeneous_share_by_hand() -> None:
    """W = {second}, V = first two: (2 + 10) / (4 + 40) = 12 / 44."""
    share = theory.heterogeneous_share([30, 10, 5], [True, True, False], [False, True, False], ridge=2.0)
    assert share == pytest.approx(12 / 44)


def test_share_needs_heterogeneous_users_inside() -> None:
    with pytest.raises(ParameterError, match="pooled has 1 users and heterogeneous 1 outside it"):
        theory.heterogeneous_share([1, 1], [True, False], [False, True], ridge=1.0)


def test_lower_bound_by_hand() -> None:
    """sqrt(8 * 20 / 16000) = 0.1."""
    assert theory.lower_bound(20, 16000) == pytest.approx(0.1)
    with pytest.raises(ParameterError, match="pooled_count is 0; it must be a finite number above 0"):
        theory.lower_bound(20, 0)


def test_lower_bound_lies_below_both_upper_bounds() -> None:
    for n in (1e4, 1e6, 1e8):
        confidence = Confidence(ridge=0.5, regularity=IID(0.05))
        both: tuple[Theorem, ...] = (1, 2)
        for theorem in both:
            upper = theory.suboptimality_bound(
                theorem, confidence=confidence, dim=20, n_users=10, pooled_count=n
            )
            assert theory.lower_bound(20, n) < upper
