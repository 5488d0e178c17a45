"""Draws the figure of `why-mixture.md`: `python docs/figures/mixture.py ROWS` writes the SVG beside itself.

ROWS is the folder that `python -m coterie.experiments.mixture --out ROWS` has filled.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import msgspec

from coterie.experiments.cell import Row
from coterie.experiments.mixture_claims import means_of

mpl.use("svg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
_NOTHING = 1e-6  # a gap below this would squeeze the others on a logarithmic axis
NAMES = {"synthetic": "Synthetic, 10 clusters", "movielens": "MovieLens", "yelp": "Yelp"}
LINES = {
    "Off-CLUB": ("Off-CLUB", "#d55e00", "s", "-"),
    "Off-C2LUB, best fixed gap": ("Off-C2LUB, best fixed gap", "#cc79a7", "^", "-"),
    "Ridge_IND_tuned": ("unpooled ridge, tuned", "#8c959f", "v", "-"),
    "Gaussian_EB": ("one Gaussian", "#009e73", "D", "--"),
    "Mixture": ("Mixture", "#0072b2", "o", "-"),
    "Knows_vectors": ("knows the vectors", "#1f2328", "", ":"),
    "Oracle": ("knows who is whose", "#1f2328", "", "-."),
}


def main() -> None:
    """Write `mixture.svg`."""
    rows = [
        row
        for file in sorted(Path(sys.argv[1]).glob("*.json"))
        for row in msgspec.json.decode(file.read_bytes(), type=list[Row])
    ]
    mpl.rcParams["svg.hashsalt"] = "coterie"
    figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
    for axis, (dataset, title) in zip(axes, NAMES.items(), strict=True):
        means = means_of(row for row in rows if row.dataset == dataset and row.distribution == "equal")
        for method, (label, colour, marker, style) in LINES.items():
            points = [(size, row[method]) for size, row in means.items() if row.get(method, 0) > _NOTHING]
            if points:
                axis.plot(
                    *zip(*points, strict=True),
                    color=colour, marker=marker, linestyle=style, label=label, markersize=4, linewidth=1.6,
                )  # fmt: skip
        axis.set(xscale="log", yscale="log", title=title, xlabel="logged rows and requests, |D|")
        axis.set_xticks(list(means), [f"{size // 1000}k" for size in means], minor=False)
        axis.minorticks_off()
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("suboptimality gap")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(HERE / "mixture.svg", metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
