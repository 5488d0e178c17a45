"""Packed symmetric matrices against NumPy's square ones."""

import numpy as np
import pytest

from coterie import packed
from coterie.packed import FloatArray

DIMS = [1, 2, 3, 20, 33]


def grams(n: int, dim: int, rank: int) -> FloatArray:
    rows = np.random.default_rng(dim).normal(size=(n, rank, dim))
    return np.asarray(np.einsum("nri,nrj->nij", rows, rows))


@pytest.mark.parametrize("dim", DIMS)
def test_pack_and_unpack(dim: int) -> None:
    """Row by row of the lower triangle; leading axes stay."""
    square = grams(4, dim, dim)
    triangles = packed.pack(square)
    assert triangles.shape == (4, packed.packed_size(dim)) == (4, dim * (dim + 1) // 2)
    assert triangles[0].tolist() == [square[0, i, j] for i in range(dim) for j in range(i + 1)]
    np.testing.assert_array_equal(
        packed.unpack(triangles), np.tril(square) + np.tril(square, -1).swapaxes(1, 2)
    )
    np.testing.assert_array_equal(packed.unpack(triangles[0]), packed.unpack(triangles)[0])
    assert packed.pack(square.reshape(2, 2, dim, dim)).shape == (2, 2, dim * (dim + 1) // 2)
    np.testing.assert_array_equal(triangles[:, packed.diagonal_positions(dim)], np.einsum("nii->ni", square))


def test_sizes() -> None:
    """Triangular numbers have a dimension, others have none."""
    sizes = {dim * (dim + 1) // 2: dim for dim in range(200)}
    assert [packed.dim_of(size) for size in range(5000)] == [sizes.get(size) for size in range(5000)]


@pytest.mark.parametrize(("n", "dim"), [(0, 3), (1, 1), (10, 600), (3000, 20), (5, 2000)])
def test_chunks_cover_everything_once(n: int, dim: int) -> None:
    parts = list(packed.chunks(n, dim))
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(n))
    assert all((part.stop - part.start) * dim * dim <= max(1 << 20, dim * dim) for part in parts)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("each", [False, True])
def test_factors_and_solutions(dim: int, each: bool) -> None:
    square = grams(6, dim, 2)
    ridge = np.linspace(0.5, 3.0, 6) if each else 0.7
    full = square + np.asarray(ridge)[..., np.newaxis, np.newaxis] * np.eye(dim)
    np.testing.assert_allclose(packed.regularised(packed.pack(square), ridge), full, rtol=1e-14)
    factor = packed.factorise(packed.pack(square), ridge)
    np.testing.assert_array_equal(np.triu(factor, 1), 0.0)
    np.testing.assert_allclose(factor @ factor.swapaxes(1, 2), full, atol=1e-11)
    right = np.random.default_rng(0).normal(size=(6, dim))
    kept = right.copy()
    np.testing.assert_allclose(
        packed.solve(factor, right),
        np.linalg.solve(full, right[..., np.newaxis])[..., 0],
        rtol=1e-9,
        atol=1e-11,
    )
    np.testing.assert_array_equal(right, kept)


def test_solution_by_hand() -> None:
    """L = [[2, 0], [1, 1]]: L L' = [[4, 2], [2, 2]] and x = (1, 2) gives (8, 6)."""
    factor = np.array([[[2.0, 0.0], [1.0, 1.0]]])
    np.testing.assert_allclose(packed.solve(factor, np.array([[8.0, 6.0]])), [[1.0, 2.0]], rtol=1e-15)


@pytest.mark.parametrize("dim", DIMS)
def test_smallest_eigenvalues(dim: int) -> None:
    """Full rank against the singular values of the rows; of lower rank zero, and never below."""
    rows = np.random.default_rng(1).normal(size=(7, dim + 3, dim))
    full = packed.pack(np.einsum("nri,nrj->nij", rows, rows))
    expected = np.linalg.svd(rows, compute_uv=False)[:, -1] ** 2
    np.testing.assert_allclose(packed.smallest_eigenvalues(full), expected, rtol=1e-8)
    if dim > 1:
        low = packed.smallest_eigenvalues(packed.pack(grams(7, dim, 1)))
        assert (low >= 0).all()
        np.testing.assert_allclose(low, 0.0, atol=1e-12)
    assert packed.smallest_eigenvalues(np.zeros((0, packed.packed_size(dim)))).shape == (0,)


def test_smallest_eigenvalues_over_many_chunks() -> None:
    """diag(i + 1, ..., i + 1, i): 3,000 matrices of dimension 20 take two chunks."""
    square = np.einsum("n,ij->nij", np.arange(3000.0) + 1, np.eye(20))
    square[:, 7, 7] -= 1
    np.testing.assert_allclose(packed.smallest_eigenvalues(packed.pack(square)), np.arange(3000.0), atol=1e-9)


@pytest.mark.parametrize("dim", [1, 2, 3, 8, 20])
@pytest.mark.parametrize("rank", [0, 1, 3, 40])
def test_many_matrices_side_by_side_and_their_plain_twin(dim: int, rank: int) -> None:
    """Solutions, factors and smallest eigenvalues to a few roundings of the largest; 37 is no whole block."""
    from coterie import _kernels, _plain

    rng = np.random.default_rng(dim + rank)
    gram = packed.pack(grams(37, dim, rank)) * 10.0 ** rng.integers(-3, 3)
    prior, moment = rng.random(37) + 0.5, rng.standard_normal((37, dim))
    found = []
    for twin in (_kernels, _plain):
        theta, factor, smallest = np.empty((37, dim)), np.empty_like(gram), np.empty(37)
        assert twin.ridge_solve(gram, prior, moment, theta, factor, True) == 0
        twin.smallest_eigenvalues(gram, smallest)
        found.append((theta, factor, smallest))
    largest = gram.max(initial=1.0)
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-12, rtol=1e-9)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-12 * largest, rtol=1e-9)
    np.testing.assert_allclose(found[0][2], found[1][2], atol=1e-13 * dim * largest)


def test_a_matrix_without_a_factor_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        packed.ridge_solutions(np.array([[1.0, 2.0, 1.0]]), 0.0, np.ones((1, 2)))
