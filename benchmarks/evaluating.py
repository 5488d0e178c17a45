"""How long advice and an evaluation take: `advise` against `summarize`, `evaluate` on many rows.

`evaluate` runs six algorithms, five splits and three fractions on ratings of the size of MovieLens 1M; on
MovieLens itself where the environment variable COTERIE_DATA names the folder that has it.
"""

import os
import statistics
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.harness import Claim, Result, interleaved, measured

import coterie as ct
from coterie.advice import advise
from coterie.evaluation import Plan, evaluate
from coterie.worlds import log_and_items

ROWS, USERS, DIM = 20_000_000, 10_000, 20
_SECONDS, _TIMES = 120.0, 2.0
_RATINGS, _RATERS, _RATED = 1_000_209, 6_040, 3_706


def run(*, quick: bool = False) -> Result:
    """Seconds and ratios."""
    warnings.simplefilter("ignore")
    rows = 200_000 if quick else ROWS
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "log.parquet")
        write_log(path, rows)
        named: dict[str, Any] = {"user": "user", "action": [f"f{j}" for j in range(DIM)], "reward": "reward"}
        ways = {
            "summarize": lambda: ct.summarize(ct.read_logs(path, **named)),
            "advise": lambda: advise(ct.read_logs(path, **named)),
        }
        times = interleaved(ways, rounds=3)
    advice = measured("one log", times, "summarize", work=rows)
    log, items, source = ratings(quick=quick)
    logs = ct.read_logs(log, user="user", item="item", items=items, reward="reward", intercept=True)
    plan = Plan()
    whole = {"evaluate": lambda: evaluate(logs, plan)}
    took = interleaved(whole, rounds=1, warm_up=0)
    seconds = took["evaluate"][0]
    claims = [
        Claim("time of advise over that of summarize", statistics.median(times["advise"]) /
              statistics.median(times["summarize"]), _TIMES),
        Claim(f"seconds of evaluate, {len(plan.algorithms)} algorithms, {source}", seconds, _SECONDS),
    ]  # fmt: skip
    sizes = {"rows": rows, "users": USERS, "d": DIM, "ratings": log.num_rows}
    return Result("evaluating", [*advice, *measured("evaluate", took)], claims, sizes)


def write_log(path: str, n_rows: int) -> None:
    """Random users and actions, a million rows a row group."""
    rng = np.random.default_rng(0)
    theta = rng.standard_normal((USERS, DIM)) / DIM
    names = [f"f{j}" for j in range(DIM)]
    types = [("user", pa.int64()), *((name, pa.float64()) for name in names), ("reward", pa.float64())]
    with pq.ParquetWriter(path, pa.schema(types)) as writer:
        for start in range(0, n_rows, 1 << 20):
            n = min(1 << 20, n_rows - start)
            user, action = rng.integers(0, USERS, n), rng.standard_normal((n, DIM)) / np.sqrt(DIM)
            reward = np.einsum("ij,ij->i", action, theta[user]) + 0.1 * rng.standard_normal(n)
            columns = {"user": user, **dict(zip(names, action.T, strict=True)), "reward": reward}
            writer.write_table(pa.table(columns))


def ratings(*, quick: bool) -> tuple[Any, Any, str]:
    """Half of the ratings as a log, item vectors of the other half, and where they are from."""
    rng = np.random.default_rng(0)
    file = Path(os.environ.get("COTERIE_DATA", "")) / "movielens_1m.parquet"
    if file.is_file() and not quick:
        table = pq.read_table(file)
        user, item, value = (table[name].to_numpy() for name in ("user", "item", "rating"))
        source = "MovieLens 1M"
    else:
        n = 20_000 if quick else _RATINGS
        user, item = rng.integers(0, _RATERS // (20 if quick else 1), n), rng.integers(0, _RATED, n)
        value = rng.integers(1, 6, n).astype(np.float64)
        source = "ratings at random"
    log, items = log_and_items(user, item, value, rng.random(len(user)) < 0.5, dim=DIM)
    return log, items, source
