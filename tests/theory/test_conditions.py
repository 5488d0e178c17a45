"""The report against hand arithmetic."""

import math

import numpy as np
import pytest

from coterie import theory
from coterie.confidence import IID, Confidence, Observed
from coterie.errors import ParameterError


def test_lemma_conditions_by_hand() -> None:
    """U = 2, d = 2, lambda = 0.5, delta = 0.04, counts 3 and 99.

    lambda <= 2 log(1 + 3 / 1) + 2 log 100 = 2.77259 + 9.21034 = 11.98293.
    delta <= 4 / (1 + 99 / 1) = 0.04: holds with equality.
    N_min at x = 0.5: 64 log(8 * 2 * 2 / (0.25 * 0.04)) = 64 * 8.07091 = 516.54.
    """
    confidence = Confidence(ridge=0.5, failure_prob=0.04, regularity=IID(0.5))
    report = theory.check_conditions([3, 99], 2, confidence)
    assert report["ridge"].limit == pytest.approx(11.98293, abs=1e-5)
    assert report["failure_prob"].limit == pytest.approx(0.04)
    assert report["failure_prob"].holds
    assert report["smallest count"].limit == pytest.approx(516.54, abs=0.01)
    assert report["regularity"].holds
    assert [c.name for c in report.failing] == ["smallest count"]
    assert not report.holds
    assert not theory.check_conditions([3, 100], 2, confidence)["failure_prob"].holds


def test_noise_scales_the_ridge_condition() -> None:
    """Noise 0.1 and theta_bound 0.5: (0.1 / 0.5)^2 = 0.04 of the printed limit."""
    printed = theory.check_conditions([3, 99], 2, Confidence())["ridge"].limit
    scaled = theory.check_conditions([3, 99], 2, Confidence(noise=0.1, theta_bound=0.5))["ridge"].limit
    assert scaled == pytest.approx(0.04 * printed)


def test_the_papers_own_experiment() -> None:
    """lambda = 0.5, alpha = 0.1: outside Theorem 1 (alpha = 1), Algorithm 2 (lambda > 1) and the lemma."""
    confidence = Confidence(ridge=0.5, failure_prob=0.01, regularity=IID(0.05))
    count = np.full(1000, 500.0)
    club = theory.check_conditions(count, 20, confidence, algorithm="OffCLUB", graph_scale=0.1, gap=1.0)
    assert {c.name for c in club.failing} == {
        "graph_scale", "ridge of the input", "smallest count", "delta-sufficient count"
    }  # fmt: skip
    c2lub = theory.check_conditions(count, 20, confidence, graph_scale=0.1)
    assert {c.name for c in c2lub.failing} == {"graph_scale", "smallest count"}


def test_observed_reports_no_counts() -> None:
    report = theory.check_conditions([0, 5], 2, Confidence(regularity=Observed()))
    assert [c.name for c in report.conditions] == ["graph_scale", "ridge", "failure_prob"]
    assert report.holds


def test_regularity_and_length_beyond_unit_actions() -> None:
    report = theory.check_conditions([1500.0] * 9, 2, Confidence(regularity=IID(0.6)), max_norm=1.1)
    assert {c.name for c in report.failing} == {"regularity", "action length"}
    assert theory.check_conditions([1e6], 2, Confidence(), max_norm=1.0)["action length"].holds


def test_sentences() -> None:
    report = theory.check_conditions([5], 2, Confidence(), graph_scale=0.5)
    assert report["graph_scale"].sentence == (
        "graph_scale is 0.5; the lemma on R and W asks for >= 1, which does not hold"
    )
    assert str(report).splitlines()[0] == f"no   {report['graph_scale'].sentence}"
    assert len(str(report).splitlines()) == len(report.conditions)


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(
        ParameterError, match="there is no condition 'luck'; the report has graph_scale, ridge"
    ):
        theory.check_conditions([5], 2, Confidence())["luck"]
    with pytest.raises(ParameterError, match="algorithm is 'CLUB'"):
        theory.check_conditions([5], 2, Confidence(), algorithm="CLUB")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="graph_scale is -1"):
        theory.check_conditions([5], 2, Confidence(), graph_scale=-1)


def test_lower_bound_conditions_by_hand() -> None:
    """M = diag(4, 9), a = (0.6, 0.8), N = 36: ||M^-1/2 a||^2 = 0.36 / 4 + 0.64 / 9 = 0.161111, root 0.401386;
    by M / N it is 6 times that, 2.408319, below 2.828427. d = 2 asks for 16 samples.
    """
    report = theory.check_lower_bound(np.diag([4.0, 9.0]), [0.6, 0.8], count=15, pooled_count=36)
    assert report["norm by M"].value == pytest.approx(0.401386, abs=1e-6)
    assert report["norm by M / N"].value == pytest.approx(2.408319, abs=1e-6)
    assert report["norm by M / N"].limit == pytest.approx(2 * math.sqrt(2))
    assert [c.name for c in report.failing] == ["count"]


def test_printed_condition_is_met_by_the_prior_alone() -> None:
    """M = I / 8 + nothing: a unit action has norm sqrt 8 = 2 sqrt 2 exactly; a larger ridge passes always."""
    report = theory.check_lower_bound(np.eye(3) * 0.126, [1.0, 0.0, 0.0], count=24, pooled_count=24)
    assert report["norm by M"].holds
    assert not report["norm by M / N"].holds


def test_isotropic_data_in_many_dimensions_fail_the_normalised_condition() -> None:
    """M / N = I / d: the norm is sqrt d, at most 2 sqrt 2 only for d <= 8."""
    for dim, holds in ((8, True), (9, False)):
        action = np.eye(dim)[0]
        report = theory.check_lower_bound(
            np.eye(dim) * 1000 / dim, action, count=100, pooled_count=1000 + 1e-6 * (8 - dim)
        )
        assert report["norm by M / N"].holds is holds


def test_bad_matrices_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"precision has shape \(2, 2\) and action \(3,\)"):
        theory.check_lower_bound(np.eye(2), [1.0, 0.0, 0.0], 1, 1)
    with pytest.raises(ParameterError, match="precision is not positive definite"):
        theory.check_lower_bound(np.zeros((2, 2)), [1.0, 0.0], 1, 1)
