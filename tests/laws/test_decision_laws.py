"""Laws of deciding: the sign orders scores, scale and form shape the width, batching does not matter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import instances
from tests.reference.instances import Instance
from tests.reference.literal import Settings

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")

SLOTS = ("off_c2lub", "off_club", "independent", "pooled", "oracle")
each_algorithm = pytest.mark.parametrize("name", SLOTS)
FIELDS = ("index", "estimate", "width", "score", "pooled_count", "pooled_users", "seen")


def fit(name: str, drawn: Instance, chosen: Settings) -> Any:
    return instances.algorithms(chosen, drawn.labels)[name].fit(drawn.logs())


def asked(drawn: Instance) -> list[Any]:
    return [*drawn.ids, drawn.unseen]


@each_algorithm
@settings(max_examples=25)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_pessimistic_below_greedy_below_optimistic(name: str, seed: int, chosen: Settings) -> None:
    """For a single action, and for the best of a set; with_bonus decides as a fit with that bonus does."""
    drawn, rng = instances.instance(seed, most=30), np.random.default_rng(seed)
    models = [fit(name, drawn, replace(chosen, sign=sign)) for sign in (-1, 0, 1)]
    for actions in (instances.action_set(rng, drawn.dim, 1), instances.action_set(rng, drawn.dim)):
        low, middle, high = (model.decide_many(asked(drawn), actions) for model in models)
        assert np.all(low.score <= middle.score)
        assert np.all(middle.score <= high.score)
        for sign, batch in ((-1, low), (0, middle), (1, high)):
            other = (
                models[0].with_bonus(replace(models[0].bonus, sign=sign)).decide_many(asked(drawn), actions)
            )
            assert all(np.array_equal(getattr(other, field), getattr(batch, field)) for field in FIELDS)
        if len(actions) == 1:
            np.testing.assert_array_equal(low.width, high.width)
            np.testing.assert_array_equal(low.estimate, high.estimate)


@each_algorithm
@settings(max_examples=20)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS, factor=st.sampled_from([2.0, 8.0]))
def test_width_is_a_norm(name: str, seed: int, chosen: Settings, factor: float) -> None:
    """Twice the action or twice the scale is twice the width, four times the squared form; it is even."""
    drawn, rng = instances.instance(seed, most=30), np.random.default_rng(seed)
    model, action = fit(name, drawn, chosen), instances.ball(rng, 1, drawn.dim)
    power = 2 if chosen.form == "squared" else 1
    base, longer, back = (model.decide_many(asked(drawn), action * c) for c in (1.0, factor, -1.0))
    np.testing.assert_allclose(longer.width, factor**power * base.width, rtol=1e-12)
    np.testing.assert_allclose(longer.estimate, factor * base.estimate, rtol=1e-12, atol=1e-300)
    np.testing.assert_array_equal(back.width, base.width)
    wider = model.with_bonus(replace(model.bonus, scale=factor * chosen.scale)).decide_many(
        asked(drawn), action
    )
    np.testing.assert_allclose(wider.width, factor * base.width, rtol=1e-12)


@each_algorithm
@settings(max_examples=15)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS, threads=st.integers(1, 4))
def test_many_decisions_are_single_ones(name: str, seed: int, chosen: Settings, threads: int) -> None:
    """Bit for bit, on 9,000 requests, which several threads share."""
    drawn, rng = instances.instance(seed, n_users=3, most=30), np.random.default_rng(seed)
    model, users = fit(name, drawn, chosen), [asked(drawn)[k] for k in rng.integers(0, 4, 9000)]
    actions = instances.ball(rng, 9000 * 2, drawn.dim).reshape(9000, 2, drawn.dim)
    batch, alone = (model.decide_many(users, actions, threads=n) for n in (threads, 1))
    for field in FIELDS:
        assert getattr(batch, field).tobytes() == getattr(alone, field).tobytes()
    for b in (0, 1, 8191, 8192, 8999):
        single = model.decide(users[b], actions[b])
        assert [getattr(single, field) for field in FIELDS] == [getattr(batch, field)[b] for field in FIELDS]


@each_algorithm
@settings(max_examples=25)
@given(seed=instances.SEEDS, chosen=instances.SETTINGS)
def test_the_choice_is_the_best_single_one_in_any_order(name: str, seed: int, chosen: Settings) -> None:
    """The index follows the action through a reordering, unless the two best scores are 1e-9 or nearer."""
    drawn, rng = instances.instance(seed, most=30), np.random.default_rng(seed)
    model, actions = fit(name, drawn, chosen), instances.ball(rng, 7, drawn.dim)
    scores = np.array([model.decide_many(asked(drawn), action[np.newaxis]).score for action in actions])
    second, best = np.sort(scores, axis=0)[-2:]
    clear = best - second > 1e-9
    for order in (np.arange(7), rng.permutation(7)):
        batch = model.decide_many(asked(drawn), actions[order])
        np.testing.assert_allclose(batch.score, best, rtol=1e-12, atol=1e-14)
        assert np.array_equal(order[batch.index][clear], scores.argmax(axis=0)[clear])
