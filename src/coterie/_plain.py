"""Plain twins of the compiled factors, solutions and eigenvalues: NumPy, a matrix at a time inside."""

from typing import Any

import numpy as np


def _square(gram: Any) -> Any:
    dim = int((np.sqrt(8 * gram.shape[1] + 1) - 1) / 2 + 0.5)
    square = np.zeros((len(gram), dim, dim))
    rows, columns = np.tril_indices(dim)
    square[:, rows, columns] = gram
    square[:, columns, rows] = gram
    return square


def ridge_solve(gram: Any, prior: Any, moment: Any, theta: Any, factor: Any, keep: bool) -> int:
    """Solutions of `(prior I + gram) theta = moment` and packed Cholesky factors if `keep`."""
    square, failed = _square(gram), 0
    rows, columns = np.tril_indices(moment.shape[1])
    for i, matrix in enumerate(square):
        try:
            lower = np.linalg.cholesky(matrix + prior[i] * np.eye(len(matrix)))
        except np.linalg.LinAlgError:
            failed += 1
            continue
        theta[i] = np.linalg.solve(lower.T, np.linalg.solve(lower, moment[i]))
        if keep:
            factor[i] = lower[rows, columns]
    return failed


def smallest_eigenvalues(gram: Any, smallest: Any) -> None:
    """Smallest eigenvalue of each positive semi-definite matrix."""
    smallest[:] = np.maximum(np.linalg.eigvalsh(_square(gram))[:, 0], 0.0)
