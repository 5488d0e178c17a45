"""What the paper's experiments are, as data: sizes, data sets, seeds, and the cells that follow from them.

Takes: which part is asked for.
Gives: `Cell`s, each an independent piece of work with its own seed.
Paper: the section on experiments and its appendix.
Next: `cell`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

SUFFICIENT = (200_000, 400_000, 600_000, 800_000, 1_000_000)
SCARCE = (5_000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000, 80_000, 90_000, 100_000)
IMPROVEMENT_FROM = 20_000  # the published improvements are averages from this size on
DATASETS = ("synthetic", "yelp", "movielens")
WORLDS = (*DATASETS, "stand-in")  # the last is run when asked for by name
DISTRIBUTIONS = ("equal", "semi-random")
SERVICES = (*DISTRIBUTIONS, "semi-random-k-means")  # the last in place of the second, when asked for
GROUPS = {
    "blocks": "contiguous blocks of 100 users in the order of selection",
    "k-means": "k-means clusters of the preference vectors",
}
LOGGING = ("random", "linucb")
SEEDS = 10
QUICK_SEEDS = 2
QUICK_ROUNDS = 1_000
GAPS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)  # the grids on which the fixed gap is chosen: plentiful data,
SCARCE_GAPS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3, 1.6)  # and scarce data, whose radii are wider
REGIMES = (10_000, 20_000, 30_000, 50_000, 100_000, 200_000, 400_000)
THEORY = (50_000, 100_000, 200_000, 400_000, 1_000_000, 2_000_000)
ROUNDS = 20_000  # requests at most in experiments whose sizes are not the paper's
INFLUENCE = (30_000, 35_000, 40_000)
INFLUENCE_GAPS = tuple(round(0.4 + 0.1 * k, 1) for k in range(13))
RIDGES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # the grids on which honest rows are tuned
SCALES = (0.2, 0.5, 1.0, 2.0)
UNDERTRAINED = (0.05, 0.1, 0.2, 0.5, 1.0)  # the range that the paper prints
PENALTIES = (0.0002, 0.0006, 0.002, 0.006, 0.02, 0.06, 0.2, 0.6)
N_USERS, DIM, N_CLUSTERS, NOISE, CANDIDATES = 1000, 20, 10, 0.05, 20


@dataclass(frozen=True, order=True)
class Cell:
    """One world, one log, all methods; `rounds` is the number of requests that they are compared on."""

    experiment: str
    dataset: str
    logging: str
    distribution: str
    size: int
    seed: int
    rounds: int
    preset: str

    @property
    def name(self) -> str:
        """Name of the file that keeps it."""
        return "-".join(
            [self.experiment, self.preset, self.dataset, self.logging, self.distribution]
            + [str(part) for part in (self.size, self.seed, self.rounds)]
        )

    @property
    def entropy(self) -> list[int]:
        """Seed of the cell's random numbers: the same in whatever order or process it runs."""
        return [
            self.seed,
            WORLDS.index(self.dataset),
            LOGGING.index(self.logging),
            SERVICES.index(self.distribution),
            self.size,
        ]


def table_cells(datasets: Sequence[str], seeds: int, preset: str, *, quick: bool) -> list[Cell]:
    """Experiment 1, sufficient data: equal distribution, random logging."""
    return _cells("sufficient", datasets, SUFFICIENT, (("random", "equal"),), seeds, preset, quick)


def scarce_cells(
    datasets: Sequence[str], seeds: int, preset: str, *, quick: bool, groups: str = "blocks"
) -> list[Cell]:
    """Experiments 2 and 3, insufficient data: two distributions, random and LinUCB logging.

    A quick run has every second size of the latter, whose rows are in no table.
    """
    services = DISTRIBUTIONS if groups == "blocks" else (DISTRIBUTIONS[0], SERVICES[-1])
    cells = []
    for policy in LOGGING:
        sizes = SCARCE[::2] if quick and policy == "linucb" else SCARCE
        kinds = tuple((policy, distribution) for distribution in services)
        cells += _cells("scarce", datasets, sizes, kinds, seeds, preset, quick)
    return cells


def other_cells(datasets: Sequence[str], seeds: int, preset: str, *, quick: bool) -> list[Cell]:
    """Experiments 4 to 6; the last two need the true clusters, and so the synthetic world."""
    alone, plain = [name for name in datasets if name == "synthetic"], (("random", "equal"),)
    return [
        *_cells("gap", datasets, INFLUENCE, plain, seeds, preset, quick),
        *_cells("regimes", alone, REGIMES, plain, seeds, preset, quick),
        *_cells("theory", alone, THEORY, plain, seeds, preset, quick),
    ]


def cells_of(
    part: str, datasets: Sequence[str], seeds: int, preset: str, *, quick: bool, groups: str = "blocks"
) -> list[Cell]:
    """Cells of a part of the reproduction: "tables", "figures" or "all"."""
    cells = []
    if part != "figures":
        cells += table_cells(datasets, seeds, preset, quick=quick)
    if part != "tables":
        cells += scarce_cells(datasets, seeds, preset, quick=quick, groups=groups)
        cells += other_cells(datasets, seeds, preset, quick=quick)
    return cells


def _cells(
    experiment: str,
    datasets: Sequence[str],
    sizes: Sequence[int],
    kinds: Sequence[tuple[str, str]],
    seeds: int,
    preset: str,
    quick: bool,
) -> list[Cell]:
    most = QUICK_ROUNDS if quick else ROUNDS if experiment in {"regimes", "theory"} else max(sizes)
    return [
        Cell(
            experiment=experiment,
            dataset=dataset,
            logging=logging,
            distribution=distribution,
            size=size,
            seed=seed,
            rounds=min(size // 2, most),
            preset=preset,
        )
        for dataset in datasets
        for logging, distribution in kinds
        for size in sizes
        for seed in range(seeds)
    ]
