"""Figures: the gap against the size of the data, one colour per method throughout.

Takes: means over seeds.
Gives: SVG and PNG files.
Paper: the main figure, its LinUCB twin, and the tables as a picture.
Next: `page`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coterie.experiments.cell import Row
from coterie.experiments.tables import means

# Colours of Okabe and Ito, told apart by colour-blind readers; thin grey for the baselines that overlap.
STYLES: dict[str, tuple[str, str, str]] = {
    "Off-C2LUB": ("#0072B2", "-", "o"),
    "Off-C2LUB_Overestimation": ("#D55E00", "-", "s"),
    "Off-C2LUB_Underestimation": ("#009E73", "-", "^"),
    "Off-CLUB": ("#CC79A7", "-", "D"),
    "LinUCB_IND": ("#000000", "--", "x"),
    "CLUB": ("#8C8C8C", ":", "v"),
    "SCLUB": ("#E69F00", "--", "v"),
    "DBSCAN_Improve": ("#56B4E9", "--", "<"),
    "XMeans_Improve": ("#B5A400", "--", ">"),
    "ARMUL": ("#7F6000", "--", "p"),
    "Ridge_IND_tuned": ("#444444", "-.", "+"),
    "Oracle": ("#999999", "-.", ""),
}
_TITLES = {"synthetic": "Synthetic", "yelp": "Yelp", "movielens": "MovieLens"}


def gap_figure(rows: Sequence[Row], experiment: str, logging: str, title: str) -> Any:
    """Figure with a column per data set and a row per distribution; error bars are standard errors."""
    import matplotlib.pyplot as plt

    at = means([row for row in rows if row.experiment == experiment and row.logging == logging])
    datasets = list(dict.fromkeys(key[0] for key in at))
    distributions = sorted({key[3] for key in at})
    shape = len(distributions), len(datasets)
    figure, axes = plt.subplots(
        *shape, figsize=(4.2 * shape[1], 3.4 * shape[0] + 1), squeeze=False, sharex=True
    )
    for i, distribution in enumerate(distributions):
        for j, dataset in enumerate(datasets):
            _draw(axes[i][j], at, dataset, logging, distribution)
            axes[i][j].set_title(f"{_TITLES[dataset]}, {distribution} service")
        axes[i][0].set_ylabel("suboptimality gap")
    for axis in axes[-1]:
        axis.set_xlabel("size of the data |D|")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=4, frameon=False, fontsize=8)
    figure.suptitle(title)
    figure.tight_layout(rect=(0, 0.14 / shape[0] + 0.05, 1, 1))
    return figure


def save(figure: Any, out: Path, name: str) -> None:
    """Write a figure as SVG and PNG and forget it."""
    import matplotlib.pyplot as plt

    figure.savefig(out / f"{name}.svg", metadata={"Date": None})
    figure.savefig(out / f"{name}.png", dpi=150)
    plt.close(figure)


def _draw(
    axis: Any, at: dict[Any, tuple[float, float]], dataset: str, logging: str, distribution: str
) -> None:
    for method, (colour, line, marker) in STYLES.items():
        points = sorted(
            (size, *value)
            for (data, name, log, dist, size), value in at.items()
            if (data, name, log, dist) == (dataset, method, logging, distribution)
        )
        if points:
            sizes, gaps, errors = zip(*points, strict=True)
            axis.errorbar(
                sizes, gaps, errors, color=colour, linestyle=line, marker=marker, label=method,
                markersize=4, linewidth=1.3, capsize=2,
            )  # fmt: skip
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.grid(visible=True, which="major", alpha=0.3)
