"""The three data sets of the paper as worlds.

Takes: the name of a data set, a preset and the folder of ratings files.
Gives: a `World`; a data set without its file is absent, and said so by name.
Paper: "Dataset" in the basic setup; `paper_tables` has the lifted geometry that the tables need.
Next: `cell`.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from coterie.errors import FileError
from coterie.experiments.settings import CANDIDATES, DIM, N_CLUSTERS, N_USERS, NOISE, Cell
from coterie.worlds import (
    Equal,
    Lifted,
    LinUCBChoice,
    RandomChoice,
    SemiRandom,
    Service,
    Sphere,
    Synthetic,
    Truth,
    World,
    stand_in,
)
from coterie.worlds.ratings import Values, densest, read_ratings, truth_of

FILES = {
    "movielens": ("movielens_1m.parquet", "ratings.dat", "ratings.csv", "u.data"),
    "yelp": ("yelp_top1000_counts.parquet", "review.json", "yelp.parquet"),
}
_SERVICES: dict[str, Service] = {
    "equal": Equal(),
    "semi-random": SemiRandom(),
    "semi-random-k-means": SemiRandom(by="k-means"),
}
_VALUES: dict[str, dict[str, Values]] = {
    "paper_tables": {"movielens": "any", "yelp": "count"},
    "paper_text": {"movielens": "rating", "yelp": "rating"},
}


def file_of(dataset: str, folder: str | None) -> Path | None:
    """The ratings file of a data set in a folder, None where there is none."""
    names = FILES.get(dataset, ())
    found = [Path(folder) / name for name in names if folder is not None and (Path(folder) / name).is_file()]
    return found[0] if found else None


def world_of(cell: Cell, folder: str | None) -> World:
    """World of a cell: who is served and how actions are logged included."""
    service = _SERVICES[cell.distribution]
    logging = RandomChoice() if cell.logging == "random" else LinUCBChoice()
    if cell.dataset == "synthetic":
        geometry: Literal["lifted", "sphere"] = "lifted" if cell.preset == "paper_tables" else "sphere"
        settings = Synthetic(n_users=N_USERS, n_clusters=N_CLUSTERS, dim=DIM, noise=NOISE, geometry=geometry)
        world = settings.world(np.random.default_rng([cell.seed, 0]))
        return replace(world, candidates=CANDIDATES, service=service, logging=logging)
    shape = Lifted(DIM) if cell.preset == "paper_tables" else Sphere(DIM)
    where = cell.dataset, cell.preset, folder
    return World(
        truth=stand_in(shape, [cell.seed, 0]) if cell.dataset == "stand-in" else _truth(*where),
        geometry=shape,
        noise=NOISE,
        candidates=CANDIDATES,
        service=service,
        logging=logging,
    )


@cache
def _truth(dataset: str, preset: str, folder: str | None) -> Truth:
    file = file_of(dataset, folder)
    if file is None:
        raise FileError(
            f"there is no file of {dataset} in {folder!r}; put {' or '.join(FILES[dataset])} there"
        )
    ratings = densest(read_ratings(file), n_users=N_USERS, n_items=1000)
    return truth_of(
        ratings, Lifted(DIM) if preset == "paper_tables" else Sphere(DIM), _VALUES[preset][dataset]
    )
