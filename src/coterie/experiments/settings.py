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
DISTRIBUTIONS = ("equal", "semi-random")
LOGGING = ("random", "linucb")
SEEDS = 10
QUICK_SEEDS = 2
QUICK_ROUNDS = 2_000
GAPS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)  # the grid on which the fixed gap is chosen
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
            DATASETS.index(self.dataset),
            LOGGING.index(self.logging),
            DISTRIBUTIONS.index(self.distribution),
            self.size,
        ]


def table_cells(datasets: Sequence[str], seeds: int, preset: str, *, quick: bool) -> list[Cell]:
    """Sufficient data: equal distribution, random logging."""
    return _cells("sufficient", datasets, SUFFICIENT, (("random", "equal"),), seeds, preset, quick)


def figure_cells(datasets: Sequence[str], seeds: int, preset: str, *, quick: bool) -> list[Cell]:
    """Insufficient data: two distributions, two ways of logging."""
    kinds = tuple((logging, distribution) for logging in LOGGING for distribution in DISTRIBUTIONS)
    return _cells("scarce", datasets, SCARCE, kinds, seeds, preset, quick)


def _cells(
    experiment: str,
    datasets: Sequence[str],
    sizes: Sequence[int],
    kinds: Sequence[tuple[str, str]],
    seeds: int,
    preset: str,
    quick: bool,
) -> list[Cell]:
    return [
        Cell(
            experiment=experiment,
            dataset=dataset,
            logging=logging,
            distribution=distribution,
            size=size,
            seed=seed,
            rounds=min(size // 2, QUICK_ROUNDS) if quick else size // 2,
            preset=preset,
        )
        for dataset in datasets
        for logging, distribution in kinds
        for size in sizes
        for seed in range(seeds)
    ]
