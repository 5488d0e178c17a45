"""Experiments 5 and 6: which algorithm when, and theory beside practice, as the data grow.

Takes: rows of both experiments, on the synthetic world, where the true gap is known.
Gives: two figures and the winners.
Paper: the table of recommended algorithms; Theorems 1, 2 and 4.
Next: `page`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coterie.experiments.bounds import LOWER, THEOREM_1, THEOREM_2
from coterie.experiments.cell import Row
from coterie.experiments.figures import LABELS, STYLES, Drawn, legend, line, panels, thousands
from coterie.experiments.methods import KNOWN, POLICIES
from coterie.experiments.settings import NOISE
from coterie.experiments.tables import means

OFF_CLUB = "Off-CLUB"
_KNOWING = {
    "Off-C2LUB@gamma": ("#0072B2", "-", "o", "Off-C2LUB, told the true gap"),
    "Off-C2LUB@gamma/2": ("#0072B2", ":", "v", "... told half of it"),
    "Off-C2LUB@2gamma": ("#0072B2", "--", "^", "... told twice as much"),
}
_TIE = 2.0  # standard errors of the difference, below which two methods are not told apart


@dataclass(frozen=True)
class Winner:
    """Which of several methods had the least gap at a size; `told_apart` from the second best or not."""

    size: int
    gap_known: bool
    winner: str
    gap: float
    second: str
    second_gap: float
    told_apart: bool

    @property
    def sentence(self) -> str:
        """The winner, or both where the seeds do not tell them apart."""
        return self.winner if self.told_apart else f"{self.winner}, {self.second} (equal)"


def winners(rows: Sequence[Row]) -> list[Winner]:
    """Winners by size, with the true gap known and not known, by differences paired over seeds."""
    by: dict[tuple[int, str], dict[int, float]] = {}
    for row in rows:
        if row.experiment == "regimes":
            by.setdefault((row.size, row.method), {})[row.seed] = row.gap
    found = []
    for size in sorted({size for size, _ in by}):
        for known, names in ((True, (OFF_CLUB, *KNOWN[:1])), (False, (OFF_CLUB, *POLICIES))):
            found.append(_winner(size, {name: by[size, name] for name in names}, known=known))
    return found


def _winner(size: int, gaps: Mapping[str, Mapping[int, float]], *, known: bool) -> Winner:
    mean = {name: sum(some.values()) / len(some) for name, some in gaps.items()}
    first, second = sorted(mean, key=lambda name: mean[name])[:2]
    apart = [gaps[second][seed] - gap for seed, gap in gaps[first].items()]
    n, middle = len(apart), sum(apart) / len(apart)
    spread = (sum((one - middle) ** 2 for one in apart) / max(n - 1, 1) / n) ** 0.5
    return Winner(size, known, first, mean[first], second, mean[second], middle > _TIE * spread and n > 1)


def regimes_figure(rows: Sequence[Row]) -> Drawn:
    """Gap against size with the gap known (left) and not known (right)."""
    at = means([row for row in rows if row.experiment == "regimes"])
    figure, axes = panels(1, 2, height=3.3, foot=0.9)
    for axis, title, names in (
        (axes[0][0], "true gap known", (*_KNOWING, OFF_CLUB, "Oracle")),
        (axes[0][1], "true gap unknown", (*POLICIES, OFF_CLUB, "Oracle")),
    ):
        sizes: set[int] = set()
        for name in names:
            points = [(key[4], *value) for key, value in at.items() if key[1] == name and value[0] > 0]
            if name in _KNOWING:
                colour, dash, marker, label = _KNOWING[name]
                x, mean, error = zip(*sorted(points), strict=True)
                axis.errorbar(
                    x, mean, error, color=colour, linestyle=dash, marker=marker, markersize=4, capsize=2,
                    label=label,
                )  # fmt: skip
            else:
                line(axis, name, points)
            sizes.update(int(point[0]) for point in points)
        thousands(axis, sorted(sizes))
        axis.set_yscale("log")
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("size of the data |D|")
    axes[0][0].set_ylabel("suboptimality gap")
    axes[0][1].sharey(axes[0][0])
    legend(figure, axes, columns=3)
    caption = (
        "Table 1 of the paper as an experiment, on synthetic data: on the left Off-C2LUB is told the true "
        "gap between clusters (or half, or twice of it), on the right it chooses the gap by a policy. "
        "Off-CLUB never needs it."
    )
    return Drawn("regimes", figure, caption)


def theory_figure(rows: Sequence[Row]) -> Drawn:
    """Measured gaps beside the bounds, as the data grow."""
    at = means([row for row in rows if row.experiment == "theory"])
    proven: dict[int, float] = {}
    for row in rows:
        if row.experiment == "theory" and row.method == THEOREM_1:
            proven[row.size] = min(row.neighbours, proven.get(row.size, 1.0))
    figure, axes = panels(1, 1, height=4.3, foot=0.9)
    figure.set_size_inches(7.2, figure.get_size_inches()[1])
    axis = axes[0][0]
    for name in (OFF_CLUB, POLICIES[1]):
        line(axis, name, [(key[4], *value) for key, value in at.items() if key[1] == name])
    sizes = sorted(proven)
    _bound(axis, at, THEOREM_1, (STYLES[OFF_CLUB][0], "Theorem 1 (Off-CLUB)"), proven)
    _bound(axis, at, THEOREM_2, (STYLES[POLICIES[1]][0], "Theorem 2 (Off-C2LUB, its own sets)"), proven)
    lower = sorted((key[4], value[0]) for key, value in at.items() if key[1] == LOWER)
    axis.plot(*zip(*lower, strict=True), color="#909090", linewidth=1, linestyle="-.",
              label=f"lower bound x noise {NOISE:g}")  # fmt: skip
    thousands(axis, sizes)
    axis.set_yscale("log")
    axis.set_xlabel("size of the data |D|")
    axis.set_ylabel("suboptimality gap")
    legend(figure, axes, columns=2)
    caption = (
        "Theory against practice on synthetic data. Thin lines are upper bounds: solid where every user has "
        "the samples (N_min) that the theorems ask for, dotted where the formula is only evaluated. "
        f"{LABELS[POLICIES[1]]} is bounded with the neighbours that it really joined. The lower bound is a "
        "worst case over instances with noise 1 (.126 at 0.2M, where the measured gap is .00004), not a "
        f"floor for this world; it is drawn scaled by the noise, {NOISE:g}."
    )
    return Drawn("theory", figure, caption)


def _bound(axis: Any, at: Any, name: str, style: tuple[str, str], proven: Mapping[int, float]) -> None:
    """An upper bound, dotted up to the first size at which it is proven of every user."""
    points = sorted((key[4], value[0]) for key, value in at.items() if key[1] == name)
    start = next((i for i, (size, _) in enumerate(points) if proven[size] == 1), len(points))
    colour, label = style
    for part, dash in ((points[: start + 1], ":"), (points[start:], "-")):
        if part:
            said = label if dash == "-" or start == len(points) else None
            axis.plot(*zip(*part, strict=True), color=colour, linewidth=1.2, linestyle=dash, label=said)
