"""The paper's bounds as numbers: pure functions of counts and parameters.

Takes: counts, a `Confidence` or its numbers, and where needed the truth (who is alike, the gap).
Gives: the regularity, the counts it asks for, who may be pooled, the bounds, and whether they are in force.
Paper: every lemma and theorem; `docs/deviations.md` lists where the printed text slips.
Next: `coterie.worlds` and `coterie.evaluation`, which set these numbers beside measured ones.
"""

from coterie.theory.bounds import lower_bound, suboptimality_bound
from coterie.theory.conditions import check_conditions, check_lower_bound
from coterie.theory.neighbours import ConcreteSets, concrete_sets, heterogeneous_share
from coterie.theory.ranges import heterogeneous_range, homogeneous_range, underestimation_factor
from coterie.theory.regularity import (
    eigenvalue_bound,
    has_bounded_variance,
    smoothed_regularity,
    variance_limit,
)
from coterie.theory.sufficiency import is_sufficient, min_samples, sufficient_samples, sufficient_users
from coterie.theory.verdict import Condition, Report

__all__ = [
    "ConcreteSets",
    "Condition",
    "Report",
    "check_conditions",
    "check_lower_bound",
    "concrete_sets",
    "eigenvalue_bound",
    "has_bounded_variance",
    "heterogeneous_range",
    "heterogeneous_share",
    "homogeneous_range",
    "is_sufficient",
    "lower_bound",
    "min_samples",
    "smoothed_regularity",
    "suboptimality_bound",
    "sufficient_samples",
    "sufficient_users",
    "underestimation_factor",
    "variance_limit",
]
