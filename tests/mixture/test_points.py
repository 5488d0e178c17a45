"""Starts and merges of points: against marginal likelihoods of SciPy, and by hand."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from coterie import packed
from coterie.mixture.expect import Expected, Sums, expect
from coterie.mixture.leaders import leaders
from coterie.mixture.merges import joined, weights_gain, worth
from coterie.mixture.population import Population
from coterie.mixture.posterior import posterior_of

NOISE = 0.3


def rows(theta: np.ndarray, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    action = rng.normal(size=(n, len(theta)))
    return action, action @ theta + np.sqrt(NOISE) * rng.normal(size=n)


def log_evidence(action: np.ndarray, reward: np.ndarray, mean: np.ndarray, cov: np.ndarray) -> float:
    """Of rows whose preference vector is drawn from N(mean, cov)."""
    spread = action @ cov @ action.T + NOISE * np.eye(len(reward))
    return float(multivariate_normal(action @ mean, spread).logpdf(reward))


def test_what_one_point_instead_of_two_is_worth_is_a_ratio_of_evidences() -> None:
    rng = np.random.default_rng(0)
    mean, root = rng.normal(size=3), rng.normal(size=(3, 3))
    cov = root @ root.T + np.eye(3)
    (a, r), (c, s) = rows(mean, 5, rng), rows(mean + 1, 4, rng)
    ratio = log_evidence(np.vstack([a, c]), np.concatenate([r, s]), mean, cov)
    ratio -= log_evidence(a, r, mean, cov) + log_evidence(c, s, mean, cov)
    prior = np.linalg.inv(cov)
    grams = np.array([a.T @ a, c.T @ c, a.T @ a + c.T @ c, np.zeros((3, 3))]) / NOISE
    moments = np.array([a.T @ r, c.T @ s, a.T @ r + c.T @ s, np.zeros(3)]) / NOISE
    first, second, both, nobody = worth(prior + grams, prior @ mean + moments)
    assert both + nobody - first - second == pytest.approx(ratio, rel=1e-9)


def test_what_the_weights_gain_by_hand() -> None:
    """Under flat weights of two points, labels 1, 2, 2 in this order have the chance 1! 2! / 4! = 1 / 12.

    A single point has its label for certain.
    """
    gain = weights_gain(np.array([1.0, 2.0]), np.array([0]), np.array([1]))
    assert gain[0] == pytest.approx(np.log(12))


def three_points(apart: float) -> tuple[Population, Expected]:
    """Two points `apart` from each other and one far away, 30 rows each."""
    rng = np.random.default_rng(1)
    centre = np.array([[0.0, 0.0], [apart, 0.0], [9.0, 9.0]])
    made = [rows(c, 30, rng) for c in centre]
    users = Sums(
        np.full(3, 30.0),
        np.array([a.T @ r for a, r in made]),
        np.array([packed.pack(a.T @ a) for a, _ in made]),
        np.array([r @ r for _, r in made]),
    )
    doubt = np.repeat(packed.pack(0.01 * np.eye(2))[np.newaxis], 3, axis=0)
    population = Population(np.full(3, -np.log(3)), centre, np.empty((0, 3)), doubt, NOISE)
    return population, expect(users, population)


@pytest.mark.parametrize(("apart", "left"), [(0.0, 2), (3.0, 3)])
def test_points_that_are_one_are_made_one_and_others_are_not(apart: float, left: int) -> None:
    population, seen = three_points(apart)
    found = joined(population, seen, np.zeros(2), packed.pack(0.1 * np.eye(2)), at_a_loss=False)
    assert (3 if found is None else found.n_components) == left
    if found is not None:
        assert found.weight.sum() == pytest.approx(1)
        assert found.weight[0] == pytest.approx(2 / 3)


def test_at_a_loss_the_pair_that_loses_least_is_made_one_and_one_point_is_left_alone() -> None:
    population, seen = three_points(3.0)
    beliefs = np.zeros(2), packed.pack(0.1 * np.eye(2))
    found = joined(population, seen, *beliefs, at_a_loss=True)
    assert found is not None
    np.testing.assert_allclose(found.centre[1], [9, 9])
    single = Population(np.zeros(1), np.zeros((1, 2)), np.empty((0, 3)), population.doubt[:1], NOISE)
    assert joined(single, seen, *beliefs, at_a_loss=True) is None


def test_leaders_find_two_groups_and_nobody_with_data_makes_one() -> None:
    rng = np.random.default_rng(2)
    centre = np.array([[3.0, 0.0], [0.0, 3.0]])
    made = [rows(centre[u % 2], 60, rng) for u in range(20)]
    users = Sums(
        np.full(20, 60.0),
        np.array([a.T @ r for a, r in made]),
        np.array([packed.pack(a.T @ a) for a, _ in made]),
        np.array([r @ r for _, r in made]),
    )
    spread = packed.pack(4 * np.eye(2))[np.newaxis]
    one = Population(np.zeros(1), np.array([[1.5, 1.5]]), spread, np.zeros_like(spread), NOISE)
    found = leaders(posterior_of(users, one))
    nearest = np.linalg.norm(found[:, np.newaxis] - centre, axis=2)
    assert set(nearest.argmin(axis=1)) == {0, 1}  # both groups, and no leader between them
    assert nearest.min(axis=1).max() < 0.5
    assert len(found) < 5
    nothing = Sums(np.zeros(5), np.zeros((5, 2)), np.zeros((5, 3)), np.zeros(5))
    np.testing.assert_allclose(leaders(posterior_of(nothing, one)), [[1.5, 1.5]])
