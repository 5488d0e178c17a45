"""The mixture where its assumptions do not hold: `python -m coterie.experiments.mixture_worlds`.

Takes: worlds as data, seeds.
Gives: the gap of the mixture beside the better of everybody pooled and everybody alone; the coverage of
the pessimistic score.
Paper: none.
Next: `docs/why-mixture.md`.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import click
import numpy as np

from coterie.algorithms import Independent, Mixture, Pooled
from coterie.confidence import Confidence
from coterie.decision import Bonus
from coterie.experiments.methods import GREEDY, HeldOut
from coterie.experiments.settings import RIDGES
from coterie.logs import Logs
from coterie.model import Model
from coterie.packed import FloatArray
from coterie.statistics import UserStatistics, summarize

_ALLOWED, _ALLOWANCE = 1.05, 2e-5
_CANDIDATES, _ASKED = 20, 4_000
_RATES = (0.01, 0.05, 0.1)


@dataclass(frozen=True)
class Setting:
    """A world: how users differ, how many rows they have, what their rewards are, how actions lie.

    `clusters` 0 means that every user is different; `unequal` sizes are powers of the cluster's number.
    """

    name: str
    clusters: int = 10
    scatter: float = 0.0
    unequal: bool = False
    users: int = 500
    dim: int = 20
    rows: int = 10
    counts: Literal["equal", "spread"] = "equal"
    noise: float = 0.05
    rewards: Literal["gaussian", "student", "binary"] = "gaussian"
    actions: Literal["sphere", "few", "collinear", "long"] = "sphere"
    specified: bool = True


SETTINGS = (
    Setting("10 clusters"),
    Setting("every user different", clusters=0),
    Setting("every user different, 60 rows", clusters=0, rows=60),
    Setting("every user alike", clusters=1),
    Setting("every user alike, 60 rows", clusters=1, rows=60),
    Setting("2 clusters", clusters=2),
    Setting("50 clusters", clusters=50),
    Setting("50 clusters, 40 rows", clusters=50, rows=40),
    Setting("200 clusters", clusters=200),
    Setting("200 clusters, 40 rows", clusters=200, rows=40),
    Setting("unequal clusters", unequal=True),
    Setting("scattered clusters", scatter=0.2, rows=40),
    Setting("counts 0 to 1,000", counts="spread"),
    Setting("every user different, counts 0 to 1,000", clusters=0, counts="spread"),
    Setting("noise 0.01", noise=0.01),
    Setting("noise 1", noise=1.0, rows=40),
    Setting("noise 1, every user different", clusters=0, noise=1.0, rows=40),
    Setting("Student t3 noise", rewards="student", specified=False),
    Setting("Student t3 noise, every user different", clusters=0, rewards="student", specified=False),
    Setting("binary rewards", rewards="binary", rows=40, specified=False),
    Setting("binary rewards, every user different", clusters=0, rewards="binary", rows=40, specified=False),
    Setting("actions in 4 of 20 dimensions", actions="few"),
    Setting("collinear actions", actions="collinear"),
    Setting("actions up to 30 long", actions="long"),
    Setting("d = 5", dim=5),
    Setting("d = 64", dim=64, rows=40),
    Setting("d = 64, every user different", clusters=0, dim=64, rows=40),
)


class Drawn(NamedTuple):
    """Statistics, two halves of them, the truth, and requests of users with candidate actions."""

    stats: UserStatistics
    halves: tuple[UserStatistics, UserStatistics]
    theta: FloatArray
    user: Any
    actions: FloatArray


def draw(setting: Setting, seed: int) -> Drawn:
    """One log of a world, and requests."""
    rng = np.random.default_rng([seed, len(setting.name), setting.rows, setting.clusters])
    theta = _vectors(setting, rng)
    user = np.repeat(np.arange(setting.users), _counts(setting, rng))
    place = _placing(setting, rng)
    action = place(rng.standard_normal((len(user), setting.dim)))
    reward = _rewards(setting, np.einsum("ij,ij->i", action, theta[user]), rng)
    order = rng.permutation(len(user))
    user, action, reward = user[order], action[order], reward[order]
    first, second = (_summed(setting, user[i::2], action[i::2], reward[i::2]) for i in range(2))
    asked = rng.integers(0, setting.users, _ASKED)
    candidates = place(rng.standard_normal((_ASKED * _CANDIDATES, setting.dim)))
    actions = candidates.reshape(_ASKED, _CANDIDATES, setting.dim)
    return Drawn(_summed(setting, user, action, reward), (first, second), theta, asked, actions)


def _vectors(setting: Setting, rng: np.random.Generator) -> FloatArray:
    raw = _unit(rng.standard_normal((setting.clusters or setting.users, setting.dim)))
    if not setting.clusters:
        return raw
    share = 0.5 ** np.arange(setting.clusters) if setting.unequal else np.ones(setting.clusters)
    label = rng.choice(setting.clusters, setting.users, p=share / share.sum())
    away = setting.scatter / np.sqrt(setting.dim) * rng.standard_normal((setting.users, setting.dim))
    return np.asarray(raw[label] + away)


def _counts(setting: Setting, rng: np.random.Generator) -> Any:
    if setting.counts == "equal":
        return rng.poisson(setting.rows, setting.users)
    return np.floor(10 ** rng.uniform(-0.5, 3, setting.users)).astype(np.int64)


def _placing(setting: Setting, rng: np.random.Generator) -> Callable[[FloatArray], FloatArray]:
    """How raw rows become actions."""
    basis = np.linalg.qr(rng.standard_normal((setting.dim, setting.dim)))[0]

    def place(raw: FloatArray) -> FloatArray:
        if setting.actions == "few":
            return _unit(raw[:, :4] @ basis[:4])
        if setting.actions == "collinear":
            return _unit(raw @ (basis * 10.0 ** -np.linspace(0, 8, setting.dim)[:, np.newaxis]))
        unit = _unit(raw)
        return 30 * unit if setting.actions == "long" else unit

    return place


def _rewards(setting: Setting, mean: FloatArray, rng: np.random.Generator) -> FloatArray:
    if setting.rewards == "binary":
        return (rng.random(len(mean)) < np.clip((mean + 1) / 2, 0, 1)).astype(np.float64)
    if setting.rewards == "student":
        return np.asarray(mean + setting.noise * rng.standard_t(3, len(mean)))
    return np.asarray(mean + setting.noise * rng.standard_normal(len(mean)))


def _unit(raw: FloatArray) -> FloatArray:
    return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True))


def _summed(setting: Setting, user: Any, action: FloatArray, reward: FloatArray) -> UserStatistics:
    """Statistics in which every user is known."""
    every = np.arange(setting.users)
    nothing = Logs.from_arrays(
        every, np.zeros((len(every), setting.dim)), np.zeros(len(every)), weight=0 * every
    )
    return summarize(nothing) + summarize(Logs.from_arrays(user, action, reward))


def gap(model: Model, drawn: Drawn) -> float:
    """Mean suboptimality of greedy choices."""
    value = np.einsum("bkd,bd->bk", drawn.actions, drawn.theta[drawn.user])
    index = model.decide_many(drawn.user, drawn.actions).index
    return float((value.max(axis=1) - value[np.arange(len(index)), index]).mean())


def coverage(model: Model, drawn: Drawn, rate: float) -> float:
    """Share of pessimistic choices worth at least their score, with this probability of failing."""
    pessimistic = replace(Mixture(), confidence=Confidence(noise="estimate", failure_prob=rate))
    made = pessimistic_choices(model, pessimistic)
    batch = made.decide_many(drawn.user, drawn.actions)
    chosen = drawn.actions[np.arange(len(batch)), batch.index]
    worth = np.einsum("bd,bd->b", chosen, drawn.theta[drawn.user])
    return float((worth >= batch.score).mean())


def pessimistic_choices(model: Model, algorithm: Mixture) -> Model:
    """The fitted model with the width of another failure probability."""
    from statistics import NormalDist

    wide = NormalDist().inv_cdf(1 - algorithm.confidence.failure_prob)
    policy = replace(model.policy, multiplier=np.full_like(model.policy.multiplier, wide))
    return replace(model, policy=policy, bonus=Bonus())


def alone(drawn: Drawn) -> Model:
    """Ridge per user, the ridge chosen on the other half of the rows."""
    first, second = drawn.halves
    held = HeldOut.of(second)
    made = [
        Independent(confidence=Confidence(ridge=ridge), bonus=GREEDY) for ridge in (1e-4, 1e-3, *RIDGES, 5.0)
    ]
    chosen = min(made, key=lambda one: held.squared_error(one.fit(first).theta))
    return chosen.fit(drawn.stats)


@click.command()
@click.option("--seeds", default=3, show_default=True)
@click.option("--only", default="", help="Only worlds whose name has this in it.")
def main(seeds: int, only: str) -> None:
    """Hold the mixture beside the better of everybody pooled and everybody alone, world by world."""
    warnings.simplefilter("ignore")
    click.echo(
        f"{'world':<42}{'mixture':>10}{'pooled':>10}{'alone':>10}  verdict  coverage at {_RATES}  kinds"
    )
    for setting in (one for one in SETTINGS if only in one.name):
        gaps, covers, kinds = [], [], []
        for seed in range(seeds):
            drawn = draw(setting, seed)
            model = Mixture(bonus=GREEDY).fit(drawn.stats)
            pooled = Pooled(confidence=Confidence(ridge=0.01), bonus=GREEDY).fit(drawn.stats)
            gaps.append([gap(one, drawn) for one in (model, pooled, alone(drawn))])
            covers.append([coverage(model, drawn, rate) for rate in _RATES])
            exact = model.population.n_points > 0
            kinds.append(f"{model.n_components} {'points' if exact else 'Gaussians'}")
        mine, everybody, nobody = np.mean(gaps, axis=0)
        holds = mine <= _ALLOWED * min(everybody, nobody) + _ALLOWANCE
        shown = " ".join(f"{one:.3f}" for one in np.mean(covers, axis=0))
        verdict = "holds" if holds else "FAILS"
        star = "" if setting.specified else " (misspecified)"
        click.echo(
            f"{setting.name:<42}{mine:>10.6f}{everybody:>10.6f}{nobody:>10.6f}  {verdict}   {shown}{star}  "
            + ", ".join(kinds)
        )


if __name__ == "__main__":
    main()
