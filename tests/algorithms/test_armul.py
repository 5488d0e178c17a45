"""ARMUL: optimality conditions, SciPy's minimiser, proximal steps row by row, and the choice of C."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import coterie as ct
from coterie.algorithms.armul import GRID
from coterie.algorithms.halves import halves
from coterie.algorithms.robust_centre import Shrunk, descend, prepared, shrink
from coterie.packed import FloatArray

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")

Rows = list[tuple[FloatArray, FloatArray]]  # actions and rewards of each user


def drawn(seed: int, *, n_users: int = 12, dim: int = 3, spread: float = 0.3) -> Rows:
    """Users with 1 to 20 rows, near one vector; the last but one strays."""
    rng = np.random.default_rng(seed)
    centre, rows = rng.normal(size=dim), []
    for u in range(n_users):
        action = rng.normal(size=(int(rng.integers(1, 21)), dim)) / np.sqrt(dim)
        theta = centre + spread * rng.normal(size=dim) + 4.0 * (u == n_users - 2)
        rows.append((action, action @ theta + 0.1 * rng.normal(size=len(action))))
    return rows


def stats_of(rows: Rows) -> ct.UserStatistics:
    user = np.repeat(np.arange(len(rows)), [len(r) for _, r in rows])
    action, reward = (np.concatenate(part) for part in zip(*rows, strict=True))
    return ct.summarize(ct.Logs.from_arrays(user, action, reward))


def objective(rows: Rows, theta: FloatArray, centre: FloatArray, penalty: float) -> float:
    r"""As printed: sum_j n_j [ MSE_j + C sqrt(d / n_j) ||theta_j - g|| ]."""
    total = 0.0
    for (a, r), own in zip(rows, theta, strict=True):
        pull = penalty * np.sqrt(a.shape[1] / len(r)) * np.linalg.norm(own - centre)
        total += float(len(r) * (np.mean((r - a @ own) ** 2) + pull))
    return total


def require_optimal(rows: Rows, found: Shrunk, penalty: float) -> None:
    """0 is a subgradient of each user's problem, and the users' pulls on the centre cancel."""
    total, size = np.zeros_like(found.centre), 0.0
    for (action, reward), theta in zip(rows, found.theta, strict=True):
        pull = 2 * action.T @ (action @ theta - reward)
        kappa = penalty * np.sqrt(action.shape[1] * len(reward))
        away = theta - found.centre
        if np.linalg.norm(away) > 1e-12:
            np.testing.assert_allclose(pull, -kappa * away / np.linalg.norm(away), atol=1e-8 * (1 + kappa))
        else:
            assert np.linalg.norm(pull) <= kappa * (1 + 1e-9)
        total += pull
        size += kappa
    assert np.linalg.norm(total) <= 1e-9 * size


@pytest.mark.parametrize("penalty", [0.01, 0.1, 0.5, 2.0, 50.0])
@pytest.mark.parametrize("seed", range(6))
def test_optimality_conditions(seed: int, penalty: float) -> None:
    rows = drawn(seed, n_users=15 + 10 * seed, dim=2 + seed)
    require_optimal(rows, shrink(prepared(stats_of(rows)), penalty), penalty)


@pytest.mark.parametrize("penalty", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_no_better_point_is_found_by_scipy(seed: int, penalty: float) -> None:
    """SciPy minimises over all users' vectors and the centre at once, from the pooled start and from ours."""
    rows = drawn(seed, n_users=4, dim=2)
    found = shrink(prepared(stats_of(rows)), penalty)
    ours = objective(rows, found.theta, found.centre, penalty)

    def value(flat: FloatArray) -> float:
        return objective(rows, flat[2:].reshape(-1, 2), flat[:2], penalty)

    tight = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 40_000, "maxfev": 40_000, "adaptive": True}
    for start in (np.zeros(10), np.concatenate([found.centre, found.theta.ravel()])):
        best = start
        for _ in range(3):
            best = minimize(value, best, method="Nelder-Mead", options=tight).x
            best = minimize(value, best, method="BFGS").x
        assert ours <= value(best) + 1e-9
        assert value(best) <= ours * 1.02 + 1e-6


def test_by_hand() -> None:
    """Rewards 0 and 8 at action 1. C = 2: pulls 2 theta_1 = 2 (8 - theta_2) = 2. C = 100: the mean."""
    logs = ct.Logs.from_arrays(["a", "b"], [[1.0], [1.0]], [0.0, 8.0])
    np.testing.assert_allclose(ct.ARMUL(penalty=2.0).fit(logs).theta, [[1.0], [7.0]], rtol=1e-12)
    np.testing.assert_allclose(ct.ARMUL(penalty=100.0).fit(logs).theta, [[4.0], [4.0]], rtol=1e-12)


def test_the_extremes_are_least_squares_alone_and_pooled() -> None:
    rows = [(a, r) for a, r in drawn(3, n_users=20) if len(r) > 5]
    stats = stats_of(rows)
    alone = np.array([np.linalg.lstsq(a, r)[0] for a, r in rows])
    action, reward = (np.concatenate(part) for part in zip(*rows, strict=True))
    together = np.linalg.lstsq(action, reward)[0]
    np.testing.assert_allclose(shrink(prepared(stats), 1e-9).theta, alone, rtol=1e-6)
    np.testing.assert_allclose(
        shrink(prepared(stats), 1e3).theta, np.tile(together, (len(rows), 1)), rtol=1e-9
    )


def test_one_stray_user_hardly_moves_the_centre() -> None:
    """Her pull on it is at most C sqrt(d n), however far she strays."""
    rows = drawn(1, n_users=30, spread=0.0)
    near = shrink(prepared(stats_of(rows)), 0.3).centre
    action, reward = rows[-2]
    rows[-2] = action, 1000 * reward
    far = shrink(prepared(stats_of(rows)), 0.3).centre
    assert np.linalg.norm(far - near) < 0.05


def test_users_without_data_and_never_seen_get_the_centre() -> None:
    logs = ct.Logs.from_arrays(["a", "b", "void"], [[1.0]] * 3, [3.0, 5.0, 99.0], weight=[1.0, 1.0, 0.0])
    model = ct.ARMUL(penalty=50.0).fit(logs)
    np.testing.assert_allclose(model.theta, [[4.0]] * 3, rtol=1e-12)
    assert model.decide("zoe", [[1.0]]).estimate == pytest.approx(4.0)
    nobody = ct.summarize(ct.Logs.from_arrays(["a"], [[1.0]], [3.0], weight=[0.0]))
    assert ct.ARMUL().fit(nobody).theta.tolist() == ct.ARMUL(steps=3).fit(nobody).theta.tolist() == [[0.0]]


def steps_row_by_row(rows: Rows, penalty: float, steps: int, rate: float) -> FloatArray:
    """Proximal gradient steps as in the published program, user by user."""
    dim, total = rows[0][0].shape[1], sum(len(r) for _, r in rows)
    centre, own = np.zeros(dim), np.zeros((len(rows), dim))
    for _ in range(steps):
        pull = np.zeros(dim)
        for j, (action, reward) in enumerate(rows):
            moved = own[j] - rate * 2 * action.T @ (action @ (centre + own[j]) - reward) / len(reward)
            length, less = np.linalg.norm(moved), rate * penalty * np.sqrt(dim / len(reward))
            own[j] = max(0.0, 1 - less / length) * moved if length > 0 else 0.0
            pull += 2 * action.T @ (action @ (centre + own[j]) - reward) / total
        centre = centre - rate * pull
    return centre + own


def test_undertrained_steps_are_those_of_the_rows() -> None:
    rows = drawn(2)
    found = descend(stats_of(rows), 1.0, 0.1, 10, 0.01).theta
    np.testing.assert_allclose(found, steps_row_by_row(rows, 0.1, 10, 0.01), rtol=1e-10)
    assert np.linalg.norm(found) < 0.5 * np.linalg.norm(shrink(prepared(stats_of(rows)), 0.1).theta)


def test_many_steps_come_to_the_optimum() -> None:
    rows = [(a, r) for a, r in drawn(4) if len(r) > 5]
    stats = stats_of(rows)
    many, best = descend(stats, 1.0, 0.3, 40_000, 0.1), shrink(prepared(stats), 0.3)
    np.testing.assert_allclose(many.theta, best.theta, atol=1e-5)


def test_a_rotation_of_the_features_rotates_theta() -> None:
    rows = drawn(5)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    before = shrink(prepared(stats_of(rows)), 0.2).theta
    after = shrink(prepared(stats_of([(a @ turn, r) for a, r in rows])), 0.2).theta
    np.testing.assert_allclose(after, before @ turn, rtol=1e-7, atol=1e-9)


def logs_of(rows: Rows) -> ct.Logs:
    """Rows of all users, taking turns, so that a user's rows lie far apart."""
    place = sorted((i, u) for u, (_, r) in enumerate(rows) for i in range(len(r)))
    taken = [np.array([rows[u][part][i] for i, u in place]) for part in (0, 1)]
    return ct.Logs.from_arrays(np.array([u for _, u in place]), *taken)


def test_halves_are_odd_and_even_rows_whatever_the_batches() -> None:
    rows = drawn(6)
    expected = [np.array([a[start::2].T @ r[start::2] for a, r in rows]) for start in (0, 1)]
    for batch_rows in (1, 7, 1000):
        for half, moment in zip(halves(replace(logs_of(rows), batch_rows=batch_rows)), expected, strict=True):
            np.testing.assert_allclose(half.moment, moment, rtol=1e-12, atol=1e-14)


def test_a_row_of_weight_two_is_two_rows_in_halves() -> None:
    """Weights 1, 2, 1: rows x, y, y, z, so x and the second y are odd."""
    weighted = ct.Logs.from_arrays([1, 1, 1], [[1.0]] * 3, [1.0, 2.0, 4.0], weight=[1.0, 2.0, 1.0])
    assert [half.moment.tolist() for half in halves(weighted)] == [[[3.0]], [[6.0]]]


def brute_force(rows: Rows) -> float:
    odd, even = ([(a[s::2], r[s::2]) for a, r in rows] for s in (0, 1))
    errors = []
    for penalty in GRID:
        error = 0.0
        for learned, held in ((odd, even), (even, odd)):
            theta = shrink(prepared(stats_of(learned)), penalty).theta
            error += sum(((r - a @ own) ** 2).sum() for (a, r), own in zip(held, theta, strict=True))
        errors.append(error)
    return GRID[int(np.argmin(errors))]


@pytest.mark.parametrize("spread", [0.0, 0.05, 0.2, 1.0])
def test_the_penalty_is_that_of_two_folds_row_by_row(spread: float) -> None:
    rows = [(a, r) for a, r in drawn(7, n_users=30, spread=spread) if len(r) > 1]
    expected = brute_force(rows)
    model = ct.ARMUL(penalty="validate", rescale=False).fit(logs_of(rows))
    assert model.parameters["penalty_used"] == expected
    np.testing.assert_allclose(model.theta, shrink(prepared(stats_of(rows)), expected).theta, rtol=1e-7)


def test_statistics_are_validated_by_statistics() -> None:
    """The penalty that is best for learning from odd rows and being judged by even ones."""
    rows = [(a, r) for a, r in drawn(8, n_users=30, spread=0.2) if len(r) > 1]
    odd, even = halves(logs_of(rows))
    model = ct.ARMUL(penalty="validate", rescale=False).fit(odd, validation=even)

    def error(penalty: float) -> float:
        theta = shrink(prepared(odd), penalty).theta
        return float(
            sum(((r[1::2] - a[1::2] @ own) ** 2).sum() for (a, r), own in zip(rows, theta, strict=True))
        )

    assert model.parameters["penalty_used"] == min(GRID, key=error)
    assert model.statistics is odd


@pytest.mark.parametrize(
    ("settings", "more", "message"),
    [
        ({"penalty": "validate"}, {}, 'penalty="validate" needs rows .* fit on logs, give validation='),
        ({}, {"validation": stats_of(drawn(0))}, "validation= was given and penalty is 0.1"),
        ({"penalty": "validate"}, {"validation": stats_of(drawn(0, dim=2))}, "at least one of 3 is required"),
    ],
)
def test_what_cannot_be_validated_is_refused(settings: Any, more: Any, message: str) -> None:
    with pytest.raises(ct.CoterieError, match=message):
        ct.ARMUL(**settings).fit(stats_of(drawn(0)), **more)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"penalty": 0}, "penalty is 0; it must be a finite number above 0"),
        ({"penalty": "cv"}, "penalty is 'cv'; give 'validate' or a number"),
        ({"grid": ()}, "grid is empty"),
        ({"steps": 0, "rate": 1}, "steps is 0"),
    ],
)
def test_refusals(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ct.errors.ParameterError, match=message):
        ct.ARMUL(**settings)
