"""How good decisions are."""

from coterie.evaluation.suboptimality import gaps_of, mean_gap

__all__ = ["gaps_of", "mean_gap"]
