"""The mixture beside the paper's methods on the paper's worlds: `python -m coterie.experiments.mixture`.

Takes: data sets, sizes, seeds.
Gives: rows, a table per data set, and what was claimed beside what was seen.
Paper: its setting with scarce data, `paper_tables` geometry.
Next: `mixture_claims`.
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import click
import msgspec
import numpy as np

from coterie.algorithms import Mixture, OffC2LUB, OffCLUB
from coterie.confidence import Confidence
from coterie.decision import Bonus
from coterie.experiments import mixture_claims
from coterie.experiments.cell import Row, run
from coterie.experiments.datasets import file_of
from coterie.experiments.methods import GREEDY, METHODS, Method, Training
from coterie.experiments.settings import DATASETS, GAPS, Cell
from coterie.mixture import points
from coterie.mixture.expect import Sums
from coterie.mixture.population import Population
from coterie.model import Model
from coterie.model.mixture_model import MixtureModel, served
from coterie.packed import FloatArray, pack

SIZES = (5_000, 10_000, 20_000, 30_000, 60_000, 100_000)


@lru_cache(maxsize=1)
def _learned(training: Training) -> MixtureModel:
    return Mixture(bonus=GREEDY).fit(training.stats)


def _mixture(training: Training, bonus: Bonus) -> Model:
    return _learned(training).with_bonus(bonus)


def _gaussian(training: Training) -> Model:
    return Mixture(kind="gaussian", bonus=GREEDY).fit(training.stats)


def _knows_vectors(training: Training) -> Model:
    """The true preference vectors as points, equally likely: who has which is all there is to learn."""
    return _with_population(training, points.at(points.Start(_vectors(training), 1.0), 0.05**2))


def _from_vectors(training: Training) -> Model:
    """Points learned from the rows, the search for them beginning at the true vectors."""
    model = _learned(training)
    users = Sums.of(training.stats, model.scale, np.flatnonzero(training.stats.count > 0))
    dim = users.dim
    beliefs = points.Beliefs.of(np.zeros(dim), pack(np.eye(dim)))
    start = points.at(points.Start(_vectors(training), 1.0), 0.05**2)
    return _with_population(training, points.learn(users, beliefs, start)[0])


def _vectors(training: Training) -> FloatArray:
    truth = training.drawn.truth
    labels: Any = truth.labels
    return np.asarray(truth.theta[np.unique(labels, return_index=True)[1]])


def _with_population(training: Training, population: Population) -> Model:
    model = _learned(training)
    policy, evidence = served(training.stats, population, model.confidence, model.scale)
    return MixtureModel(
        **{
            name: getattr(model, name) for name in ("algorithm", "parameters", "index", "confidence", "bonus")
        },
        **{name: getattr(model, name) for name in ("scale", "features", "intercept", "report")},
        policy=policy,
        evidence=evidence,
        population=population,
    )


def _with_noise(training: Training, name: str, **more: Any) -> Model:
    """A method of the paper with its radii in the units of the noise that the log shows, unscaled."""
    given = training.settings(name)
    old: Confidence = given["confidence"]
    confidence = Confidence(
        ridge=old.ridge,
        failure_prob=old.failure_prob,
        noise=_noise_of(training),
        regularity=old.regularity,
    )
    algorithm = OffCLUB if name == "OffCLUB" else OffC2LUB
    return algorithm(**{**given, "confidence": confidence, **more}).fit(training.stats)


def _validated(training: Training) -> Model:
    """Off-C2LUB with the gap that explains rows held out best."""
    return OffC2LUB(**training.settings("OffC2LUB"), gap="validate").fit(training.logs)


def _noise_of(training: Training) -> float:
    """Estimated noise, the mixture's where users have too few rows of their own to tell."""
    return _learned(training).noise


_PAPER = ("Off-CLUB", *(f"Off-C2LUB@{gap:g}" for gap in GAPS))
_POLICIES = ("Off-C2LUB_Underestimation", "Off-C2LUB_Overestimation")
_OTHERS = (
    "Ridge_IND", "Ridge_IND_tuned", "LCB_IND", "LinUCB_IND", "CLUB", "CLUB_tuned", "SCLUB", "SCLUB_tuned",
    "DBSCAN_Improve", "XMeans_Improve", "ARMUL", "ARMUL_converged", "Pooled", "Oracle",
)  # fmt: skip
ROWS: dict[str, Method] = {
    "Mixture": Method(partial(_mixture, bonus=GREEDY)),
    "Mixture_LCB": Method(partial(_mixture, bonus=Bonus())),
    "Gaussian_EB": Method(_gaussian),
    "Knows_vectors": Method(_knows_vectors, clusters=True),
    "From_vectors": Method(_from_vectors, clusters=True),
    **{name: METHODS[name] for name in (*_PAPER, *_POLICIES, *_OTHERS)},
    "Off-CLUB_noise": Method(partial(_with_noise, name="OffCLUB", graph_scale=1.0)),
    "Off-CLUB_ellipsoid": Method(partial(_with_noise, name="OffCLUB", graph_scale=1.0, test="ellipsoid")),
    "Off-C2LUB_noise": Method(partial(_with_noise, name="OffC2LUB", graph_scale=1.0, gap="over")),
    "Off-C2LUB_validate": Method(_validated),
}


def cells(datasets: tuple[str, ...], sizes: tuple[int, ...], seeds: int, distribution: str) -> Iterator[Cell]:
    """Cells, all data sets and sizes of a seed before the next seed."""
    for seed in range(seeds):
        for dataset in datasets:
            for size in sizes:
                yield Cell("mixture", dataset, "random", distribution, size, seed, size // 2, "paper_tables")


def _rows(cell: Cell, data: str | None, names: tuple[str, ...]) -> list[Row]:
    return run(cell, data, names, ROWS)


@click.command()
@click.option("--data", envvar="COTERIE_DATA", help="Folder of ratings files.")
@click.option("--out", required=True, help="Folder for the rows; cells already there are kept.")
@click.option("--dataset", multiple=True, type=click.Choice(DATASETS), help="Only this data set.")
@click.option("--size", multiple=True, type=int, help="Only this size.")
@click.option("--method", multiple=True, help="Only this row.")
@click.option("--seeds", default=10, show_default=True)
@click.option("--semi-random", is_flag=True, help="Users served cluster by cluster unlike.")
@click.option("--jobs", default=2, show_default=True)
def main(
    data: str | None,
    out: str,
    *,
    dataset: tuple[str, ...],
    size: tuple[int, ...],
    method: tuple[str, ...],
    seeds: int,
    semi_random: bool,
    jobs: int,
) -> None:
    """Measure the mixture beside the paper's methods, and hold it to its claims."""
    names = method or tuple(ROWS)
    datasets = dataset or tuple(name for name in DATASETS if name == "synthetic" or file_of(name, data))
    distribution = "semi-random" if semi_random else "equal"
    wanted = list(cells(datasets, size or SIZES, seeds, distribution))
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    with ProcessPoolExecutor(jobs) as pool:
        futures = []
        for cell in wanted:
            file = folder / f"{cell.name}.json"
            if file.exists():
                rows += msgspec.json.decode(file.read_bytes(), type=list[Row])
            else:
                futures.append((file, pool.submit(_rows, cell, data, names)))
        for done, (file, future) in enumerate(futures, start=1):
            made = future.result()
            file.write_bytes(msgspec.json.encode(made))
            rows += made
            click.echo(f"{done} of {len(futures)} cells", err=True)
    click.echo(mixture_claims.report(rows))


if __name__ == "__main__":
    main()
