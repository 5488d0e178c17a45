"""The gap that is chosen by rows held out: what it joins, what it beats, and what it refuses."""

import numpy as np
import pytest

import coterie as ct
from coterie.algorithms.halves import squared_error
from coterie.worlds import Synthetic

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")

CONFIDENCE = ct.Confidence(noise=0.1, ridge=0.01)


def two_groups(n: int, seed: int) -> ct.UserStatistics:
    """Users 0 and 1 want 1, users 2 and 3 want -1; `n` rows each with action 1 and noise 0.1."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(4), n)
    reward = np.where(user < 2, 1.0, -1.0) + 0.1 * rng.standard_normal(4 * n)
    return ct.summarize(ct.Logs.from_arrays(user, np.ones((4 * n, 1)), reward))


def test_users_who_want_the_same_are_joined_and_no_others() -> None:
    """Sides of pairs: about 2 CI inside a group and 2 + 2 CI across; the groups differ by twenty noises."""
    algorithm = ct.OffC2LUB(gap="validate", confidence=CONFIDENCE, graph_scale=0.3)
    model = algorithm.fit(two_groups(5, 0), validation=two_groups(50, 1))
    assert [model.neighbours(user).tolist() for user in range(4)] == [[0, 1], [0, 1], [2, 3], [2, 3]]
    gap = model.parameters["gap_used"]
    assert model.gap is not None
    assert (model.gap == gap).all()


@pytest.mark.parametrize("seed", range(3))
def test_no_worse_on_the_validation_rows_than_alone_or_than_everybody_joined(seed: int) -> None:
    world = Synthetic(n_users=40, n_clusters=4, dim=4, noise=0.3).world(np.random.default_rng(seed))
    rng = np.random.default_rng([seed, 1])
    stats, held = (ct.summarize(world.draw(n, rng).logs) for n in (400, 2000))
    errors = {}
    for gap in ("validate", 0.0, 1e6):
        algorithm = ct.OffC2LUB(gap=gap, confidence=CONFIDENCE, graph_scale=0.1)
        model = algorithm.fit(stats, validation=held) if gap == "validate" else algorithm.fit(stats)
        theta = model.policy.theta[model.policy.group[stats.index.rows(held.users)]]
        errors[gap] = squared_error(theta, held, model.scale)
    assert errors["validate"] <= min(errors[0.0], errors[1e6]) * (1 + 1e-9)
    assert errors["validate"] < max(errors[0.0], errors[1e6])


def test_logs_are_cut_in_two_by_themselves_and_the_number_gives_the_same_model_again() -> None:
    logs = Synthetic(n_users=30, n_clusters=3, dim=3, noise=0.2).draw(n_rows=900, rng=0).logs
    model = ct.OffC2LUB(gap="validate", confidence=CONFIDENCE, graph_scale=0.2).fit(logs)
    gap = model.parameters["gap_used"]
    again = ct.OffC2LUB(gap=gap, confidence=CONFIDENCE, graph_scale=0.2).fit(logs)
    assert 1 < model.report.mean_pooled_users < 30
    np.testing.assert_array_equal(again.pooled_users, model.pooled_users)
    np.testing.assert_allclose(again.theta, model.theta, rtol=1e-12, atol=1e-12)


def test_squared_error_is_the_sum_over_rows() -> None:
    """Rows (a = 2, r = 3) and (a = 1, r = 0) at theta = 1: (3 - 2)^2 + (0 - 1)^2 = 2."""
    held = ct.summarize(ct.Logs.from_arrays([7, 7], [[2.0], [1.0]], [3.0, 0.0]))
    assert squared_error(np.array([[1.0]]), held, 1.0) == pytest.approx(2.0)
    assert squared_error(np.array([[2.0]]), held, 2.0) == pytest.approx(2.0)  # actions half as long


def test_refusals() -> None:
    stats = two_groups(3, 0)
    with pytest.raises(
        ct.CoterieError, match=r'^gap="validate" needs rows to hold out .* give gap as a number$'
    ):
        ct.OffC2LUB(gap="validate").fit(stats)
    with pytest.raises(
        ct.CoterieError, match=r'^validation= was given and gap is 0.5; it is used by gap="val'
    ):
        ct.OffC2LUB(gap=0.5).fit(stats, validation=stats)
    with pytest.raises(
        ct.CoterieError, match=r"^gap is 'best'; give 'over' or 'under' or 'validate' or a num"
    ):
        ct.OffC2LUB(gap="best")  # type: ignore[arg-type]
