"""Laws of the sums: additive, blind to the order and the batching of rows, and free of what has weight 0."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import instances
from tests.reference.instances import Instance

import coterie as ct

SUMS = ("count", "moment", "gram", "reward_square")


def rows_of(drawn: Instance, rows: Any) -> ct.Logs:
    """The part of the log in these rows."""
    arrays = (drawn.user[rows], drawn.action[rows], drawn.reward[rows])
    return ct.Logs.from_arrays(*arrays, weight=drawn.weight[rows])


def require_equal(left: ct.UserStatistics, right: ct.UserStatistics, *, rounding: float) -> None:
    """Sums of at most 1e3 numbers of size 1 agree within 1e3 * 1e3 * 1e-16 in any order."""
    assert left.users.tolist() == right.users.tolist()
    assert left.max_norm == pytest.approx(right.max_norm, rel=1e-15)
    for name in SUMS:
        np.testing.assert_allclose(getattr(left, name), getattr(right, name), rtol=rounding, atol=rounding)


@settings(max_examples=60)
@given(seed=instances.SEEDS)
def test_statistics_of_both_logs_are_the_sum(seed: int) -> None:
    drawn, rng = instances.instance(seed), np.random.default_rng(seed)
    first = rng.random(len(drawn.user)) < rng.random()
    first[0], first[-1] = True, len(first) == 1
    if first.all():
        return
    left, right = ct.summarize(rows_of(drawn, first)), ct.summarize(rows_of(drawn, ~first))
    require_equal(left + right, drawn.stats(), rounding=1e-10)
    require_equal(right + left, drawn.stats(), rounding=1e-10)


@settings(max_examples=40)
@given(seed=instances.SEEDS)
def test_statistics_are_the_sums_over_rows(seed: int) -> None:
    """Against NumPy on each user's own rows; one whose rows all have weight 0 is known and has no data."""
    drawn = instances.instance(seed)
    stats = drawn.stats()
    assert stats.users.tolist() == drawn.ids
    assert stats.count.tolist() == [len(r) for _, r in drawn.rows]
    np.testing.assert_allclose(stats.moment, [A.T @ r for A, r in drawn.rows], atol=1e-10)
    np.testing.assert_allclose(stats.gram, [A.T @ A for A, _ in drawn.rows], atol=1e-10)
    np.testing.assert_allclose(stats.reward_square, [r @ r for _, r in drawn.rows], atol=1e-10)


@settings(max_examples=40)
@given(seed=instances.SEEDS)
def test_a_row_twice_is_weight_two(seed: int) -> None:
    drawn = instances.instance(seed)
    twice = rows_of(drawn, np.repeat(np.arange(len(drawn.user)), 2))
    require_equal(ct.summarize(replace_weight(drawn, 2 * drawn.weight)), ct.summarize(twice), rounding=1e-10)


@settings(max_examples=40)
@given(seed=instances.SEEDS, fraction=st.floats(0.0, 1.0))
def test_rows_of_weight_zero_are_no_rows(seed: int, fraction: float) -> None:
    """Whatever they hold, even an action longer than all others."""
    drawn, rng = instances.instance(seed), np.random.default_rng(seed)
    gone = rng.random(len(drawn.user)) < fraction
    gone[np.unique(drawn.user, return_index=True)[1]] = False  # everybody keeps a row, and so stays known
    weight = np.where(gone, 0.0, np.maximum(drawn.weight, 1.0))
    wild = replace(drawn, action=np.where(gone[:, np.newaxis], 50.0, drawn.action), weight=weight)
    require_equal(ct.summarize(wild.logs()), ct.summarize(rows_of(wild, ~gone)), rounding=1e-10)


@settings(max_examples=40)
@given(seed=instances.SEEDS, batch_rows=st.integers(1, 50))
def test_row_order_and_batch_size_do_not_matter(seed: int, batch_rows: int) -> None:
    drawn = instances.instance(seed, most=60)
    order = np.random.default_rng(seed).permutation(len(drawn.user))
    require_equal(ct.summarize(rows_of(drawn, order)), drawn.stats(), rounding=1e-10)
    require_equal(ct.summarize(replace(drawn.logs(), batch_rows=batch_rows)), drawn.stats(), rounding=1e-10)


@settings(max_examples=25)
@given(seed=instances.SEEDS, batch_rows=st.integers(5, 100), threads=st.integers(2, 5))
def test_the_number_of_threads_changes_no_bit(seed: int, batch_rows: int, threads: int) -> None:
    logs = replace(instances.instance(seed).logs(), batch_rows=batch_rows)
    one, many = ct.summarize(logs, threads=1), ct.summarize(logs, threads=threads)
    for name in ("users", *SUMS):
        assert getattr(one, name).tobytes() == getattr(many, name).tobytes()


@settings(max_examples=40)
@given(seed=instances.SEEDS, fitted_first=st.booleans())
def test_adding_then_removing_a_user_changes_nothing(seed: int, fitted_first: bool) -> None:
    drawn, rng = instances.instance(seed), np.random.default_rng(seed)
    stats = drawn.stats()
    guest = ct.summarize(
        ct.Logs.from_arrays([drawn.unseen] * 3, instances.ball(rng, 3, drawn.dim), [1.0, 2.0, 3.0])
    )
    both = guest + stats if fitted_first else stats + guest
    assert both.n_users == stats.n_users + 1
    back = both.without([drawn.unseen])
    for name in ("users", *SUMS):
        np.testing.assert_array_equal(getattr(back, name), getattr(stats, name))


@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
def test_removing_a_user_with_long_actions_takes_the_rescaling_away() -> None:
    """Actions of length 1 are fitted as they are, also after a guest with one of length 5 came and left."""
    stats = ct.summarize(ct.Logs.from_arrays([1, 1], [[1.0, 0.0], [0.0, 1.0]], [1.0, 0.5]))
    guest = ct.summarize(ct.Logs.from_arrays([2], [[5.0, 0.0]], [1.0]))
    before, after = ct.Independent().fit(stats), ct.Independent().fit((stats + guest).without([2]))
    assert after.scale == before.scale == 1.0
    np.testing.assert_array_equal(after.theta, before.theta)


@settings(max_examples=20)
@given(seed=instances.SEEDS)
def test_saved_statistics_come_back_bit_for_bit(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    stats = instances.instance(seed).stats()
    path = Path(tmp_path_factory.mktemp("laws")) / "stats.coterie"
    stats.save(path)
    for back in (ct.UserStatistics.load(path), ct.load(path)):
        assert (back.max_norm, back.features, back.intercept) == (
            stats.max_norm,
            stats.features,
            stats.intercept,
        )
        for name in ("users", *SUMS):
            assert getattr(back, name).tobytes() == getattr(stats, name).tobytes()


def replace_weight(drawn: Instance, weight: Any) -> ct.Logs:
    """The log of an instance with other weights."""
    return replace(drawn, weight=weight).logs()
