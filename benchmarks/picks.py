"""Does the verdict of `evaluate` name a good algorithm? Worlds with a known truth, one run each.

For every run, each algorithm is tuned and fitted on the whole log, as `--out` does, and its true
suboptimality gap is measured over fresh requests. The verdict is right if its winner's gap is within 5 % of
the least one, or if it says that it cannot tell. In worlds where every user has at least 20 rows and the
best gap is at most half of the second best, it must tell.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.harness import Claim, Result

from coterie.evaluation import Plan, evaluate_rows, fitted_candidate, gaps_of
from coterie.evaluation.candidates import CANDIDATES
from coterie.evaluation.rows import rows_of
from coterie.logs import Logs
from coterie.worlds import Drawn, Synthetic, random_vectors

RUNS, REQUESTS, CANDIDATES_SHOWN = 100, 20_000, 20
_WITHIN, _TWICE, _ENOUGH = 1.05, 2.0, 20
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


def run(*, quick: bool = False) -> Result:
    """Shares of right verdicts, and of needless doubts."""
    warnings.simplefilter("ignore")
    runs = 6 if quick else RUNS
    names = tuple(name for name in CANDIDATES if name in ALGORITHMS)
    general = [one(seed, names, 2_000 if quick else REQUESTS) for seed in range(runs)]
    clear, seed = list[Seen](), 0
    while len(clear) < runs and seed < 5 * runs:
        more = one(10_000 + seed, _APART, 2_000 if quick else REQUESTS)
        clear += [more] if more.clear else []
        seed += 1
    right = sum(seen.right for seen in general) / len(general)
    doubts = sum(seen.winner is None for seen in clear) / max(len(clear), 1)
    named = [seen for seen in general if seen.winner is not None]
    wrong = [
        f"{s.winner}: " + ", ".join(f"{n} {g:.5f}" for n, g in s.gaps.items()) for s in named if not s.right
    ]
    best = {name: sum(min(s.gaps, key=s.gaps.__getitem__) == name for s in general) for name in names}
    notes = (
        f"Of {len(general)} runs {len(named)} named a winner; truly best: "
        + ", ".join(f"{name} {n}" for name, n in best.items()) + ".",
        "Wrong verdicts: " + ("; ".join(wrong) or "none") + ".",
        f"Clear worlds: {len(clear)} of {seed}; wrong among them: "
        f"{sum(not seen.right for seen in clear)}.",
    )  # fmt: skip
    claims = [
        Claim("share of verdicts within 5 % of the best, or in doubt", right, 0.95, at_least=True),
        Claim("share of doubts where the best is twice as good", doubts, 0.10),
    ]
    return Result("picks", [], claims, {"runs": runs, "requests": REQUESTS}, notes)
