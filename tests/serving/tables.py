"""Requests and models for the tests of serving: the same requests in every form that a table may have."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

import coterie as ct
from coterie.logs import Items, read_items
from coterie.model import Model
from coterie.packed import FloatArray
from coterie.serving import RequestColumns, RequestReader

DIM = 3
ITEMS = np.random.default_rng(5).uniform(-0.5, 0.5, (7, DIM))
ITEM_IDS = [f"i{j}" for j in range(len(ITEMS))]
FEATURES = tuple(f"f{j}" for j in range(DIM))


@dataclass(frozen=True)
class Request:
    """One request: its id, its user, and the rows of ITEMS that may be chosen."""

    name: int | str
    user: int | str
    choice: tuple[int, ...]

    @property
    def actions(self) -> FloatArray:
        """Action set (K, d)."""
        return ITEMS[list(self.choice)]


def requests(text: bool = True, n: int = 12) -> list[Request]:
    """Requests with sets of 1 to 7 actions, some of users never seen."""
    rng = np.random.default_rng(1)
    drawn = []
    for r in range(n):
        user = int(rng.integers(0, 8))
        choice = tuple(rng.permutation(len(ITEMS))[: rng.integers(1, len(ITEMS) + 1)].tolist())
        drawn.append(Request(f"r{r}" if text else 100 - r, f"u{user}" if text else user, choice))
    return drawn


@cache
def model(text: bool = True, intercept: bool = False) -> Model:
    """Off-CLUB on 200 rows of users 0 to 4 (or u0 to u4), so that 5 to 7 are never seen."""
    rng = np.random.default_rng(0)
    user = rng.integers(0, 5, 200)
    action = rng.uniform(-0.5, 0.5, (200, DIM))
    theta = np.where(user[:, None] < 2, [1.0, 0.0, 0.0], [0.0, -1.0, 0.5])
    reward = np.einsum("ij,ij->i", action, theta) + 0.1 * rng.standard_normal(200)
    ids = [f"u{u}" for u in user] if text else user
    logs = ct.Logs.from_arrays(ids, action, reward, intercept=intercept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.CoterieWarning)  # the constant makes actions longer than 1
        return ct.OffCLUB(confidence=ct.Confidence(noise=0.1, ridge=1.5)).fit(logs)


def item_table() -> pa.Table:
    """One row per item."""
    return pa.table({"item": ITEM_IDS, **{name: ITEMS[:, j] for j, name in enumerate(FEATURES)}})


def items() -> Items:
    """The item table, read."""
    return read_items(item_table(), "item")


def table(asked: Sequence[Request], form: str) -> tuple[pa.Table, RequestColumns]:
    """Table of the requests, and what its columns are.

    `form` is "columns", "lists", "items" (long) or "wide lists", "wide items".
    """
    if form.startswith("wide"):
        rows = {"request": [r.name for r in asked], "user": [r.user for r in asked]}
        if form == "wide items":
            named = {"item": [[ITEM_IDS[i] for i in r.choice] for r in asked]}
            return pa.table(rows | named), RequestColumns(action=(), item="item")
        return pa.table(rows | {"actions": [r.actions.tolist() for r in asked]}), RequestColumns()
    flat = [(r, i) for r in asked for i in r.choice]
    rows = {"request": [r.name for r, _ in flat], "user": [r.user for r, _ in flat]}
    if form == "items":
        return pa.table(rows | {"item": [ITEM_IDS[i] for _, i in flat]}), RequestColumns(
            action=(), item="item"
        )
    vectors = ITEMS[[i for _, i in flat]]
    if form == "lists":
        return pa.table(rows | {"actions": vectors.tolist()}), RequestColumns()
    by_name = {name: vectors[:, j] for j, name in enumerate(FEATURES)}
    return pa.table(rows | by_name), RequestColumns(action=FEATURES)


def reader(asked: Sequence[Request], form: str) -> RequestReader:
    """Reader of the requests in one form."""
    rows, columns = table(asked, form)
    return RequestReader.open(rows, columns, items() if columns.item else None, DIM)


def write(rows: pa.Table, path: Path) -> Path:
    """The table in a file of the format that the name asks for."""
    if path.suffix == ".parquet":
        pq.write_table(rows, path)
    elif path.suffix == ".csv":
        pc.write_csv(rows, path)
    else:
        with pa.ipc.new_file(str(path), rows.schema) as writer:
            writer.write_table(rows)
    return path


def read(path: Path) -> pa.Table:
    """The table in a file."""
    if path.suffix == ".parquet":
        return pq.read_table(path)
    if path.suffix == ".csv":
        return pc.read_csv(path)
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()
