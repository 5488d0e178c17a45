"""Experiment 6: the paper's bounds for the very data that a cell drew, beside the measured gaps.

Takes: the fitted models of a cell, its training data and its world.
Gives: numbers by name: Theorem 1 for Off-CLUB, Theorem 2 for Off-C2LUB, the lower bound times the noise.
Paper: Theorems 1, 2 and 4.
Next: `cell`, which keeps them as rows; `theory_figure`, which draws them.
"""

from typing import Any

import numpy as np

from coterie import theory
from coterie.confidence import Smoothed
from coterie.errors import ParameterError
from coterie.experiments.methods import Training
from coterie.model import Model
from coterie.neighbourhood import Metric
from coterie.packed import FloatArray

THEOREM_1, THEOREM_2, LOWER = "bound: Theorem 1", "bound: Theorem 2", "bound: lower, times noise"
PROVEN = "in force"  # mean share of users with at least N_min samples, kept as `neighbours` of a bound


def bounds_of(models: dict[str, Model], training: Training, noise: float) -> dict[str, tuple[float, float]]:
    """Mean bound over users, and the share of users for whom N_min is reached, by name.

    Below N_min the theorems say nothing; the number is what their formula would give.
    """
    stats, labels = training.stats, training.drawn.truth.labels
    if labels is None:
        raise ParameterError("bounds need clusters; use a synthetic world")
    club, c2lub = models["Off-CLUB"], models["Off-C2LUB_Overestimation"]
    regularity = club.confidence.regularity
    enough = theory.min_samples(stats.n_users, stats.dim, club.confidence.failure_prob, regularity)
    if not isinstance(regularity, Smoothed):
        raise ParameterError("bounds need a regularity that is a number; use a preset")
    proven = float((stats.count >= enough).mean())
    cluster = np.bincount(labels, weights=stats.count)[labels]
    return {
        THEOREM_1: (float(np.mean([_first(club, total, enough) for total in cluster])), proven),
        THEOREM_2: (_second(c2lub, stats.count, labels, enough), proven),
        LOWER: (noise * float(np.mean([theory.lower_bound(stats.dim, total) for total in cluster])), 1.0),
    }


def _first(model: Model, pooled: float, enough: float) -> float:
    return theory.suboptimality_bound(
        1,
        confidence=model.confidence,
        dim=model.dim,
        n_users=model.n_users,
        pooled_count=pooled,
        count=enough,
    )


def _second(model: Model, count: FloatArray, labels: Any, enough: float) -> float:
    """Mean over users of Theorem 2 with the sets V and W that the model really joined."""
    hood, gaps = model.evidence.neighbourhood if model.evidence else None, model.gap
    if not isinstance(hood, Metric) or gaps is None:
        raise ParameterError("Theorem 2 is about Off-C2LUB; give its model")
    lends = hood.lenders(np.arange(model.n_users))
    foreign = lends & (labels[:, np.newaxis] != labels)
    weight = model.confidence.ridge + count
    share = (foreign @ weight) / (lends @ weight)
    return float(
        np.mean(
            [
                theory.suboptimality_bound(
                    2,
                    confidence=model.confidence,
                    dim=model.dim,
                    n_users=model.n_users,
                    pooled_count=float(model.pooled_count[u]),
                    n_pooled=float(model.pooled_users[u]),
                    count=enough,
                    share=float(share[u]),
                    gap=float(gaps[u]),
                )
                for u in range(model.n_users)
            ]
        )
    )
