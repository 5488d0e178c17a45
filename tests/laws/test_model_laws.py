"""Laws of fitting: names, axes, files and repetition do not matter; one user alone is served alike by all.

Edges are compared where the literal says that they are not a matter of rounding. Tolerances as in
`tests/reference/test_against_literal.py`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.reference import instances, literal
from tests.reference.instances import Instance
from tests.reference.literal import Settings

import coterie as ct

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")

SLOTS = ("off_c2lub", "off_club", "independent", "pooled", "oracle")
COLUMNS = ("user", "action", "reward", "weight")
each_algorithm = pytest.mark.parametrize("name", SLOTS)
close = partial(np.testing.assert_allclose, rtol=1e-8, atol=1e-9)


def fit(name: str, drawn: Instance, chosen: Settings, data: Any = None) -> Any:
    return instances.algorithms(chosen, drawn.labels)[name].fit(drawn.logs() if data is None else data)


def solid_users(name: str, drawn: Instance, chosen: Settings) -> list[int]:
    """Users whose lenders are no matter of rounding."""
    if name not in ("off_c2lub", "off_club"):
        return list(range(len(drawn.ids)))
    result = getattr(literal, name)(drawn.rows, chosen)
    clear = instances.solid([*result.users, result.unseen], chosen)
    return [u for u in range(len(drawn.ids)) if clear[u]]


def require_same_decision(left: ct.Decision, right: ct.Decision) -> None:
    """The same action, or one that scores the same."""
    fields = ("score", "pooled_count", "pooled_users", "seen")
    close([getattr(left, f) for f in fields], [getattr(right, f) for f in fields])
    if left.index == right.index:
        close([left.estimate, left.width], [right.estimate, right.width])


def require_same_service(name: str, drawn: Instance, chosen: Settings, left: Any, right: Any) -> None:
    """Two models of the same users agree on lenders, estimates and decisions."""
    rng = np.random.default_rng(0)
    close(left.evidence.radius, right.evidence.radius)
    for u in solid_users(name, drawn, chosen):
        user, actions = drawn.ids[u], instances.action_set(rng, drawn.dim)
        assert left.neighbours(user).tolist() == right.neighbours(user).tolist()
        close(left.theta[u], right.theta[u])
        require_same_decision(left.decide(user, actions), right.decide(user, actions))


@each_algorithm
@settings(max_examples=20)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_relabelling_users_permutes_everything(name: str, seed: int, chosen: Settings) -> None:
    drawn, rng = instances.instance(seed, most=30), np.random.default_rng(seed)
    place = rng.permutation(len(drawn.ids)).tolist()  # user u becomes the place[u]-th
    new = dict(zip(drawn.ids, [f"renamed {p:02d}" for p in place], strict=True))
    labels = [drawn.labels[u] for u in np.argsort(place)]
    renamed = replace(drawn, user=np.array([new[user] for user in drawn.user.tolist()]), labels=labels)
    before, after = fit(name, drawn, chosen), fit(name, renamed, chosen)
    for u in solid_users(name, drawn, chosen):
        old, p, actions = drawn.ids[u], place[u], instances.action_set(rng, drawn.dim)
        assert sorted(new[v] for v in before.neighbours(old).tolist()) == after.neighbours(new[old]).tolist()
        close(after.theta[p], before.theta[u])
        close(after.evidence.radius[p], before.evidence.radius[u])
        assert (after.pooled_count[p], after.pooled_users[p]) == (
            before.pooled_count[u],
            before.pooled_users[u],
        )
        require_same_decision(after.decide(new[old], actions), before.decide(old, actions))


@each_algorithm
@settings(max_examples=20)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_rotation_rotates_theta_and_leaves_edges_and_decisions(
    name: str, seed: int, chosen: Settings
) -> None:
    drawn, rng = instances.instance(seed, most=30), np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((drawn.dim, drawn.dim)))[0]
    before, after = fit(name, drawn, chosen), fit(name, replace(drawn, action=drawn.action @ Q.T), chosen)
    close(after.evidence.radius, before.evidence.radius)
    for u in solid_users(name, drawn, chosen):
        user, actions = drawn.ids[u], instances.action_set(rng, drawn.dim)
        assert after.neighbours(user).tolist() == before.neighbours(user).tolist()
        close(after.theta[u], Q @ before.theta[u])
        require_same_decision(after.decide(user, actions @ Q.T), before.decide(user, actions))


@each_algorithm
@settings(max_examples=15)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_row_order_does_not_matter(name: str, seed: int, chosen: Settings) -> None:
    drawn = instances.instance(seed, most=30)
    order = np.random.default_rng(seed).permutation(len(drawn.user))
    arrays: dict[str, Any] = {column: getattr(drawn, column)[order] for column in COLUMNS}
    require_same_service(
        name, drawn, chosen, fit(name, replace(drawn, **arrays), chosen), fit(name, drawn, chosen)
    )


@each_algorithm
@settings(max_examples=15)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_every_row_twice_is_weight_two(name: str, seed: int, chosen: Settings) -> None:
    drawn = instances.instance(seed, most=30)
    rows = [(np.repeat(A, 2, axis=0), np.repeat(r, 2)) for A, r in drawn.rows]
    arrays: dict[str, Any] = {column: np.repeat(getattr(drawn, column), 2, axis=0) for column in COLUMNS}
    heavy, twice = replace(drawn, rows=rows, weight=2 * drawn.weight), replace(drawn, rows=rows, **arrays)
    require_same_service(name, heavy, chosen, fit(name, heavy, chosen), fit(name, twice, chosen))


@each_algorithm
@settings(max_examples=15)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_adding_then_removing_a_user_changes_no_bit(name: str, seed: int, chosen: Settings) -> None:
    drawn, rng = instances.instance(seed, most=30), np.random.default_rng(seed)
    stats, model = drawn.stats(), fit(name, drawn, chosen)
    guest = ct.Logs.from_arrays([drawn.unseen] * 3, instances.ball(rng, 3, drawn.dim), [1.0, 2.0, 3.0])
    again = fit(name, drawn, chosen, (stats + ct.summarize(guest)).without([drawn.unseen]))
    np.testing.assert_array_equal(again.theta, model.theta)
    for field in ("group", "factor", "multiplier", "count", "n_pooled"):
        np.testing.assert_array_equal(getattr(again.policy, field), getattr(model.policy, field))


@each_algorithm
@settings(max_examples=15)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_a_loaded_model_decides_bit_for_bit(
    name: str, seed: int, chosen: Settings, tmp_path_factory: pytest.TempPathFactory
) -> None:
    drawn, rng = instances.instance(seed, most=30), np.random.default_rng(seed)
    model, path = fit(name, drawn, chosen), Path(tmp_path_factory.mktemp("laws")) / "model.coterie"
    model.save(path)
    back = ct.load(path)
    users, actions = [*drawn.ids, drawn.unseen], instances.action_set(rng, drawn.dim)
    for field in ("users", "theta", "pooled_count", "pooled_users"):
        assert getattr(back, field).tobytes() == getattr(model, field).tobytes()
    one, other = model.decide_many(users, actions), back.decide_many(users, actions)
    for field in ("index", "estimate", "width", "score", "pooled_count", "pooled_users", "seen"):
        assert getattr(one, field).tobytes() == getattr(other, field).tobytes()
    for user in users:
        assert back.decide(user, actions) == model.decide(user, actions)
        assert back.neighbours(user).tolist() == model.neighbours(user).tolist()
        assert str(back.explain(user)) == str(model.explain(user))


@settings(max_examples=60)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_one_user_alone_gives_the_same_model_under_every_algorithm(seed: int, chosen: Settings) -> None:
    drawn, rng = instances.instance(seed, n_users=1), np.random.default_rng(seed)
    actions = instances.action_set(rng, drawn.dim)
    first, *others = (fit(name, drawn, chosen) for name in SLOTS)
    for other in others:
        np.testing.assert_allclose(other.theta, first.theta, rtol=1e-14)
        np.testing.assert_allclose(other.policy.multiplier[0], first.policy.multiplier[0], rtol=1e-14)
        assert other.decide(drawn.ids[0], actions) == first.decide(drawn.ids[0], actions)


@each_algorithm
@settings(max_examples=20)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_a_user_never_seen_is_served_as_one_without_data(name: str, seed: int, chosen: Settings) -> None:
    """Only, others lend more to a known one under other rules: by a label, or by a shared gap."""
    drawn, rng = instances.instance(seed, most=30), np.random.default_rng(seed)
    empty = [u for u in solid_users(name, drawn, chosen) if not len(drawn.rows[u][1])]
    model, actions = fit(name, drawn, chosen), instances.action_set(rng, drawn.dim)
    if name == "oracle" or (name == "off_c2lub" and chosen.sharing != "own"):
        empty = [u for u in empty if model.pooled_users[u] == 1]
    never = model.decide(drawn.unseen, actions)
    assert not never.seen
    for u in empty:
        known = model.decide(drawn.ids[u], actions)
        assert known.seen
        if name == "off_c2lub" and known.pooled_users != never.pooled_users:
            continue  # the prior grows with the users pooled
        assert never.pooled_count == known.pooled_count
        close(never.score, known.score)
