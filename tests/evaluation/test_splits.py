"""Laws of the splits: what is judged is never learned from, by time, within users, by users."""

import numpy as np
import pytest

from coterie.errors import LogError, ParameterError
from coterie.evaluation.rows import LoggedRows
from coterie.evaluation.splits import backward_steps, splits_of


def rows_of_sizes(*sizes: int, time: object = None) -> LoggedRows:
    user = np.repeat(np.arange(len(sizes)), sizes)
    n = len(user)
    stamps = None if time is None else np.asarray(time, dtype=np.float64)
    return LoggedRows(np.arange(len(sizes)), user, np.ones((n, 1)), np.arange(n, dtype=float), time=stamps)


def test_within_users_every_row_is_judged_once_and_never_learned_from_then() -> None:
    rows = rows_of_sizes(1, 7, 10, 3)
    splits = list(splits_of(rows, "random", 5, 0.2, np.random.default_rng(3)))
    assert np.sum([split.test for split in splits], axis=0).tolist() == [1] * len(rows)
    assert not any((split.test & split.train).any() for split in splits)
    per_user = np.array([np.bincount(rows.user[split.test], minlength=4) for split in splits])
    assert (per_user.max(axis=0) - per_user.min(axis=0)).max() <= 1


def test_repeats_beyond_the_folds_are_dealt_anew() -> None:
    rows = rows_of_sizes(20, 20)
    splits = list(splits_of(rows, "random", 4, 0.5, np.random.default_rng(0)))
    assert [split.number for split in splits] == [0, 1, 2, 3]
    assert (splits[0].test != splits[2].test).any()


def test_by_users_those_judged_have_no_row_to_learn_from() -> None:
    rows = rows_of_sizes(*[4] * 10)
    for split in splits_of(rows, "users", 5, 0.2, np.random.default_rng(1)):
        assert not set(rows.user[split.test]) & set(rows.user[split.train])
        assert len(set(rows.user[split.test])) == 2


def test_by_time_the_past_is_learned_from_and_the_future_judges() -> None:
    time = np.random.default_rng(0).permutation(100) // 2  # every time twice
    rows = rows_of_sizes(60, 40, time=time)
    splits = list(splits_of(rows, "time", 5, 0.2, np.random.default_rng(1)))
    assert sum(split.test.sum() for split in splits) == 20
    for split in splits:
        assert time[split.train].max() < time[split.test].min()


def test_smaller_training_parts_lie_inside_larger_ones() -> None:
    split = next(splits_of(rows_of_sizes(50, 50), "random", 1, 0.2, np.random.default_rng(2)))
    small, large = split.part(0.3), split.part(0.7)
    assert (small <= large).all()
    assert (split.part(1.0) == split.train).all()
    learned, aside = split.inner(0.7, np.random.default_rng(0))
    assert not (aside & (learned > 0)).any()
    assert (learned + aside == large).all()


def test_backward_steps_are_counted() -> None:
    assert backward_steps(rows_of_sizes(4, time=[1, 3, 2, 2])) == 1
    assert backward_steps(rows_of_sizes(4)) == 0


def test_what_cannot_be_split_is_said_in_one_sentence() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ParameterError, match="the log has no time column; name one by time="):
        list(splits_of(rows_of_sizes(4), "time", 1, 0.5, rng))
    with pytest.raises(LogError, match="all rows have the same time"):
        list(splits_of(rows_of_sizes(4, time=[5] * 4), "time", 1, 0.5, rng))
    with pytest.raises(LogError, match="has 2 users and a split by users needs at least 5"):
        list(splits_of(rows_of_sizes(4, 4), "users", 1, 0.2, rng))
    with pytest.raises(LogError, match=r"split 0 \(random\) leaves no row to be learned from"):
        list(splits_of(rows_of_sizes(1), "random", 2, 0.5, rng))
