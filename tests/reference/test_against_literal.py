"""The library against the paper in plain loops, on instances that Hypothesis draws by their seed.

Tolerance: systems have condition numbers up to about N / lam = 1e3 / 0.01, so that two float64 solvers agree
to 1e5 * 1e-16 * d; 1e-8 leaves room. Comparisons closer than 1e-9 in the literal are left out, save the
structural ties of the gap policies, which are exact in both and no edge in either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import coterie as ct
from tests.reference import instances, literal
from tests.reference.instances import Instance
from tests.reference.literal import Array, Settings

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")

BASELINES = ("independent", "pooled", "oracle")


@dataclass(frozen=True)
class Pair:
    """A model and the literal result of the same rows; `solid`: whose graph is no matter of rounding."""

    instance: Instance
    model: Any
    result: literal.Result
    solid: list[bool]

    @property
    def user_ids(self) -> list[Any]:
        """Ids in the order of the literal's users, the unseen one last."""
        return [*self.instance.ids, self.instance.unseen]

    @property
    def everybody(self) -> list[literal.User]:
        return [*self.result.users, self.result.unseen]


def fitted(name: str, given_: Instance, chosen: Settings, data: Any = None) -> Pair:
    model = instances.algorithms(chosen, given_.labels)[name].fit(given_.logs() if data is None else data)
    more = (given_.labels,) if name == "oracle" else ()
    result = getattr(literal, name)(given_.rows, *more, chosen)
    return Pair(given_, model, result, instances.solid([*result.users, result.unseen], chosen))


def close(value: Any, expected: Any, what: object) -> None:
    np.testing.assert_allclose(value, expected, rtol=1e-8, atol=1e-9, err_msg=str(what))


def compare_graph(pair: Pair) -> None:
    """Radius, gap, lenders, and what is pooled, of every user and of one never seen."""
    model, names = pair.model, pair.user_ids
    close(model.evidence.radius, [user.CI for user in pair.everybody], "radius")
    assert model.users.tolist() == pair.instance.ids
    for u, user in enumerate(pair.everybody):
        if not pair.solid[u]:
            continue
        told = model.explain(names[u])
        assert model.neighbours(names[u]).tolist() == [
            names[v] for v in user.neighbours if v < len(names) - 1
        ]
        if told.gap is not None:
            close(told.gap, user.gap, ("gap", u))
        assert (told.pooled_users, told.pooled_count) == (user.n_pooled, user.N_pooled)
        group = model.policy.group[u]
        close(model.policy.multiplier[group], user.beta, ("multiplier", u))
        if u < model.n_users:
            close(model.theta[u], user.theta_tilde, ("theta", u))
            assert (model.pooled_users[u], model.pooled_count[u]) == (user.n_pooled, user.N_pooled)


def compare_decisions(pair: Pair, rng: np.random.Generator) -> None:
    """`decide`, and `decide_many` on one set per request and on a shared set."""
    users = [u for u, solid in enumerate(pair.solid) if solid]
    if not users:
        return
    asked = rng.choice(users, size=min(6, len(users)), replace=False).tolist()
    shared = instances.action_set(rng, pair.instance.dim)
    own = np.array([instances.action_set(rng, pair.instance.dim, len(shared)) for _ in asked])
    names = [pair.user_ids[u] for u in asked]
    many, one = pair.model.decide_many(names, own), pair.model.decide_many(names, shared)
    assert many.seen.tolist() == one.seen.tolist() == [u < pair.model.n_users for u in asked]
    for b, u in enumerate(asked):
        user = pair.everybody[u]
        for actions, batch in ((own[b], many), (shared, one)):
            single = pair.model.decide(names[b], actions)
            for field in ("index", "estimate", "width", "score", "pooled_count", "pooled_users"):
                close(getattr(single, field), getattr(batch, field)[b], field)
            assert (single.pooled_count, single.pooled_users) == (user.N_pooled, user.n_pooled)
            compare_choice(single, user, actions)


def compare_choice(choice: ct.Decision, user: literal.User, actions: Array) -> None:
    index, estimates, widths, scores = user.decide(actions)
    others = [s for s, a in zip(scores, actions, strict=True) if not np.array_equal(a, actions[index])]
    if scores[index] - max(others, default=-math.inf) > instances.CLOSE * max(1, abs(scores[index])):
        assert choice.index == index  # a repeated action ties exactly, and the first of them counts
    close(choice.estimate, estimates[choice.index], "estimate")
    close(choice.width, widths[choice.index], "width")
    close(choice.score, scores[choice.index], "score")
    close(choice.score, scores[index], "best score")


def kind_of(pair: Pair) -> str:
    """What the literal's graph looks like."""
    edges = sum(len(user.neighbours) - 1 for user in pair.result.users)
    possible = pair.model.n_users * (pair.model.n_users - 1)
    return "one user" if not possible else {0: "no edge", possible: "complete"}.get(edges, "mixed")


@pytest.mark.parametrize("name", ["off_c2lub", "off_club"])
@settings(max_examples=280)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_the_papers_algorithms(name: str, seed: int, chosen: Settings) -> None:
    pair = fitted(name, instances.instance(seed), chosen)
    event(f"{name}: {kind_of(pair)}")
    event(f"{name}: rounding decides nothing: {all(pair.solid)}")
    compare_graph(pair)
    compare_decisions(pair, np.random.default_rng(seed))


@pytest.mark.parametrize("name", BASELINES)
@settings(max_examples=60)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_the_baselines(name: str, seed: int, chosen: Settings) -> None:
    pair = fitted(name, instances.instance(seed, most=40), chosen)
    assert all(pair.solid)
    compare_graph(pair)
    compare_decisions(pair, np.random.default_rng(seed))


@pytest.mark.parametrize(("name", "least"), [("off_c2lub", 0.2), ("off_club", 0.3)])
def test_the_comparison_is_not_vacuous(name: str, least: float) -> None:
    """Of 80 seeds, a good share gives graphs with and without edges whose every comparison is clear."""
    mixed, solid = 0, 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        pair = fitted(name, instances.instance(seed, most=30), instances.settings_at(rng))
        mixed += kind_of(pair) == "mixed" and sum(pair.solid) > len(pair.solid) / 2
        solid += all(pair.solid)
    assert mixed / 80 >= least
    assert solid / 80 >= 0.6


@pytest.mark.parametrize("policy", ["over", "under", 0.5])
@pytest.mark.parametrize("sharing", ["own", "mutual", "global"])
def test_every_gap_policy_meets_mixed_graphs(policy: float | str, sharing: str) -> None:
    """The same for each policy: at least 8 of 40 seeds with radii small enough to matter."""
    mixed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        fixed = {
            "alpha": float(rng.choice([0.1, 1.0])),
            "noise": 0.001,
            "theta_bound": 0.01,
            "min_samples": 0.0,
        }
        chosen = instances.settings_at(rng, gap=policy, sharing=sharing, lam=0.1, **fixed)
        pair = fitted("off_c2lub", instances.instance(1000 + seed, most=30), chosen)
        compare_graph(pair)
        mixed += kind_of(pair) == "mixed" and any(pair.solid)
    assert mixed >= 8


@pytest.mark.parametrize("name", ["off_c2lub", "off_club", *BASELINES])
@settings(max_examples=25)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS, scale=st.sampled_from([1.5, 4.0, 1000.0]))
def test_rescaled_actions_are_the_divided_ones(name: str, seed: int, chosen: Settings, scale: float) -> None:
    """The literal sees the actions divided by the longest; `theta` is in the units of the logs."""
    drawn = instances.instance(seed, most=30)
    stretched = drawn.action * scale
    real = np.linalg.norm(stretched[drawn.weight > 0], axis=1)
    divisor = real.max(initial=1.0)
    rows = [(A * scale / divisor, r) for A, r in drawn.rows]
    divided = replace(drawn, rows=rows, action=stretched / divisor)
    pair = fitted(name, divided, chosen, data=drawn.logs(scale))
    assert pair.model.scale == pytest.approx(divisor, rel=1e-12)
    rng = np.random.default_rng(seed)
    for u in np.flatnonzero(pair.solid[:-1]).tolist():
        close(pair.model.theta[u] * divisor, pair.result.theta_tilde[u], "theta")
        actions = instances.action_set(rng, drawn.dim)
        compare_choice(pair.model.decide(drawn.ids[u], actions * divisor), pair.result.users[u], actions)


@settings(max_examples=40)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS, packed=st.booleans())
def test_statistics_given_as_arrays(seed: int, chosen: Settings, packed: bool) -> None:
    """Sums made here, square or packed, in place of a log."""
    drawn = instances.instance(seed, most=30)
    gram = np.array([A.T @ A for A, _ in drawn.rows])
    lower = np.tril_indices(drawn.dim)
    stats = ct.UserStatistics.from_arrays(
        users=drawn.ids,
        count=[len(r) for _, r in drawn.rows],
        moment=[A.T @ r for A, r in drawn.rows],
        gram=gram[:, lower[0], lower[1]] if packed else gram,
        reward_square=[r @ r for _, r in drawn.rows],
    )
    for name in ("off_c2lub", "off_club", "oracle"):
        pair = fitted(name, drawn, chosen, data=stats)
        compare_graph(pair)
        compare_decisions(pair, np.random.default_rng(seed))
