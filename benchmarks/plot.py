"""Draws `docs/figures/search.svg` from the kept results of `search`: `python -m benchmarks.plot`."""

import json
import re

from benchmarks.harness import ROOT

_STYLE = {"this search": ("#0072b2", "o"), "dense BLAS": ("#d55e00", "s"), "scikit-learn": ("#8c959f", "^")}


def main() -> None:
    """One panel per case, seconds against users, both in logarithms."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    found = json.loads((ROOT / "benchmarks" / "results" / "search.json").read_text())["measurements"]
    series: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for one in found:
        users, _, label = one["case"].partition(" users, ")
        label = label.rpartition(", ")[2]  # the million is in clusters of its own size
        if one["name"] in _STYLE and re.fullmatch(r"[\d,]+", users):
            points = series.setdefault(label, {}).setdefault(one["name"], [])
            points.append((int(users.replace(",", "")), one["seconds"]))
    figure, axes = plt.subplots(
        1, len(series), figsize=(11, 3.0), sharex=True, sharey=True, layout="constrained"
    )
    for axis, (label, lines) in zip(axes, series.items(), strict=True):
        for name, points in lines.items():
            colour, marker = _STYLE[name]
            axis.loglog(*zip(*points, strict=True), color=colour, marker=marker, markersize=4, label=name)
        axis.set_title(label if label == "no clusters" else f"largest inner distance {label}", fontsize=9)
        axis.set_xlabel("users", fontsize=9)
        axis.grid(visible=True, which="major", color="#d0d7de", linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
    axes[0].set_ylabel("seconds", fontsize=9)
    axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(ROOT / "docs" / "figures" / "search.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
