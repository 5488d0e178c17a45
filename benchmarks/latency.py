"""One decision from a model of a million users that was just opened; requests from file to file.

The model has a policy of her own for every user (1.9 GB on disk). A fresh process opens it and decides; its
pages are in the file cache, as they are on a machine that serves. The requests have 20 actions of 20
coordinates each: a row per action with a column per coordinate, a row per action with an item id, or a
row per request with a list of item ids.
"""

import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import Claim, Measurement, Result, interleaved, isolated, measured

import coterie as ct
from coterie.decision import Policy
from coterie.logs import read_items
from coterie.model import Model
from coterie.serving import RequestColumns, RequestReader, decide_file
from coterie.user_ids import UserIndex

USERS, DIM, ACTIONS, REQUESTS, ITEMS, CALLS = 1_000_000, 20, 20, 200_000, 5_000, 5_000
FEATURES = [f"f{j}" for j in range(DIM)]
_STEP = 7  # between the ids of two users
_CLAIMED_RATE = 300_000


def run(*, quick: bool = False) -> Result:
    """Seconds to open and to decide, and requests a second."""
    users, requests = (20_000, 4_000) if quick else (USERS, REQUESTS)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        model = model_of(users)
        model.save(folder / "model.coterie")
        path = str(folder / "model.coterie")
        runs = [isolated(cold, path=path, users=users) for _ in range(3 if quick else 5)]
        case = f"a model of {users:,} users in a fresh process"
        found = [_median(case, name, runs) for name in ("open", "first decision", "p50", "p99")]
        many, rates = _files(model, folder, users, requests)
    opened = next(one.seconds for one in found if one.name.startswith("open"))
    peak = statistics.median(one["peak_mb"] for one in runs)
    claims = [
        Claim(f"seconds to open a model of {users:,} users", opened, 0.5),
        Claim("decisions a second, decide_many", rates["decide_many"], _CLAIMED_RATE, at_least=True),
    ]
    sizes = {"users": users, "d": DIM, "actions": ACTIONS, "requests": requests, "items": ITEMS}
    note = f"Peak memory of the process that opened the model and decided {CALLS:,} times: {peak:.0f} MB."
    return Result("latency", [*found, *many], claims, sizes, (note,))


def model_of(users: int) -> Model:
    """A fitted model whose users and policies are replaced by as many as wanted."""
    from coterie.worlds import Synthetic

    logs = Synthetic(n_users=100, n_clusters=10, dim=DIM).draw(20_000, rng=1).logs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.CoterieWarning)
        small = ct.Independent(confidence=ct.Confidence(noise="estimate")).fit(logs)
    own = small.policy
    rows = np.append(np.arange(users) % 100, 100)
    policy = Policy(
        group=np.arange(users + 1),
        theta=own.theta[rows],
        factor=own.factor[rows],
        multiplier=own.multiplier[rows],
        count=own.count[rows],
        n_pooled=own.n_pooled[rows],
    )
    index = UserIndex(np.arange(users) * _STEP)
    return replace(small, index=index, policy=policy, features=tuple(FEATURES), evidence=None)


def cold(path: str, users: int) -> dict[str, float]:
    """Seconds of opening, of the first decision, and of many others, each for another user."""
    rng = np.random.default_rng(4)
    asked = [int(user) * _STEP for user in rng.integers(0, users, CALLS)]
    sets = rng.standard_normal((100, ACTIONS, DIM)) / np.sqrt(DIM)
    start = time.perf_counter()
    model = ct.load(path)
    opened = time.perf_counter()
    model.decide(asked[0], sets[0])
    first = time.perf_counter()
    seconds = np.empty(CALLS)
    for at, user in enumerate(asked):
        begun = time.perf_counter_ns()
        model.decide(user, sets[at % len(sets)])
        seconds[at] = (time.perf_counter_ns() - begun) / 1e9
    return {
        "numbers": 1,
        "open": opened - start,
        "first decision": first - opened,
        "p50": float(np.percentile(seconds, 50)),
        "p99": float(np.percentile(seconds, 99)),
    }


def _median(case: str, name: str, runs: list[dict[str, float]]) -> Measurement:
    seconds = [one[name] for one in runs]
    text = {"p50": "a decision for another user, median", "p99": "the same, 99th percentile"}
    shown = text.get(name, f"{name}, its imports included")
    return Measurement(case, shown, statistics.median(seconds), min(seconds), len(runs))


def _files(
    model: Model, folder: Path, users: int, requests: int
) -> tuple[list[Measurement], dict[str, float]]:
    """From a Parquet file of requests to one of decisions, and the same in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(3)
    who = rng.integers(0, users, requests) * _STEP
    item = rng.integers(0, ITEMS, (requests, ACTIONS))
    vectors = rng.standard_normal((ITEMS, DIM)) / np.sqrt(DIM)
    table = pa.table({"item": np.arange(ITEMS), **dict(zip(FEATURES, vectors.T, strict=True))})
    action = vectors[item]
    long = {"request": np.repeat(np.arange(requests), ACTIONS), "user": np.repeat(who, ACTIONS)}
    flat = action.reshape(-1, DIM)
    wide = {"request": np.arange(requests), "user": who, "item": list(item)}
    tables: dict[str, tuple[Any, RequestColumns]] = {
        "file to file, columns": (
            pa.table({**long, **dict(zip(FEATURES, flat.T, strict=True))}),
            RequestColumns(action=tuple(FEATURES)),
        ),
        "file to file, items": (
            pa.table({**long, "item": item.ravel()}), RequestColumns(action=(), item="item"),
        ),
        "file to file, lists of items": (pa.table(wide), RequestColumns(action=(), item="item")),
    }  # fmt: skip
    ways: dict[str, Callable[[], object]] = {
        "decide_many": lambda: model.decide_many(who, action),
    }
    for at, (name, (rows, columns)) in enumerate(tables.items()):
        path = str(folder / f"{at}.parquet")
        pq.write_table(rows, path, row_group_size=1 << 17)
        items = read_items(table, "item") if columns.item else None
        reader = RequestReader.open(path, columns, items, DIM)
        ways[name] = _deciding(model, reader, folder / f"{at}.out.parquet")
    times = interleaved(ways, rounds=3 if requests < REQUESTS else 5)
    rates = {name: requests / statistics.median(seconds) for name, seconds in times.items()}
    return measured("many decisions, Parquet to Parquet", times, "decide_many", work=requests), rates


def _deciding(model: Model, reader: RequestReader, out: Path) -> Callable[[], object]:
    return lambda: decide_file(model, reader, out, depends="the same files")
