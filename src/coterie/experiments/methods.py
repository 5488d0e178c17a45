"""The methods that are compared: the paper's rows, and those that an honest report needs beside them.

Takes: the logs of a cell, its statistics, and the truth (which only the oracle is shown).
Gives: a fitted model per method; a new method is one more entry of `METHODS`.
Paper: "Benchmark Methods"; `docs/deviations.md` on the rows that cannot be matched.
Next: `cell`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from coterie import presets
from coterie.algorithms import (
    ARMUL,
    CLUB,
    DBSCAN,
    SCLUB,
    Independent,
    LinUCB,
    Mixture,
    OffC2LUB,
    OffCLUB,
    Oracle,
    Pooled,
    XMeans,
)
from coterie.confidence import Confidence, Smoothed
from coterie.decision import Bonus
from coterie.experiments.settings import (
    GAPS,
    INFLUENCE_GAPS,
    PENALTIES,
    RIDGES,
    SCALES,
    SCARCE_GAPS,
    UNDERTRAINED,
    Cell,
)
from coterie.logs import Logs
from coterie.model import Model
from coterie.packed import unpack
from coterie.statistics import UserStatistics, summarize
from coterie.worlds import Drawn

GREEDY = Bonus(sign=0)
# The online baselines use no radius; this one takes no eigenvalues, which the default one does.
ONLINE = Confidence(ridge=0.5, regularity=Smoothed(0.8))
FIXED_GAP = "Off-C2LUB"
POLICIES = ("Off-C2LUB_Underestimation", "Off-C2LUB_Overestimation")
KNOWN = ("Off-C2LUB@gamma", "Off-C2LUB@gamma/2", "Off-C2LUB@2gamma")
BEYOND = "beyond"  # rows that neither the paper nor the honest report asks for: run when named
ALWAYS = ("LCB_IND", "Ridge_IND", "Ridge_IND_tuned", "Pooled", "Oracle")


@dataclass(frozen=True, eq=False)
class Training:
    """What methods are trained on: a drawn log, its statistics, two halves for tuning, the preset."""

    drawn: Drawn
    preset: str

    @cached_property
    def logs(self) -> Logs:
        """The rows in their order."""
        return self.drawn.logs

    @cached_property
    def stats(self) -> UserStatistics:
        """Statistics in which every user of the world is known, users without data included."""
        return _nobody(self.drawn) + summarize(self.logs, threads=1)

    @cached_property
    def halves(self) -> tuple[UserStatistics, UserStatistics]:
        """Statistics of every second row, and of the others."""
        user, action, reward = self.drawn.user, self.drawn.action, self.drawn.reward
        first, second = (
            summarize(Logs.from_arrays(user[i::2], action[i::2], reward[i::2]), threads=1) for i in range(2)
        )
        return _nobody(self.drawn) + first, _nobody(self.drawn) + second

    @cached_property
    def joining_nobody(self) -> tuple[Model, float]:
        """Off-C2LUB's model with gap 0, and the gap up to which nobody is joined."""
        model = _off_c2lub(self, gap=0.0)
        hood: Any = model.evidence.neighbourhood if model.evidence else None
        rows = np.arange(model.n_users)
        needed = hood.needed(rows)
        needed[rows, rows] = np.inf
        return model, float(needed.min())

    def settings(self, algorithm: str) -> dict[str, Any]:
        """Keyword arguments of the preset."""
        make = presets.paper_tables if self.preset == "paper_tables" else presets.paper_text
        return make(algorithm)


@dataclass(frozen=True)
class Method:
    """How to fit a method, and the extra package that it needs; `kind` says whose row it is."""

    fit: Callable[[Training], Model]
    kind: str = "honest"
    needs: str | None = None
    clusters: bool = False

    @property
    def is_installed(self) -> bool:
        """Whether what it needs is there."""
        return self.needs is None or find_spec(self.needs) is not None


def _fixed(gap: float) -> str:
    return f"{FIXED_GAP}@{gap:g}"


def _off_club(training: Training) -> Model:
    return OffCLUB(**training.settings("OffCLUB")).fit(training.stats)


def _off_c2lub(training: Training, **more: Any) -> Model:
    return OffC2LUB(**more, **training.settings("OffC2LUB")).fit(training.stats)


def _with_fixed_gap(training: Training, gap: float) -> Model:
    """Off-C2LUB with a fixed gap: one model for all gaps that join nobody."""
    alone, first = training.joining_nobody
    return alone if gap <= first else _off_c2lub(training, gap=gap)


def _knowing(training: Training, factor: float = 1.0) -> Model:
    """Off-C2LUB that is told the true gap between clusters, or that times a factor."""
    return _off_c2lub(training, gap=factor * training.drawn.truth.gap)


def _on_statistics(training: Training, algorithm: Any) -> Model:
    return algorithm.fit(training.stats)  # type: ignore[no-any-return]


def _on_rows(training: Training, algorithm: Any) -> Model:
    return algorithm.fit(training.logs)  # type: ignore[no-any-return]


def _armul(training: Training, algorithm: ARMUL) -> Model:
    """The penalty by two folds, as `ARMUL.fit` does on logs; the halves are already there."""
    first, second = training.halves
    chosen = algorithm.choose(((first, second), (second, first)))
    return replace(algorithm, penalty=chosen).fit(training.stats)


def _unpooled(training: Training, bonus: Bonus | None = None) -> Model:
    """Ridge regression per user at the given ridge; pessimistic unless told otherwise."""
    algorithm = Independent(**training.settings("Independent"))
    return (algorithm if bonus is None else replace(algorithm, bonus=bonus)).fit(training.stats)


def _pooled(training: Training) -> Model:
    return Pooled(**training.settings("Pooled")).fit(training.stats)


def _tuned(training: Training, make: Callable[[float], Any], grid: Sequence[float]) -> Model:
    algorithm = tuned([make(value) for value in grid], training)
    return algorithm.fit(training.stats)  # type: ignore[no-any-return]


def _oracle(training: Training) -> Model:
    labels: Any = training.drawn.truth.labels
    algorithm = Oracle(labels[training.stats.users], confidence=ONLINE, bonus=GREEDY)
    return algorithm.fit(training.stats)


def _ridge(ridge: float) -> Independent:
    return Independent(confidence=replace(ONLINE, ridge=ridge), bonus=GREEDY)


def _club(scale: float) -> CLUB:
    return CLUB(graph_scale=scale, confidence=ONLINE)


def _sclub(scale: float) -> SCLUB:
    return SCLUB(graph_scale=scale, confidence=ONLINE)


METHODS: dict[str, Method] = {
    "LinUCB_IND": Method(partial(_on_statistics, algorithm=LinUCB(confidence=ONLINE)), "paper"),
    "CLUB": Method(partial(_on_statistics, algorithm=CLUB(confidence=ONLINE)), "paper"),
    "SCLUB": Method(partial(_on_statistics, algorithm=SCLUB(confidence=ONLINE)), "paper"),
    "DBSCAN_Improve": Method(
        partial(_on_statistics, algorithm=DBSCAN(confidence=ONLINE)), "paper", "sklearn"
    ),
    "XMeans_Improve": Method(
        partial(_on_statistics, algorithm=XMeans(confidence=ONLINE)), "paper", "sklearn"
    ),
    "ARMUL": Method(
        partial(
            _armul,
            algorithm=ARMUL(penalty="validate", grid=UNDERTRAINED, steps=10, rate=0.01, confidence=ONLINE),
        ),
        "paper",
    ),
    "Off-CLUB": Method(_off_club, "paper"),
    **{
        _fixed(gap): Method(partial(_with_fixed_gap, gap=gap), "paper")
        for gap in sorted({*GAPS, *SCARCE_GAPS, *INFLUENCE_GAPS})
    },
    "Off-C2LUB_Underestimation": Method(partial(_off_c2lub, gap="under"), "paper"),
    "Off-C2LUB_Overestimation": Method(partial(_off_c2lub, gap="over"), "paper"),
    "Off-C2LUB_Overestimation_mutual": Method(partial(_off_c2lub, gap="over", sharing="mutual")),
    "Off-C2LUB_Overestimation_global": Method(partial(_off_c2lub, gap="over", sharing="global")),
    "LCB_IND": Method(_unpooled),
    "Ridge_IND": Method(partial(_unpooled, bonus=GREEDY)),
    "Ridge_IND_tuned": Method(partial(_tuned, make=_ridge, grid=RIDGES)),
    "CLUB_tuned": Method(partial(_tuned, make=_club, grid=SCALES)),
    "SCLUB_tuned": Method(partial(_tuned, make=_sclub, grid=SCALES)),
    "CLUB_replayed": Method(partial(_on_rows, algorithm=CLUB(replay=True, confidence=ONLINE))),
    "SCLUB_staged": Method(partial(_on_rows, algorithm=SCLUB(staged=True, confidence=ONLINE))),
    "ARMUL_converged": Method(
        partial(_armul, algorithm=ARMUL(penalty="validate", grid=PENALTIES, confidence=ONLINE, bonus=GREEDY))
    ),
    "Pooled": Method(_pooled),
    "Mixture": Method(partial(_on_statistics, algorithm=Mixture(bonus=GREEDY)), BEYOND),
    "Mixture_pessimistic": Method(partial(_on_statistics, algorithm=Mixture()), BEYOND),
    "Off-C2LUB@gamma": Method(_knowing, "regimes", clusters=True),
    "Off-C2LUB@gamma/2": Method(partial(_knowing, factor=0.5), "regimes", clusters=True),
    "Off-C2LUB@2gamma": Method(partial(_knowing, factor=2.0), "regimes", clusters=True),
    "Oracle": Method(_oracle, clusters=True),
}


_ONLY: dict[str, tuple[str, ...]] = {
    "gap": (*map(_fixed, INFLUENCE_GAPS), "Off-CLUB", *POLICIES),
    "regimes": ("Off-CLUB", *POLICIES, *KNOWN, "Oracle"),
    "theory": ("Off-CLUB", *POLICIES, "Oracle"),
}


def methods_of(cell: Cell) -> tuple[str, ...]:
    """Names of the methods that a cell's experiment compares, in the order of `METHODS`.

    The paper's tables have every honest row beside them, its figures with scarce data those in `ALWAYS`.
    """
    gaps = map(_fixed, GAPS if cell.experiment == "sufficient" else SCARCE_GAPS)
    asked = _ONLY.get(cell.experiment, (*gaps, *(name for name in METHODS if "@" not in name)))
    asked = tuple(name for name in asked if METHODS[name].kind != BEYOND)
    if cell.experiment == "scarce":
        asked = tuple(name for name in asked if name in ALWAYS or METHODS[name].kind == "paper")
    return tuple(name for name in METHODS if name in asked)


def tuned(candidates: Sequence[Any], training: Training) -> Any:
    """The algorithm whose fit on one half of the rows has the least squared error on the other half."""
    first, second = training.halves
    held_out = HeldOut.of(second)
    return min(candidates, key=lambda algorithm: held_out.squared_error(algorithm.fit(first).theta))


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Sums of rows that were held out, with square Grams."""

    gram: Any
    moment: Any
    reward_square: float

    @classmethod
    def of(cls, stats: UserStatistics) -> "HeldOut":
        """The sums of these statistics."""
        return cls(unpack(stats.packed_gram), stats.moment, float(stats.reward_square.sum()))

    def squared_error(self, theta: Any) -> float:
        r"""Sum of squared residuals (of users in the same order), from their sums alone.

        .. math:: \sum_u \left( \sum r^2 - 2 \theta_u' b_u + \theta_u' G_u \theta_u \right)
        """
        explained = (2 * self.moment - (self.gram @ theta[:, :, np.newaxis])[:, :, 0]) * theta
        return self.reward_square - float(explained.sum())


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
