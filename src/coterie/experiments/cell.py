"""One cell of an experiment: a world, a log, every method, and the gap of each on the same requests.

Takes: a `Cell`.
Gives: a `Row` per method.
Paper: "the first half of |D| is used for offline training and the second half for evaluation".
Next: `store`.
"""

import time
import warnings
from typing import Any

import msgspec
import numpy as np

from coterie.errors import CoterieWarning
from coterie.evaluation import gaps_of
from coterie.experiments.datasets import world_of
from coterie.experiments.methods import Training, fitted
from coterie.experiments.settings import Cell
from coterie.model import Model
from coterie.worlds import World


class Row(msgspec.Struct, frozen=True):
    """The gap of one method in one cell."""

    experiment: str
    dataset: str
    method: str
    size: int
    distribution: str
    logging: str
    seed: int
    gap: float
    seconds: float
    neighbours: float


def run(cell: Cell, folder: str | None) -> list[Row]:
    """Rows of a cell; the same whatever else is running."""
    world = world_of(cell, folder)
    rng = np.random.default_rng(cell.entropy)
    probabilities = world.service.probabilities(world.truth, rng)
    training = Training.of(world.draw(cell.size // 2, rng, probabilities))
    models, seconds = {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoterieWarning)  # the report says which settings these are
        clock = time.perf_counter()
        for name, model in fitted(training, cell.preset):
            models[name], seconds[name] = model, time.perf_counter() - clock
            clock = time.perf_counter()
    gaps = mean_gaps(models, world, cell.rounds, rng, probabilities)
    return [
        Row(
            experiment=cell.experiment,
            dataset=cell.dataset,
            method=name,
            size=cell.size,
            distribution=cell.distribution,
            logging=cell.logging,
            seed=cell.seed,
            gap=gaps[name],
            seconds=seconds[name],
            neighbours=model.report.mean_pooled_users,
        )
        for name, model in models.items()
    ]


def mean_gaps(
    models: dict[str, Model], world: World, rounds: int, rng: np.random.Generator, probabilities: Any
) -> dict[str, float]:
    """Mean suboptimality gap of each model on the same requests; equal models are asked once."""
    first = _alike(models)
    lost = dict.fromkeys(set(first.values()), 0.0)
    for block in world.requests(rounds, rng, probabilities):
        theta = world.truth.theta[block.user]
        for name in lost:
            index = models[name].decide_many(block.user, block.actions, threads=1).index
            lost[name] += float(gaps_of(index, block.actions, theta).sum())
    return {name: lost[first[name]] / rounds for name in models}


def _alike(models: dict[str, Model]) -> dict[str, str]:
    """For each model the name of the first one that decides exactly as it does."""
    known: dict[tuple[Any, ...], str] = {}
    first = {}
    for name, model in models.items():
        policy = model.policy
        parts = (policy.group, policy.theta, policy.factor, policy.multiplier)
        key = (model.bonus, model.scale, *(part.tobytes() for part in parts))
        first[name] = known.setdefault(key, name)
    return first
