"""Symmetric matrices kept as their lower triangle, and the solves that need them.

Takes: packed matrices (n, d (d + 1) / 2), row by row of the lower triangle.
Gives: square matrices, Cholesky factors, solutions and smallest eigenvalues; never an inverse.
Paper: the systems behind theta-hat = M^-1 b and the norm ||a||_{M^-1}.
Next: `coterie.statistics`, which keeps its Gram sums in this form.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_SINGULAR = 1e-12  # an eigenvalue below this times d times the largest counts as 0
_COMPILED = 48  # up to here many small matrices go side by side, above LAPACK takes one at a time
_CHUNK_NUMBERS = 1 << 20  # numbers unpacked at a time (8 MiB): a block that stays near the cache


def packed_size(dim: int) -> int:
    """Numbers in the lower triangle of a `dim` x `dim` matrix.

    >>> packed_size(3)
    6
    """
    return dim * (dim + 1) // 2


def dim_of(size: int) -> int | None:
    """Dimension whose lower triangle has `size` numbers, or None where there is none.

    >>> dim_of(6), dim_of(5)
    (3, None)
    """
    dim = (math.isqrt(8 * size + 1) - 1) // 2
    return dim if packed_size(dim) == size else None


def read_only(array: NDArray[Any]) -> Any:
    """A view of the array that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def pack(square: FloatArray) -> FloatArray:
    """Lower triangles (..., d (d + 1) / 2) of the square matrices (..., d, d).

    >>> pack(np.array([[1.0, 2.0], [2.0, 5.0]]))
    array([1., 2., 5.])
    """
    rows, columns = np.tril_indices(square.shape[-1])
    return np.ascontiguousarray(square[..., rows, columns])


def unpack(packed: FloatArray) -> FloatArray:
    """Square matrices (..., d, d) of lower triangles.

    >>> unpack(np.array([1.0, 2.0, 5.0]))
    array([[1., 2.],
           [2., 5.]])
    """
    dim = dim_of(packed.shape[-1])
    if dim is None:
        raise AssertionError(f"{packed.shape[-1]} numbers are no triangle")
    along = np.arange(dim)
    below = np.maximum(along[:, np.newaxis], along)
    return np.asarray(
        np.take(packed, below * (below + 1) // 2 + np.minimum(along[:, np.newaxis], along), axis=-1)
    )


def diagonal_positions(dim: int) -> NDArray[np.int64]:
    """Where the diagonal stands in a lower triangle.

    >>> diagonal_positions(3)
    array([0, 2, 5])
    """
    steps = np.arange(1, dim + 1)
    return steps * (steps + 1) // 2 - 1


def chunks(n: int, dim: int) -> Iterator[slice]:
    """Slices of `n` matrices, each small enough to be unpacked without a large copy."""
    step = max(1, _CHUNK_NUMBERS // (dim * dim))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def regularised(packed: FloatArray, ridge: FloatArray | float) -> FloatArray:
    r"""Square precision matrices `ridge I + gram`; `ridge` is a number or one number per matrix."""
    square = unpack(packed)
    along = np.arange(square.shape[-1])
    square[..., along, along] += np.asarray(ridge, dtype=np.float64)[..., np.newaxis]
    return square


def factorise(packed: FloatArray, ridge: FloatArray | float) -> FloatArray:
    r"""Lower Cholesky factors L (n, d, d) with `L L' = ridge I + gram`."""
    return np.asarray(np.linalg.cholesky(regularised(packed, ridge)), dtype=np.float64)


def solve(factor: FloatArray, right: FloatArray) -> FloatArray:
    r"""Solutions x (n, d) of `L L' x = right` by two triangular sweeps over all matrices at once.

    >>> float(solve(np.array([[[2.0]]]), np.array([[8.0]]))[0, 0])
    2.0
    """
    solution = np.array(right, dtype=np.float64)
    dim = solution.shape[-1]
    for j in range(dim):
        solution[:, j] -= np.einsum("nk,nk->n", factor[:, j, :j], solution[:, :j])
        solution[:, j] /= factor[:, j, j]
    for j in range(dim - 1, -1, -1):
        solution[:, j] -= np.einsum("nk,nk->n", factor[:, j + 1 :, j], solution[:, j + 1 :])
        solution[:, j] /= factor[:, j, j]
    return solution


def ridge_solutions(
    packed: FloatArray, ridge: FloatArray | float, moment: FloatArray, factor: FloatArray | None = None
) -> FloatArray:
    r"""Solutions (n, d) of `(ridge I + gram) x = moment`; packed Cholesky factors go to `factor` if given.

    `factor` may be `packed` itself. Refused with `LinAlgError` where a matrix has no factor.

    >>> ridge_solutions(np.array([[2.0, 0.0, 3.0]]), 1.0, np.array([[6.0, 8.0]])).tolist()
    [[2.0, 2.0]]
    """
    n, dim = moment.shape
    solution, prior = np.empty((n, dim)), np.broadcast_to(np.asarray(ridge, dtype=np.float64), (n,)).copy()
    if dim <= _COMPILED:
        from coterie import _kernels

        kept = np.empty((0, 0)) if factor is None else factor
        if _kernels.ridge_solve(packed, prior, moment, solution, kept, factor is not None):
            raise np.linalg.LinAlgError("a matrix is not positive definite")
        return solution
    for part in chunks(n, dim):
        lower = factorise(packed[part], prior[part])
        solution[part] = solve(lower, moment[part])
        if factor is not None:
            factor[part] = pack(lower)
    return solution


def smallest_eigenvalues(packed: FloatArray) -> FloatArray:
    """Smallest eigenvalue (n,) of each positive semi-definite matrix, never below zero.

    >>> smallest_eigenvalues(np.array([[2.0, 0.0, 3.0], [1.0, 1.0, 1.0]]))
    array([2., 0.])
    """
    n, size = packed.shape
    smallest, dim = np.zeros(n), dim_of(size) or 1
    if dim <= _COMPILED:
        from coterie import _kernels

        _kernels.smallest_eigenvalues(packed, smallest)
        return smallest
    for part in chunks(n, dim):
        smallest[part] = np.linalg.eigvalsh(unpack(packed[part]))[:, 0]
    return np.maximum(smallest, 0.0)


def least_squares(packed: FloatArray, moment: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Explained sums b' G^+ b (n,) and ranks (n,) of minimum-norm least squares.

    Most Grams have full rank, well away from singular: those are factorised, the others decomposed.

    >>> least_squares(np.array([[2.0, 0.0, 0.0], [1.0, 0.0, 4.0]]), np.array([[2.0, 0.0], [1.0, 4.0]]))
    (array([2., 5.]), array([1., 2.]))
    """
    n, dim = moment.shape
    explained, rank = np.zeros(n), np.full(n, float(dim))
    trace = packed[:, diagonal_positions(dim)].sum(axis=1)
    sound = smallest_eigenvalues(packed) > trace * dim * _SINGULAR
    if sound.any():
        solution = ridge_solutions(packed[sound], 0.0, moment[sound])
        explained[sound] = np.einsum("nd,nd->n", moment[sound], solution)
    if not sound.all():
        values, vectors = np.linalg.eigh(unpack(packed[~sound]))
        solid = values > values[:, -1:] * dim * _SINGULAR
        along = np.einsum("ndk,nd->nk", vectors, moment[~sound])
        explained[~sound] = np.where(solid, along**2 / np.where(solid, values, 1.0), 0.0).sum(axis=1)
        rank[~sound] = solid.sum(axis=1)
    return explained, rank
