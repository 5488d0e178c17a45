"""Decisions: many at once, and one at a time.

The peers compute the same choice from the same model: theta' a - beta ||a|| in the metric of the pooled
precision, by a NumPy loop over requests, and by NumPy over blocks of requests.
"""

import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
from benchmarks.harness import Claim, Measurement, Result, interleaved, measured
from numpy.typing import NDArray

import coterie as ct
from coterie.model import Model
from coterie.packed import unpack
from coterie.worlds import Synthetic

USERS, DIM, ACTIONS, REQUESTS, LOOPED = 1000, 20, 20, 100_000, 5_000
_BLOCK = 2048  # requests whose factors and actions stay within a few tens of MB
_MANY, _MEDIAN = "decide_many", "one decide, median"
_CLAIMED_RATE, _CLAIMED_LATENCY = 200_000, 100

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def run(*, quick: bool = False) -> Result:
    """Decisions a second of each way, and the latency of single decisions."""
    n, looped = (4_000, 500) if quick else (REQUESTS, LOOPED)
    model = fitted()
    rng = np.random.default_rng(3)
    users, actions = rng.integers(0, USERS, n), rng.standard_normal((n, ACTIONS, DIM)) / np.sqrt(DIM)
    ways: dict[str, Callable[[], Ints]] = {
        _MANY: lambda: model.decide_many(users, actions).index,
        "decide_many, one thread": lambda: model.decide_many(users, actions, threads=1).index,
        "NumPy, blocks of requests": lambda: in_blocks(model, users, actions),
        "NumPy, a request at a time": lambda: in_a_loop(model, users[:looped], actions[:looped]),
    }
    chosen = {name: way() for name, way in ways.items()}
    assert all(np.array_equal(index, chosen[_MANY][: len(index)]) for index in chosen.values())
    times = interleaved(ways, rounds=3 if quick else 7)
    work = {name: len(index) for name, index in chosen.items()}
    latency = single(model, actions[: min(n, 1000)], calls=2_000 if quick else 20_000)
    rate = n / statistics.median(times[_MANY])
    claims = [
        Claim("decisions a second, decide_many", rate, _CLAIMED_RATE, at_least=True),
        Claim("microseconds of a single decide, median", latency[0].seconds * 1e6, _CLAIMED_LATENCY),
    ]
    sizes = {"users": USERS, "d": DIM, "actions": ACTIONS, "requests": n, "requests of the loop": looped}
    many = measured("many decisions", times, _MANY, work=work)
    return Result("decide", [*many, *latency], claims, sizes)


def fitted() -> Model:
    """Every user with a row of her own in the policy, which is the hardest case for the caches."""
    logs = Synthetic(n_users=USERS, n_clusters=10, dim=DIM).draw(USERS * 100, rng=1).logs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.CoterieWarning)
        return ct.Independent(confidence=ct.Confidence(noise="estimate")).fit(logs)


def in_a_loop(model: Model, users: Ints, actions: Floats) -> Ints:
    """Index of each request's choice, a triangular system a request."""
    group, factor = model.policy.group[users], np.tril(unpack(model.policy.factor))
    index = np.empty(len(users), dtype=np.int64)
    for b, (g, own) in enumerate(zip(group, actions, strict=True)):
        norm = np.linalg.norm(np.linalg.solve(factor[g], own.T), axis=0)
        index[b] = np.argmax(own @ model.policy.theta[g] - model.policy.multiplier[g] * norm)
    return index


def in_blocks(model: Model, users: Ints, actions: Floats) -> Ints:
    """Index of each request's choice, by stacked solves and einsum."""
    group, factor = model.policy.group[users], np.tril(unpack(model.policy.factor))
    index = np.empty(len(users), dtype=np.int64)
    for start in range(0, len(users), _BLOCK):
        part = slice(start, start + _BLOCK)
        g, own = group[part], actions[part]
        z = np.linalg.solve(factor[g], own.transpose(0, 2, 1))
        norm = np.sqrt(np.einsum("bjk,bjk->bk", z, z))
        value = np.einsum("bkj,bj->bk", own, model.policy.theta[g])
        index[part] = np.argmax(value - model.policy.multiplier[g, np.newaxis] * norm, axis=1)
    return index


def single(model: Model, sets: Floats, calls: int) -> list[Measurement]:
    """Latencies of one `decide` after another, warm."""
    seconds = np.empty(calls)
    users = [int(user) for user in np.random.default_rng(4).integers(0, USERS, calls)]
    for at in range(-200, calls):
        actions = sets[at % len(sets)]
        start = time.perf_counter_ns()
        model.decide(users[at], actions)
        seconds[at] = (time.perf_counter_ns() - start) / 1e9
    marks = {_MEDIAN: 50, "one decide, 99th percentile": 99}
    return [
        Measurement("one decision", name, float(np.percentile(seconds, mark)), float(seconds.min()), calls)
        for name, mark in marks.items()
    ]
