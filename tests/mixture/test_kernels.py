"""The compiled sweeps against their plain twins, and the twins by hand."""

from typing import Any

import numpy as np
import pytest

from coterie import packed
from coterie.mixture import _kernels, _plain
from coterie.mixture.population import Population, inverse

USERS = 12


def population(dim: int, n_points: int, n_gaussians: int, rng: np.random.Generator) -> Population:
    root = rng.normal(size=(n_points + n_gaussians, dim, dim)) / dim
    covariance = packed.pack(root @ root.swapaxes(1, 2) + 0.1 * np.eye(dim))
    k = n_points + n_gaussians
    weight = rng.dirichlet(np.ones(k))
    centre = rng.normal(size=(k, dim))
    return Population(np.log(weight), centre, covariance[n_points:], 0.01 * covariance, 0.3)


def sums(dim: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Users of 0 to 7 rows."""
    count, moment, gram, square = np.zeros(USERS), np.zeros((USERS, dim)), [], np.zeros(USERS)
    for u in range(USERS):
        action, reward = rng.normal(size=(u % 8, dim)), rng.normal(size=u % 8)
        count[u], moment[u], square[u] = len(reward), reward @ action, reward @ reward
        gram.append(packed.pack(action.T @ action))
    return count, moment, np.array(gram), square


CASES = [
    (dim, points, gaussians) for dim in (1, 3, 8) for points, gaussians in ((1, 0), (3, 0), (0, 1), (2, 3))
]


@pytest.mark.parametrize(("dim", "n_points", "n_gaussians"), CASES)
@pytest.mark.parametrize("heat", [0.3, 1.0])
def test_the_compiled_sweep_agrees_with_its_twin(
    dim: int, n_points: int, n_gaussians: int, heat: float
) -> None:
    rng = np.random.default_rng(dim)
    users, drawn = sums(dim, rng), population(dim, n_points, n_gaussians, rng)
    size, k = packed.packed_size(dim), n_points + n_gaussians
    found = []
    for module in (_plain, _kernels):
        shapes = ((USERS, k), (2,), (k,), (n_gaussians, dim), (n_gaussians, size), (n_points, dim))
        arrays = [np.zeros(shape) for shape in (*shapes, (n_points, size))]
        sweep: Any = module.expect
        sweep(
            *users, drawn.log_weight, drawn.linear, drawn.centre[n_points:].copy(), *drawn.precision,
            drawn.noise, heat, *arrays,
        )  # fmt: skip
        found.append(arrays)
    for plain, compiled in zip(*found, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("dim", "n_points", "n_gaussians"), CASES)
def test_the_compiled_posterior_agrees_with_its_twin(dim: int, n_points: int, n_gaussians: int) -> None:
    rng = np.random.default_rng(dim)
    (count, moment, gram, square), drawn = sums(dim, rng), population(dim, n_points, n_gaussians, rng)
    found = []
    for module in (_plain, _kernels):
        shapes = ((USERS, n_points + n_gaussians), (USERS, dim), gram.shape, (USERS,))
        arrays = [np.zeros(shape) for shape in shapes]
        sweep: Any = module.posterior
        sweep(
            moment, gram, square, count, drawn.log_weight, drawn.linear,
            drawn.centre[:n_points].copy(), drawn.doubt[:n_points].copy(),
            drawn.centre[n_points:].copy(), *drawn.precision, drawn.noise, *arrays,
        )  # fmt: skip
        found.append(arrays)
    for plain, compiled in zip(*found, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-7, atol=1e-9)


def test_one_gaussian_by_hand() -> None:
    """Prior N(1, 4), noise variance 2, rows (a, r) = (1, 3), (1, 5).

    Precision 1/4 + 2/2 = 5/4, mean 1 + (4/5) (8 - 2) / 2 = 3.4; own share (4/5) 2 / 2 = 0.8. The two
    rewards are jointly Gaussian with mean 1 and covariance [[6, 4], [4, 6]]: determinant 20, and
    (2, 4) [[6, -4], [-4, 6]] (2, 4)' / 20 = 56 / 20.
    """
    population = Population(np.zeros(1), np.ones((1, 1)), np.array([[4.0]]), np.zeros((1, 1)), 2.0)
    arrays = [np.zeros(shape) for shape in ((1, 1), (2,), (1,), (1, 1), (1, 1), (0, 1), (0, 1))]
    user = np.array([2.0]), np.array([[8.0]]), np.array([[2.0]]), np.array([34.0])
    _plain.expect(
        *user, population.log_weight, population.linear, population.centre, *population.precision,
        2.0, 1.0, *arrays,
    )  # fmt: skip
    assert arrays[1][0] == pytest.approx(-np.log(2 * np.pi) - 0.5 * np.log(20) - 0.5 * 56 / 20)
    assert arrays[3][0, 0] == pytest.approx(2.4)
    found = [np.zeros(shape) for shape in ((1, 1), (1, 1), (1, 1), (1,))]
    count, moment, gram, square = user
    _plain.posterior(
        moment, gram, square, count, population.log_weight, population.linear,
        np.zeros((0, 1)), np.zeros((0, 1)), population.centre, *population.precision, 2.0, *found,
    )  # fmt: skip
    assert found[1][0, 0] == pytest.approx(3.4)
    assert found[2][0, 0] ** 2 == pytest.approx(1.25)
    assert found[3][0] == pytest.approx(0.8)


def test_two_points_by_hand() -> None:
    """Points -1 and 1 with weights 1/4 and 3/4, noise variance 1, one row (1, 0.5).

    Odds of the second: 3 exp((1.5^2 - 0.5^2) / 2) = 3 e, so the mean is (3 e - 1) / (3 e + 1), and the
    variance 1 - mean^2.
    """
    points = np.array([[-1.0], [1.0]])
    drawn = Population(np.log([0.25, 0.75]), points, np.empty((0, 1)), np.zeros((2, 1)), 1.0)
    found = [np.zeros(shape) for shape in ((1, 2), (1, 1), (1, 1), (1,))]
    _plain.posterior(
        np.array([[0.5]]), np.array([[1.0]]), np.array([0.25]), np.ones(1), drawn.log_weight, drawn.linear,
        points, np.zeros((2, 1)), np.empty((0, 1)), *drawn.precision, 1.0, *found,
    )  # fmt: skip
    mean = (3 * np.e - 1) / (3 * np.e + 1)
    assert found[1][0, 0] == pytest.approx(mean)
    assert found[2][0, 0] ** -2 == pytest.approx(1 - mean**2, rel=1e-6)


def test_inverses_of_packed_matrices() -> None:
    """[[2, 1], [1, 2]] has determinant 3 and the inverse [[2, -1], [-1, 2]] / 3."""
    found, log_det = inverse(np.array([[2.0, 1.0, 2.0]]))
    np.testing.assert_allclose(found * 3, [[2.0, -1.0, 2.0]])
    assert log_det[0] == pytest.approx(-np.log(3))
