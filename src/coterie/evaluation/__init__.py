"""How good decisions are: where the truth is known, and where nobody knows it. Read `evaluate.py`."""

from coterie.evaluation.evaluate import Plan, evaluate, evaluate_rows, fitted_candidate, fitted_winner
from coterie.evaluation.run import EvaluationRun
from coterie.evaluation.suboptimality import gaps_of, mean_gap

__all__ = [
    "EvaluationRun",
    "Plan",
    "evaluate",
    "evaluate_rows",
    "fitted_candidate",
    "fitted_winner",
    "gaps_of",
    "mean_gap",
]
