"""Runs the command line inside this process, and makes the files that it is given."""

import csv
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from coterie.cli import main
from coterie.worlds import Synthetic

FEATURES = ("f1", "f2", "f10")
COLUMNS = ("--user", "user", "--action", "f*", "--reward", "reward")


@dataclass(frozen=True)
class Ran:
    """What a command printed, and its exit status."""

    out: str
    err: str
    status: int


def run(*args: object) -> Ran:
    """Run `coterie args`."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    argv = ["coterie", *map(str, args)]
    with redirect_stdout(out), redirect_stderr(err), mock.patch.object(sys, "argv", argv):
        try:
            main()
        except SystemExit as stop:
            status = int(stop.code or 0)
    return Ran(out.getvalue(), err.getvalue(), status)


def done(*args: object) -> Ran:
    """Run a command that must succeed."""
    ran = run(*args)
    assert ran.status == 0, ran.err
    return ran


def parsed(ran: Ran, form: str) -> list[dict[str, Any]]:
    """Rows that a command printed."""
    if form == "json":
        read = json.loads(ran.out)
        return read if isinstance(read, list) else [read]
    return list(csv.DictReader(io.StringIO(ran.out)))


@cache
def events() -> pa.Table:
    """A log: 12 users in 3 clusters, features out of order, items, a list column, weights, text ids."""
    world = Synthetic(n_users=12, n_clusters=3, dim=3, noise=0.1).draw(600, 3)
    rng = np.random.default_rng(4)
    vectors = world.action[:20]
    item = rng.integers(0, 20, 600)
    action = vectors[item]
    reward = np.einsum("ij,ij->i", action, world.truth.theta[world.user]) + 0.1 * rng.standard_normal(600)
    return pa.table(
        {
            "f10": action[:, 2],
            "user": world.user,
            "name": [f"u{u}" for u in world.user],
            "f2": action[:, 1],
            "f1": action[:, 0],
            "vector": action.tolist(),
            "item": [f"i{i}" for i in item],
            "weight": rng.integers(1, 4, 600),
            "reward": reward,
        }
    )


def item_table() -> pa.Table:
    """The items of the log, their coordinates in another order than those of a model fitted on columns."""
    log = events().group_by("item").aggregate([("f10", "min"), ("f1", "min"), ("f2", "min")])
    return log.rename_columns(["item", "f10", "f1", "f2"])


def request_table() -> pa.Table:
    """Long requests: 5 of them with 4 actions each, one by a user never seen."""
    rng = np.random.default_rng(6)
    vectors = {name: events()[name].to_numpy()[:20] for name in FEATURES}
    names = events()["item"].to_pylist()[:20]
    user = np.repeat(np.append(rng.integers(0, 12, 4), 99), 4)
    return pa.table({"request": np.repeat(np.arange(5), 4), "user": user, "item": names, **vectors})


def write(rows: pa.Table, path: Path) -> Path:
    """The table in a Parquet or CSV file (CSV without the lists)."""
    if path.suffix == ".parquet":
        pq.write_table(rows, path)
    else:
        flat = [name for name in rows.column_names if not pa.types.is_list(rows[name].type)]
        pc.write_csv(rows.select(flat), path)
    return path


def fitted(folder: Path, *options: object) -> Path:
    """Model file of a fit in a folder."""
    log, out = write(events(), folder / "events.parquet"), folder / "model.coterie"
    done("fit", log, *COLUMNS, "--noise", "estimate", "--out", out, *options)
    return out
