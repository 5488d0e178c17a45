"""One cell of an experiment: a world, a log, methods, and the gap of each on the same requests.

Takes: a `Cell` and names of methods.
Gives: a `Row` per method. The log and the requests depend on the cell alone, so that a method that is
asked for later meets the same ones.
Paper: "the first half of |D| is used for offline training and the second half for evaluation".
Next: `store`.
"""

import time
import warnings
from collections.abc import Mapping, Sequence
from functools import partial

import msgspec
import numpy as np

from coterie.errors import CoterieWarning
from coterie.experiments.asked import mean_gaps
from coterie.experiments.bounds import bounds_of
from coterie.experiments.datasets import world_of
from coterie.experiments.methods import METHODS, Method, Training
from coterie.experiments.settings import Cell
from coterie.model import Model


class Row(msgspec.Struct, frozen=True):
    """The gap of one method in one cell, and the standard error of its mean over the requests."""

    experiment: str
    dataset: str
    method: str
    size: int
    distribution: str
    logging: str
    seed: int
    gap: float
    standard_error: float
    seconds: float
    neighbours: float


def run(
    cell: Cell, folder: str | None, names: Sequence[str], methods: Mapping[str, Method] = METHODS
) -> list[Row]:
    """Rows of these methods; the same whatever else is running, and whichever others are asked for.

    The experiment on theory has rows for the bounds too, with the share of users of whom they are proven
    in the place of the neighbours.
    """
    world = world_of(cell, folder)
    log = np.random.default_rng([*cell.entropy, 0])
    asked = np.random.Generator(np.random.SFC64([*cell.entropy, 1]))  # a fifth faster, where most is drawn
    probabilities = world.service.probabilities(world.truth, log)
    training = Training(world.draw(cell.size // 2, log, probabilities), cell.preset)
    models: dict[str, Model] = {}
    seconds: dict[str, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoterieWarning)  # the report says which settings these are
        for name in names:
            if methods[name].clusters and world.truth.labels is None:
                continue
            clock = time.perf_counter()
            models[name] = methods[name].fit(training)
            seconds[name] = time.perf_counter() - clock
    gaps = mean_gaps(models, world, cell.rounds, asked, probabilities)
    row = partial(
        Row,
        experiment=cell.experiment,
        dataset=cell.dataset,
        size=cell.size,
        distribution=cell.distribution,
        logging=cell.logging,
        seed=cell.seed,
    )
    rows = [
        row(
            method=name,
            gap=gaps[name].mean,
            standard_error=gaps[name].standard_error,
            seconds=seconds[name],
            neighbours=float(model.pooled_users.mean()),
        )
        for name, model in models.items()
    ]
    if cell.experiment == "theory" and names:
        bounds = bounds_of(models, training, world.noise)
        rows += [
            row(method=name, gap=value, standard_error=0.0, seconds=0.0, neighbours=proven)
            for name, (value, proven) in bounds.items()
        ]
    return rows
