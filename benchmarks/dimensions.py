"""How the time of each step grows with the dimension: no faster than its square.

Summing and deciding cost a number of operations per row, and per action, that grows with d^2; the
yardstick is the time per row or action at d = 8, times (d / 8)^2. Estimating factorises a matrix of every
user, d^3 for each, and is shown without a claim.
"""

import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
from benchmarks.harness import Claim, Measurement, Result

import coterie as ct
from coterie.confidence import estimate
from coterie.logs import Logs

DIMS = (8, 16, 32, 64, 128, 256, 512)
_NUMBERS, _USERS, _ACTIONS = 1 << 23, 50, 20


def run(*, quick: bool = False) -> Result:
    """Microseconds per row, per user and per action at each dimension."""
    found: list[Measurement] = []
    for dim in DIMS[:2] if quick else DIMS:
        found += _at(dim, _NUMBERS // (16 if quick else 1) // dim)
    claims = []
    for step in ("summarize, a row", "decide_many, an action"):
        per = {one.case: one.seconds for one in found if one.name == step}
        first = per[_case(DIMS[0])]
        worst = max(per[_case(dim)] / (first * (dim / DIMS[0]) ** 2) for dim in DIMS if _case(dim) in per)
        claims.append(Claim(f"{step}: largest time in units of d squared, from d = 8", worst, 1.5))
    return Result("dimensions", found, claims, {"users": _USERS, "actions": _ACTIONS, "dims": str(DIMS)})


def _at(dim: int, rows: int) -> list[Measurement]:
    rng = np.random.default_rng(0)
    action = rng.standard_normal((rows, dim)) / np.sqrt(dim) / 2
    logs = Logs.from_arrays(rng.integers(0, _USERS, rows), action, rng.standard_normal(rows))
    stats = ct.summarize(logs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.CoterieWarning)
        confidence = ct.Confidence(ridge=1.5)
        model = ct.Independent(confidence=confidence).fit(stats)
        asked = max(rows // _ACTIONS // 4, 50)
        sets = rng.standard_normal((asked, _ACTIONS, dim)) / np.sqrt(dim)
        who = rng.integers(0, _USERS, asked)
        steps: dict[str, tuple[Callable[[], object], int]] = {
            "summarize, a row": (lambda: ct.summarize(logs), rows),
            "estimate, a user": (lambda: estimate(stats, confidence), _USERS),
            "decide_many, an action": (lambda: model.decide_many(who, sets), asked * _ACTIONS),
        }
        return [_timed(dim, name, step, work) for name, (step, work) in steps.items()]


def _timed(dim: int, name: str, step: Callable[[], object], work: int) -> Measurement:
    seconds = []
    for _ in range(4):
        start = time.perf_counter()
        step()
        seconds.append((time.perf_counter() - start) / work)
    return Measurement(_case(dim), name, statistics.median(seconds[1:]), min(seconds), 3, work=1)


def _case(dim: int) -> str:
    return f"d = {dim}"
