"""Does the verdict of `evaluate` name a good algorithm? Worlds with a known truth, one run each.

For every run, each algorithm is tuned and fitted on the whole log, as `--out` does, and its true
suboptimality gap is measured over fresh requests. The verdict is right if its winner's gap is within 5 % of
the least one, or if it says that it cannot tell. In worlds where every user has at least 20 rows and the
best gap is at most half of the second best, it must tell.
"""

import os
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
from benchmarks.harness import Claim, Result

from coterie.evaluation import Plan, evaluate_rows, fitted_candidate, gaps_of
from coterie.evaluation.rows import rows_of
from coterie.logs import Logs
from coterie.worlds import Drawn, Synthetic, random_vectors

RUNS, REQUESTS, CANDIDATES_SHOWN = 100, 20_000, 20
_WITHIN, _TWICE, _ENOUGH, _MOST = 1.05, 2.0, 20, 5
ALGORITHMS = ("independent", "pooled", "off-club", "off-c2lub")
_APART = ("independent", "pooled", "off-club")  # off-c2lub is seldom twice as good or bad as off-club


@dataclass(frozen=True)
class Seen:
    """One run: the true gap of every algorithm, the verdict's winner and candidates, the least count."""

    gaps: dict[str, float]
    winner: str | None
    candidates: tuple[str, ...]
    least_count: int

    @property
    def right(self) -> bool:
        """Whether the winner is within 5 % of the best, or none is named."""
        return self.winner is None or self.gaps[self.winner] <= _WITHIN * min(self.gaps.values())

    @property
    def alike(self) -> int:
        """How many algorithms are within 5 % of the best."""
        return sum(gap <= _WITHIN * min(self.gaps.values()) for gap in self.gaps.values())

    @property
    def clear(self) -> bool:
        """Whether the best is at least twice as good as the second, and every user has enough rows."""
        first, second = sorted(self.gaps.values())[:2]
        return second >= _TWICE * first and self.least_count >= _ENOUGH


def settings_of(seed: int) -> tuple[Synthetic, int]:
    """A world at random: 50 to 300 users, 1 to 10 clusters or none, 20 to 60 rows a user."""
    rng = np.random.default_rng(seed)
    n_users = int(rng.integers(50, 300))
    clusters = int(rng.choice([1, 2, 4, 10, n_users]))
    world = Synthetic(
        n_users=n_users,
        n_clusters=clusters,
        dim=int(rng.integers(3, 9)),
        noise=float(rng.choice([0.1, 0.3, 0.6])),
        scatter=float(rng.choice([0.0, 0.0, 0.2])) if clusters < n_users else 0.0,
    )
    return world, int(rng.integers(20, 60))


def drawn(settings: Synthetic, per_user: int, rng: np.random.Generator) -> Drawn:
    """A log in which every user has the same number of rows."""
    world = settings.world(rng)
    user = rng.permutation(np.repeat(np.arange(settings.n_users), per_user))
    action, reward = world.logging.log(world, user, rng)
    return Drawn(user, action, reward, world.truth)


def one(seed: int, algorithms: tuple[str, ...] = ALGORITHMS, requests: int = REQUESTS) -> Seen:
    """Verdict and truth of one world."""
    settings, per_user = settings_of(seed)
    rng = np.random.default_rng([seed, 1])
    data = drawn(settings, per_user, rng)
    rows = rows_of(Logs.from_arrays(data.user, data.action, data.reward))
    plan = Plan(algorithms=algorithms, fractions=(1.0,), seed=seed)
    run = evaluate_rows(rows, plan)
    user = rng.integers(0, settings.n_users, requests)
    offered = random_vectors(settings.shape, (requests, CANDIDATES_SHOWN), rng)
    gaps = {name: _gap(fitted_candidate(rows, name, plan), user, offered, data) for name in algorithms}
    verdict = run.verdict
    return Seen(gaps, verdict.winner, verdict.candidates, per_user)


def _gap(model: Any, user: Any, offered: Any, data: Drawn) -> float:
    lost = gaps_of(model.decide_many(user, offered).index, offered, data.truth.theta[user])
    return float(lost.mean())


def many(
    seeds: Sequence[int], algorithms: tuple[str, ...] = ALGORITHMS, requests: int = REQUESTS
) -> list[Seen]:
    """Verdict and truth of many worlds, side by side in processes of one thread each, in order."""
    jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    way = partial(one, algorithms=algorithms, requests=requests)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_quiet_thread) as pool:
        return list(pool.map(way, seeds))


def _quiet_thread() -> None:
    warnings.simplefilter("ignore")
    os.environ["OMP_NUM_THREADS"] = "1"


def clear_worlds(runs: int, requests: int) -> tuple[list[Seen], int]:
    """The first worlds in which the best algorithm is clear, and of how many worlds they are."""
    seen = list[Seen]()
    while sum(one.clear for one in seen) < runs and len(seen) < _MOST * runs:
        first = 10_000 + len(seen)
        seen += many(range(first, first + runs), _APART, requests)
    places = [place for place, one in enumerate(seen) if one.clear][:runs]
    enough = places[-1] + 1 if len(places) == runs else len(seen)
    return [seen[place] for place in places], enough


def run(*, quick: bool = False) -> Result:
    """Shares of right verdicts, and of needless doubts."""
    runs, requests = (6, 2_000) if quick else (RUNS, REQUESTS)
    general = many(range(runs), requests=requests)
    clear, of = clear_worlds(runs, requests)
    right = sum(seen.right for seen in general) / len(general)
    doubts = sum(seen.winner is None for seen in clear) / max(len(clear), 1)
    claims = [
        Claim("share of verdicts within 5 % of the best, or in doubt", right, 0.95, at_least=True),
        Claim("share of doubts where the best is twice as good", doubts, 0.10),
    ]
    notes = (
        *_told(general),
        f"Worlds where the best is twice as good: {len(clear)} of {of}; in doubt "
        f"{sum(seen.winner is None for seen in clear)}, wrong {sum(not seen.right for seen in clear)}.",
    )
    return Result("picks", [], claims, {"runs": runs, "requests": requests}, notes)


def _told(general: Sequence[Seen]) -> Iterator[str]:
    """What the verdicts were, and what would have been right."""
    named = [seen for seen in general if seen.winner is not None]
    wrong = [seen for seen in named if not seen.right]
    alike = sum(seen.alike > 1 for seen in general)
    yield (
        f"Of {len(general)} worlds the verdict named an algorithm in {len(named)}, wrongly in {len(wrong)}, "
        f"and could not tell in {len(general) - len(named)}. In {alike} worlds two or more algorithms are "
        "within 5 % of the best."
    )
    for seen in wrong:
        yield f"- wrong: {seen.winner}; gaps " + ", ".join(f"{n} {g:.5f}" for n, g in seen.gaps.items())
    doubted = [seen for seen in general if seen.winner is None]
    in_doubt = sum(min(seen.gaps, key=seen.gaps.__getitem__) in seen.candidates for seen in doubted)
    least = [min(seen.gaps[name] for name in seen.candidates) for seen in doubted]
    most = [max(seen.gaps[name] for name in seen.candidates) for seen in doubted]
    if doubted:
        ratio = float(np.median([high / max(low, 1e-12) for low, high in zip(least, most, strict=True)]))
        yield (
            f"Of the {len(doubted)} open verdicts {in_doubt} have the best algorithm among their candidates, "
            f"whose largest gap is {ratio:.3g} times the smallest one (median)."
        )
