"""Figures of experiments 1 to 3: the gap against the size of the data, one colour per method throughout.

Takes: rows.
Gives: a matplotlib figure, and files of it.
Paper: the main figure, its LinUCB twin, and the tables as a picture.
Next: `influence`, `regimes`, `page`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.experiments.cell import Row
from coterie.experiments.tables import Key, means

# Colours of Okabe and Ito, told apart by colour-blind readers; dashes for baselines, dots for honest rows.
STYLES: dict[str, tuple[str, str, str]] = {
    "Off-C2LUB": ("#0072B2", "-", "o"),
    "Off-C2LUB_Overestimation": ("#D55E00", "-", "s"),
    "Off-C2LUB_Underestimation": ("#009E73", "-", "^"),
    "Off-CLUB": ("#CC79A7", "-", "D"),
    "Mixture": ("#8A2BE2", "-", "*"),
    "LinUCB_IND": ("#000000", "--", "x"),
    "CLUB": ("#8C8C8C", "--", "1"),
    "SCLUB": ("#E69F00", "--", "v"),
    "DBSCAN_Improve": ("#56B4E9", "--", "<"),
    "XMeans_Improve": ("#B5A400", "--", ">"),
    "ARMUL": ("#7F6000", "--", "p"),
    "LCB_IND": ("#C03030", ":", "+"),
    "Ridge_IND_tuned": ("#303030", ":", "d"),
    "Oracle": ("#909090", ":", "."),
}
TITLES = {"synthetic": "Synthetic", "yelp": "Yelp", "movielens": "MovieLens", "stand-in": "Stand-in"}
LABELS = {
    "Off-C2LUB": "Off-C2LUB, fixed gap",
    "Off-C2LUB_Overestimation": "Off-C2LUB, over-estimated gap",
    "Off-C2LUB_Underestimation": "Off-C2LUB, under-estimated gap",
    "LCB_IND": "alone, pessimistic (LCB_IND)",
    "Ridge_IND_tuned": "alone, tuned ridge, no bonus",
    "Oracle": "knows the clusters (Oracle)",
    "ARMUL": "ARMUL (undertrained, as published)",
}
_OURS = 4
_NARROW = 100.0
_LEAST_WIDTH = 7.6  # inches, so that a legend of three columns has room
_COLUMN = 2.5  # inches of a legend with the longest of the labels


@dataclass(frozen=True)
class Drawn:
    """A figure with its name and what it shows, in a sentence or two."""

    name: str
    figure: Any
    caption: str

    def save(self, out: Path) -> Path:
        """Write SVG and PNG, give the first."""
        import matplotlib as mpl

        with mpl.rc_context({"svg.hashsalt": "coterie"}):
            self.figure.savefig(out / f"{self.name}.svg", metadata={"Date": None})
        self.figure.savefig(out / f"{self.name}.png", dpi=150)
        return out / f"{self.name}.svg"


def panels(n_rows: int, n_columns: int, *, height: float = 2.9, foot: float = 0.9) -> tuple[Any, Any]:
    """Figure and its axes (rows, columns), with `foot` inches below them for the legend."""
    from matplotlib.figure import Figure

    whole = height * n_rows + foot + 0.3
    figure = Figure(figsize=(max(3.9 * n_columns + 0.5, _LEAST_WIDTH), whole), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    layout: Any = figure.get_layout_engine()
    layout.set(rect=(0, foot / whole, 1, 1 - foot / whole))
    for axis in axes.flat:
        axis.grid(visible=True, which="major", alpha=0.3, linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def legend(figure: Any, axes: Any, columns: int = 4) -> None:
    """One legend at the foot for the lines of all panels, in at most as many columns as have room."""
    found: dict[str, Any] = {}
    for axis in axes.flat:
        handles, labels = axis.get_legend_handles_labels()
        for handle, label in zip(handles, labels, strict=True):
            found.setdefault(label, handle)
    order = [LABELS.get(name, name) for name in STYLES]
    found = dict(sorted(found.items(), key=lambda one: order.index(one[0]) if one[0] in order else -1))
    columns = min(columns, int(figure.get_figwidth() // _COLUMN))
    figure.legend(
        found.values(), found.keys(), loc="lower center", ncols=columns, frameon=False, fontsize=8.5
    )


def line(axis: Any, method: str, points: Sequence[tuple[float, float, float]]) -> None:
    """Draw a method's (x, mean, standard error) in its own style."""
    colour, dash, marker = STYLES[method]
    front = method in list(STYLES)[:_OURS]
    x, mean, error = zip(*sorted(points), strict=True)
    axis.errorbar(
        x, mean, error, color=colour, linestyle=dash, marker=marker, label=LABELS.get(method, method),
        markersize=4.5 if front else 3.5, linewidth=1.8 if front else 1.1, capsize=2,
        zorder=3 if front else 2,
    )  # fmt: skip


def gap_figure(rows: Sequence[Row], experiment: str, logging: str, name: str, caption: str) -> Drawn:
    """Figure with a column per data set and a row per distribution; error bars are standard errors."""
    at = means([row for row in rows if row.experiment == experiment and row.logging == logging])
    datasets = list(dict.fromkeys(key[0] for key in at))
    distributions = sorted({key[3] for key in at})
    figure, axes = panels(len(distributions), len(datasets), foot=1.1)
    for i, distribution in enumerate(distributions):
        for j, dataset in enumerate(datasets):
            _draw(axes[i][j], at, dataset, distribution)
            axes[i][j].set_title(f"{TITLES[dataset]}, {distribution} service", fontsize=10)
        axes[i][0].set_ylabel("suboptimality gap")
    for axis in axes[-1]:
        axis.set_xlabel("size of the data |D|")
    legend(figure, axes)
    return Drawn(name, figure, caption)


def _draw(axis: Any, at: dict[Key, tuple[float, float]], dataset: str, distribution: str) -> None:
    sizes: set[int] = set()
    for method in reversed(STYLES):
        points = [
            (size, *value)
            for (data, name, _, dist, size), value in at.items()
            if (data, name, dist) == (dataset, method, distribution) and value[0] > 0
        ]
        if points:
            line(axis, method, points)
            sizes.update(size for size, _, _ in points)
    thousands(axis, sorted(sizes))
    decades(axis)


def decades(axis: Any) -> None:
    """A logarithmic axis of gaps, with 1, 2 and 5 as ticks where it spans less than two decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_yscale("log")
    axis.yaxis.set_minor_formatter(NullFormatter())
    low, high = axis.get_ylim()
    if high < _NARROW * low:
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def thousands(axis: Any, sizes: Sequence[int]) -> None:
    """A logarithmic axis of sizes with the sizes themselves as ticks, as many as can be read."""
    axis.set_xscale("log")
    shown: list[int] = []
    for size in sizes:
        if not shown or size >= 1.45 * shown[-1]:
            shown.append(size)
    axis.set_xticks(shown, [f"{size / 1e6:g}M" if size >= 1e6 else f"{size // 1000}k" for size in shown])  # noqa: PLR2004
    axis.set_xticks([], minor=True)
