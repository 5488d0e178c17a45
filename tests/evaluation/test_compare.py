"""Verdicts by hand: who is named, who stays in doubt, and that pairs are compared user by user."""

import numpy as np
import pytest

from coterie.evaluation.compare import differences_of, verdict_of
from coterie.evaluation.held_out import COLUMNS
from coterie.evaluation.run import Difference
from coterie.evaluation.scores import Tally

NAMES = ("independent", "pooled", "off-club")


def difference(metric: str, best: str, against: str, value: float, told: bool) -> Difference:
    return Difference(
        algorithm=best, against=against, metric=metric, fraction=1.0, group="all", value=value, low=value - 1,
        high=value + 1, told_apart=told, n_users=50,
    )  # fmt: skip


def by_error(*told: bool) -> list[Difference]:
    """Off-club has the least error, and is told from independent and from pooled or not."""
    rest = zip(("independent", "pooled"), told, strict=True)
    return [difference("scaled_error", "off-club", name, 1.0, clear) for name, clear in rest]


def candidates(*differences: Difference, metric: str = "auto") -> tuple[str, ...]:
    found = verdict_of("all", NAMES, differences, metric)
    assert found is not None
    assert found.winner == (found.candidates[0] if len(found.candidates) == 1 else None)
    return found.candidates


def test_the_best_is_named_if_all_others_are_told_from_it() -> None:
    assert candidates(*by_error(True, True)) == ("off-club",)
    assert candidates(*by_error(True, False)) == ("off-club", "pooled")


def test_one_that_clearly_chooses_better_keeps_the_verdict_open() -> None:
    better = difference("choice", "pooled", "off-club", 0.1, True)
    assert candidates(*by_error(True, True), better) == ("off-club", "pooled")
    by_chance = difference("choice", "pooled", "off-club", 0.1, False)
    assert candidates(*by_error(True, True), by_chance) == ("off-club",)


def test_one_that_errs_less_with_a_factor_per_user_keeps_the_verdict_open() -> None:
    turned = [
        difference("direction_error", "pooled", "off-club", 0.01, False),
        difference("direction_error", "pooled", "independent", 0.5, True),
    ]
    assert candidates(*by_error(True, True), *turned) == ("off-club", "pooled")


def test_among_the_tied_choosing_can_tell() -> None:
    chooses = [
        difference("choice", "off-club", "pooled", 0.1, True),
        difference("choice", "off-club", "independent", 0.1, False),
    ]
    assert candidates(*by_error(False, False), *chooses) == ("off-club", "independent")


def test_a_metric_that_is_named_decides_alone() -> None:
    better = difference("choice", "pooled", "off-club", 0.1, True)
    alone = difference("choice", "pooled", "independent", 0.1, True)
    assert candidates(*by_error(True, True), better, alone, metric="choice") == ("pooled",)


def test_doubt_names_the_simplest() -> None:
    found = verdict_of("all", NAMES, by_error(False, False), "auto")
    assert found is not None
    assert "take independent, the simplest of them" in found.sentence


def tally_of(errors: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]) -> Tally:
    n = len(next(iter(errors.values())))
    tally = Tally(n)
    for name, error in errors.items():
        sums = {column: np.zeros(n) for column in COLUMNS} | {"rows": np.ones(n), "squared_error": error}
        tally.add(name, 1.0, sums)
    tally.add_count(1.0, np.full(n, 10.0), np.ones(n))
    return tally


def test_users_are_compared_with_themselves() -> None:
    """Users differ by 10 in how hard they are; b errs by 0.1 +- 0.05 more with each: told apart all the "
    "same."""
    rng = np.random.default_rng(0)
    hard = 10 * rng.random(100)
    tally = tally_of({"a": hard, "b": hard + 0.1 + 0.05 * rng.standard_normal(100)})
    groups = {"all": np.arange(100)}
    found = next(d for d in differences_of(tally, groups, 0.95, rng) if d.metric == "squared_error")
    assert (found.algorithm, found.against, found.told_apart, found.n_users) == ("a", "b", True, 100)
    assert found.value == pytest.approx(0.1, abs=0.02)
    assert found.high - found.low == pytest.approx(2 * 1.98 * 0.05 / 10, rel=0.25)


def test_equal_algorithms_are_not_told_apart() -> None:
    same = np.random.default_rng(1).random(50)
    found = list(differences_of(tally_of({"a": same, "b": same}), {"all": np.arange(50)}, 0.95,
                                np.random.default_rng(0)))  # fmt: skip
    assert not any(one.told_apart for one in found)
