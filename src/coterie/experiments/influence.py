r"""Experiment 4: what the gap in use, gamma-hat, does to the decisions and to the sets R and W.

Takes: rows of the experiment; for the schematic a synthetic world.
Gives: two figures.
Paper: "Improvement with Estimated gamma-hat" and its appendix; the figure "Influence of Different gamma-hat",
which is drawn there and computed here.
Next: `page`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie import presets
from coterie.algorithms import OffC2LUB
from coterie.experiments.cell import Row
from coterie.experiments.datasets import world_of
from coterie.experiments.figures import LABELS, STYLES, TITLES, Drawn, legend, line, panels
from coterie.experiments.methods import FIXED_GAP, Training
from coterie.experiments.settings import Cell
from coterie.experiments.tables import means
from coterie.neighbourhood import Metric
from coterie.packed import FloatArray

_LEVELS = ("Off-CLUB", "Off-C2LUB_Underestimation", "Off-C2LUB_Overestimation")
_SIZE = 60_000


def influence_figure(rows: Sequence[Row]) -> Drawn:
    """Gap against gamma-hat, a row per size and a column per data set, the policies as horizontal lines."""
    at = means([row for row in rows if row.experiment == "gap"])
    sizes, datasets = sorted({key[4] for key in at}), list(dict.fromkeys(key[0] for key in at))
    figure, axes = panels(len(sizes), len(datasets), height=2.4, foot=0.8)
    for i, size in enumerate(sizes):
        for j, dataset in enumerate(datasets):
            here = {key[1]: value for key, value in at.items() if (key[0], key[4]) == (dataset, size)}
            grid = [(float(name.partition("@")[2]), *value) for name, value in here.items() if "@" in name]
            line(axes[i][j], FIXED_GAP, grid)
            for name in _LEVELS:
                mean, error = here[name]
                colour = STYLES[name][0]
                axes[i][j].axhline(
                    mean, color=colour, linewidth=1.5, linestyle="--", label=LABELS.get(name, name)
                )
                axes[i][j].axhspan(mean - error, mean + error, color=colour, alpha=0.15, linewidth=0)
            axes[i][j].set_title(f"{TITLES[dataset]}, |D| = {size // 1000}k", fontsize=10)
            axes[i][j].set_ylim(bottom=0)
        axes[i][0].set_ylabel("suboptimality gap")
    for axis in axes[-1]:
        axis.set_xlabel("gap in use, gamma-hat")
    legend(figure, axes)
    caption = (
        "Off-C2LUB with a fixed gap against that gap (mean and standard error over seeds). Too small a gap "
        "joins nobody, too large a one joins everybody. Dashed: the two policies that choose the gap from "
        "the data, user by user, and Off-CLUB, which has none."
    )
    return Drawn("gap_influence", figure, caption)


@dataclass(frozen=True, eq=False)
class Reach:
    """From which gap on users are joined: `alike` and `unlike` (n,) over pairs, `mine` for one user.

    `own` is that user's under- and over-estimated gap, `gamma` the true one.
    """

    alike: FloatArray
    unlike: FloatArray
    mine: tuple[FloatArray, FloatArray]
    own: tuple[float, float]
    gamma: float
    n_users: int


def reach(size: int = _SIZE, seed: int = 0) -> Reach:
    r"""Least gap at which Off-C2LUB joins each pair of a synthetic world: distance plus both radii.

    .. math:: \|\hat\theta_u - \hat\theta_v\| + \alpha (CI_u + CI_v) < \hat\gamma
    """
    cell = Cell("gap", "synthetic", "random", "equal", size, seed, 1, "paper_tables")
    world = world_of(cell, None)
    training = Training(world.draw(size // 2, np.random.default_rng(cell.entropy)), cell.preset)
    settings = presets.paper_tables("OffC2LUB")
    under, over = (OffC2LUB(gap=policy, **settings).fit(training.stats) for policy in ("under", "over"))
    own: list[Any] = [under.gap, over.gap]
    hood = under.evidence.neighbourhood if under.evidence else None
    assert isinstance(hood, Metric)  # noqa: S101
    labels: Any = world.truth.labels
    needed = hood.needed(np.arange(world.truth.n_users))
    alike = labels[:, np.newaxis] == labels
    other = ~np.eye(len(labels), dtype=bool)
    user = int(np.argsort(own[0])[len(labels) // 2])  # a user whose gap is the typical one
    return Reach(
        np.sort(needed[alike & other]),
        np.sort(needed[~alike]),
        (needed[user][alike[user] & other[user]], needed[user][~alike[user]]),
        (float(own[0][user]), float(own[1][user])),
        world.truth.gap,
        len(labels),
    )


def schematic_figure(found: Reach) -> Drawn:
    """Where one user's neighbours of both kinds lie, and how many there are of each as the gap grows."""
    figure, axes = panels(2, 1, height=2.4, foot=0.6)
    figure.set_size_inches(7.6, figure.get_size_inches()[1])
    grid = np.linspace(0, 1.02 * max(found.unlike[-1], found.alike[-1]), 600)
    kinds = (
        ("alike (R)", "#0072B2", found.mine[0], found.alike),
        ("unlike (W)", "#8C8C8C", found.mine[1], found.unlike),
    )
    rng = np.random.default_rng(0)
    for height, (name, colour, mine, everybody) in enumerate(kinds):
        scatter = height + rng.uniform(-0.3, 0.3, len(mine))
        axes[0][0].scatter(mine, scatter, s=5, color=colour, alpha=0.5, linewidth=0)
        joined = np.searchsorted(everybody, grid) / found.n_users
        axes[1][0].plot(grid, joined, color=colour, linewidth=2, label=f"users {name}")
    marks = (
        ("true gap gamma", found.gamma, "#333333", "-"),
        ("under-estimated", found.own[0], STYLES[_LEVELS[1]][0], "--"),
        ("over-estimated", found.own[1], STYLES[_LEVELS[2]][0], "--"),
    )
    for axis in axes.flat:
        for name, value, colour, dash in marks:
            axis.axvline(value, color=colour, linestyle=dash, linewidth=1.5, label=f"{name}: {value:.2f}")
        axis.set_xlim(0, grid[-1])
    axes[0][0].set_yticks([0, 1], ["users alike (R)", "users unlike (W)"])
    axes[0][0].set_title("One user: from which gap on each other user is joined", fontsize=10)
    axes[1][0].set_title("All users: how many are joined on average", fontsize=10)
    axes[1][0].set_ylabel("users joined")
    axes[1][0].set_yscale("symlog", linthresh=1)
    axes[1][0].set_ylim(bottom=0)
    axes[1][0].set_xlabel("gap in use, gamma-hat")
    legend(figure, axes, columns=3)
    caption = (
        f"What the gap does, computed on a synthetic world with |D| = {_SIZE // 1000}k: the others are "
        "joined from the left as gamma-hat grows, first users alike (R, which averages noise away), then "
        "users unlike (W, which brings bias). Dashed: the gaps that the two policies give the user above."
    )
    return Drawn("gap_schematic", figure, caption)
