"""The methods that are compared: the paper's rows, and those that an honest report needs beside them.

Takes: the logs of a cell, its statistics, and the truth (which only the oracle is shown).
Gives: a fitted model per method.
Paper: "Benchmark Methods"; `docs/deviations.md` on the rows that cannot be matched.
Next: `cell`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coterie import presets
from coterie.algorithms import Independent, OffC2LUB, OffCLUB, Oracle, Pooled
from coterie.confidence import Confidence
from coterie.decision import Bonus
from coterie.experiments.settings import GAPS
from coterie.logs import Logs
from coterie.model import Model
from coterie.packed import unpack
from coterie.statistics import UserStatistics, summarize
from coterie.worlds import Drawn

RIDGES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
SCALES = (0.2, 0.5, 1.0, 2.0)
PENALTIES = (*(0.05 * 2.0**-k for k in range(8, 0, -1)), *(0.05 * i for i in range(1, 21)))
GREEDY = Bonus(sign=0)
FIXED_GAP = "Off-C2LUB"


@dataclass(frozen=True, eq=False)
class Training:
    """What methods are trained on: the log, its statistics, two halves for tuning, the true clusters."""

    logs: Logs
    stats: UserStatistics
    halves: tuple[UserStatistics, UserStatistics]
    labels: Any

    @classmethod
    def of(cls, drawn: Drawn) -> "Training":
        """Training data of a drawn log; rows go to the halves in turn."""
        parts = [
            summarize(Logs.from_arrays(drawn.user[i::2], drawn.action[i::2], drawn.reward[i::2]), threads=1)
            for i in range(2)
        ]
        everybody = _nobody(drawn)
        halves = everybody + parts[0], everybody + parts[1]
        return cls(drawn.logs, everybody + summarize(drawn.logs, threads=1), halves, drawn.truth.labels)


def fitted(training: Training, preset: str) -> Iterator[tuple[str, Model]]:
    """Each method's name and its model."""
    stats = training.stats
    setting = presets.paper_tables if preset == "paper_tables" else presets.paper_text
    yield "Off-CLUB", OffCLUB(**setting("OffCLUB")).fit(stats)
    for gap in GAPS:
        yield f"{FIXED_GAP}@{gap:g}", OffC2LUB(gap=gap, **setting("OffC2LUB")).fit(stats)
    for name, more in _POLICIES.items():
        yield name, OffC2LUB(**more, **setting("OffC2LUB")).fit(stats)
    for name, algorithm in _online().items():
        yield name, algorithm.fit(training.logs if name in _NEED_ROWS else stats)
    unpooled = Independent(**setting("Independent"))
    yield "LCB_IND", unpooled.fit(stats)
    yield "Ridge_IND", replace(unpooled, bonus=GREEDY).fit(stats)
    yield "Ridge_IND_tuned", tuned([_ridge(ridge) for ridge in RIDGES], training).fit(stats)
    yield "Pooled", Pooled(**setting("Pooled")).fit(stats)
    for name, grid in _grids().items():
        yield name, tuned(grid, training).fit(stats)
    if training.labels is not None:
        yield (
            "Oracle",
            Oracle(training.labels[stats.users], confidence=Confidence(ridge=0.5), bonus=GREEDY).fit(stats),
        )


def tuned(candidates: Sequence[Any], training: Training) -> Any:
    """The algorithm whose fit on one half of the rows has the least squared error on the other half."""
    first, second = training.halves
    return min(candidates, key=lambda algorithm: squared_error(algorithm.fit(first), second))


def squared_error(model: Model, held_out: UserStatistics) -> float:
    r"""Sum of squared residuals on other rows of the same users, from their sums alone.

    .. math:: \sum_u \left( \sum r^2 - 2 \theta_u' b_u + \theta_u' G_u \theta_u \right)
    """
    theta = model.theta
    gram = unpack(held_out.packed_gram)
    explained = 2 * np.einsum("ud,ud->", theta, held_out.moment)
    return float(held_out.reward_square.sum() - explained + np.einsum("ud,ude,ue->", theta, gram, theta))


_POLICIES: dict[str, dict[str, Any]] = {
    "Off-C2LUB_Underestimation": {"gap": "under"},
    "Off-C2LUB_Overestimation": {"gap": "over"},
    "Off-C2LUB_Overestimation_mutual": {"gap": "over", "sharing": "mutual"},
    "Off-C2LUB_Overestimation_global": {"gap": "over", "sharing": "global"},
}
_NEED_ROWS = ("CLUB_replayed", "SCLUB_staged", "ARMUL", "ARMUL_converged")


def _online() -> dict[str, Any]:
    """The baselines of the paper, by the name of their rows."""
    from coterie.algorithms import ARMUL, CLUB, DBSCAN, SCLUB, LinUCB, XMeans

    return {
        "LinUCB_IND": LinUCB(),
        "CLUB": CLUB(),
        "CLUB_replayed": CLUB(replay=True),
        "SCLUB": SCLUB(),
        "SCLUB_staged": SCLUB(staged=True),
        "DBSCAN_Improve": DBSCAN(),
        "XMeans_Improve": XMeans(),
        "ARMUL": ARMUL(penalty="validate", steps=10, rate=0.01),
        "ARMUL_converged": ARMUL(penalty="validate", grid=PENALTIES, bonus=GREEDY),
    }


def _grids() -> dict[str, list[Any]]:
    from coterie.algorithms import CLUB, SCLUB

    grids: dict[str, Callable[[float], Any]] = {
        "CLUB_tuned": lambda scale: CLUB(graph_scale=scale),
        "SCLUB_tuned": lambda scale: SCLUB(graph_scale=scale),
    }
    return {name: [make(scale) for scale in SCALES] for name, make in grids.items()}


def _ridge(ridge: float) -> Independent:
    return Independent(confidence=Confidence(ridge=ridge), bonus=GREEDY)


def _nobody(drawn: Drawn) -> UserStatistics:
    """Statistics in which every user of the world is known and has no data."""
    n, dim = drawn.truth.theta.shape
    zeros = np.zeros(n)
    return UserStatistics.from_arrays(
        users=np.arange(n),
        count=zeros,
        moment=np.zeros((n, dim)),
        gram=np.zeros((n, dim, dim)),
        reward_square=zeros,
        features=[f"action[{j}]" for j in range(dim)],
    )
