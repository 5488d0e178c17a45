"""Sets that two algorithms decide differently are counted by hand; verdicts go by them."""

import numpy as np
import pytest

import coterie as ct
from coterie.evaluation.alike import Alike, Sets
from coterie.evaluation.compare import verdict_of
from coterie.evaluation.rows import rows_of
from coterie.evaluation.run import Difference
from coterie.evaluation.tuning import quietly_fitted

NAMES = ("independent", "pooled", "off-club")


def test_the_share_of_choices_that_differ_is_counted() -> None:
    """User 0 likes (1, 0) by her row and user 1 likes (0, 1); everybody alone, or user 1 as never seen."""
    rows = rows_of(ct.Logs.from_arrays([0, 1], [[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0]))
    stats, at = rows.statistics(np.ones(2))
    model = quietly_fitted(ct.Independent(bonus=ct.Bonus(sign=0)), stats)
    alike = Alike(Sets.drawn(rows, np.random.default_rng(0), 4000))
    alike.add("a", model, at)
    alike.add("b", model, np.array([at[0], -1]))
    assert np.bincount(alike.sets.user).tolist() == [2000, 2000]
    assert alike.apart("a", "a", np.array([0, 1])) == 0.0
    assert alike.apart("a", "b", np.array([0])) == 0.0
    other = alike.sets.user == 1
    first_is_liked = alike.sets.row[other, 0] == 1  # one never seen takes the first of equals
    assert alike.apart("a", "b", np.array([1])) == pytest.approx(1 - first_is_liked.mean())
    assert alike.apart("a", "b", np.array([], dtype=np.int64)) is None


def test_choices_are_those_of_decide_many() -> None:
    rng = np.random.default_rng(1)
    rows = rows_of(ct.Logs.from_arrays(np.arange(60) % 6, rng.standard_normal((60, 3)), rng.random(60)))
    stats, at = rows.statistics(np.ones(60))
    model = quietly_fitted(ct.OffCLUB(bonus=ct.Bonus(sign=-1)), stats)
    sets = Sets.drawn(rows, rng, 50)
    made = model.decide_many(rows.users[sets.user], rows.action[sets.row])
    assert sets.picked(model, at[sets.user]).tolist() == np.asarray(made.index).tolist()


def difference(against: str, told: bool, apart: float | None) -> Difference:
    return Difference(
        algorithm="off-club", against=against, metric="scaled_error", fraction=1.0, group="all", value=0.5,
        low=0.4, high=0.6, told_apart=told, n_users=50, fitted_apart=apart,
    )  # fmt: skip


def test_those_that_decide_alike_need_not_be_told_apart() -> None:
    found = verdict_of(
        "all", NAMES, [difference("independent", False, 0.001), difference("pooled", True, 0.3)], "auto"
    )
    assert found is not None
    assert (found.winner, found.candidates, found.same) == ("independent", ("independent",), ("off-club",))
    assert "use independent (fitted on everything, off-club decides as independent does); " in found.sentence
    assert "the next best, pooled, is worse by 0.5 (0.4 to 0.6) in scaled error" in found.sentence


def test_one_that_decides_differently_keeps_the_verdict_open() -> None:
    rows = [difference("independent", False, 0.0), difference("pooled", False, 0.002)]
    found = verdict_of("all", NAMES, rows, "auto")
    assert found is not None
    assert found.winner is None
    assert found.candidates == ("off-club", "independent", "pooled")
    assert found.same == ("off-club",)
    assert "take independent, the simplest of them (fitted on everything, off-club decides" in found.sentence


def test_nothing_is_alike_that_was_not_asked() -> None:
    rows = [difference("independent", False, None), difference("pooled", True, None)]
    found = verdict_of("all", NAMES, rows, "auto")
    assert found is not None
    assert found.candidates == ("off-club", "independent")
