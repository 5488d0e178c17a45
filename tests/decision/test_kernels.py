"""The compiled choice against its plain twin, and the twin by hand."""

from typing import Any

import numpy as np
import pytest

from coterie import packed
from coterie.decision import _kernels, _plain

GROUPS, REQUESTS = 4, 60


def chosen(kernel: Any, given: tuple[Any, ...], top: int) -> tuple[Any, Any, Any]:
    index = np.empty((len(given[0]), top), dtype=np.int64)
    estimate, width = np.full(index.shape, np.nan), np.full(index.shape, np.nan)
    kernel(*given, index, estimate, width)
    return index, estimate, width


def instance(dim: int, sign: float, squared: bool, wide: float, seed: int) -> tuple[Any, ...]:
    """Requests of 1 to 12 actions, some of them twice, laid end to end in any order."""
    rng = np.random.default_rng(seed)
    gram = rng.normal(size=(GROUPS, 2 * dim, dim))
    factor = packed.pack(np.asarray(np.linalg.cholesky(gram.swapaxes(1, 2) @ gram + 0.5 * np.eye(dim))))
    length = rng.integers(1, 13, REQUESTS)
    start = (np.cumsum(length) - length)[rng.permutation(REQUESTS)]
    length = np.array([dict(zip(np.cumsum(length) - length, length, strict=True))[s] for s in start])
    action = rng.normal(size=(int(length.sum()), dim))
    action[1::5] = action[::5][: len(action[1::5])]  # neighbours that are equal: ties
    group, theta = rng.integers(0, GROUPS, REQUESTS), rng.normal(size=(GROUPS, dim))
    multiplier = wide * rng.random(GROUPS)
    return group, start, length, action, theta, factor, multiplier, sign, squared, 1.5


@pytest.mark.parametrize("dim", [1, 2, 7, 20])
@pytest.mark.parametrize("sign", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("wide", [0.0, 0.01, 1.0, 30.0])
@pytest.mark.parametrize("top", [1, 3])
def test_the_compiled_choice_is_the_plain_one(
    dim: int, sign: float, squared: bool, wide: float, top: int
) -> None:
    """Equal to rounding; a wide or a narrow bonus takes the long or the short way through the kernel.

    Equal actions may be told apart by the twin's rounding, so the actions are compared, not the indices.
    """
    given = instance(dim, sign, squared, wide, seed=dim)
    mine, theirs = (chosen(kernel, given, top) for kernel in (_kernels.choose, _plain.choose))
    np.testing.assert_array_equal(mine[0] < 0, theirs[0] < 0)
    start, action = given[1][:, np.newaxis], given[3]
    np.testing.assert_array_equal(action[start + mine[0]], action[start + theirs[0]])
    np.testing.assert_allclose(mine[1], theirs[1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mine[2], theirs[2], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sign", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("n", [1, 2, 4, 5, 6, 21])
def test_ties_go_to_the_lowest_index(sign: float, n: int) -> None:
    """All actions are the same one, so their scores are the same number whichever way it is computed."""
    action = np.tile(np.array([[0.3, -0.7, 0.2]]), (n, 1))
    model = np.array([[1.0, 2.0, 3.0]]), packed.pack(np.eye(3)[np.newaxis]), np.ones(1)
    given = np.zeros(1, np.int64), np.zeros(1, np.int64), np.array([n]), action, *model, sign, False, 1.0
    assert chosen(_kernels.choose, given, 1)[0].tolist() == [[0]]


def test_the_twin_by_hand() -> None:
    """L = diag(2, 1): actions (2, 0), (0, 1) have norms 1, 1; estimates with theta (1, 3) are 2 and 3; beta 4
    and scale 1/2 make widths 2 and 2, scores 0 and 1; the third place has no action."""
    model = np.array([[1.0, 3.0]]), np.array([[2.0, 0.0, 1.0]]), np.array([4.0])
    sets = np.zeros(1, np.int64), np.zeros(1, np.int64), np.array([2]), np.array([[2.0, 0.0], [0.0, 1.0]])
    for kernel in (_plain.choose, _kernels.choose):
        index, estimate, width = chosen(kernel, (*sets, *model, -1.0, False, 0.5), 3)
        assert index.tolist() == [[1, 0, -1]]
        assert (estimate[0, :2].tolist(), width[0, :2].tolist()) == ([3, 2], [2, 2])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [0, 1])
def test_an_action_that_is_not_finite_marks_its_request(bad: float, at: int) -> None:
    """Also where theta is 0 and the bad action would never be chosen."""
    action = np.array([[1.0], [0.5], [1.0], [0.25]])
    action[at] = bad
    model = np.zeros((1, 1)), np.ones((1, 1)), np.ones(1)
    sets = np.zeros(2, np.int64), np.array([0, 2]), np.array([2, 2]), action
    for kernel in (_plain.choose, _kernels.choose):
        index = chosen(kernel, (*sets, *model, -1.0, False, 1.0), 1)[0]
        assert index.tolist() == [[_plain.NOT_FINITE], [1]]
