r"""Users as points of a plane: the two directions in which their own estimates differ most.

Takes: estimates (U, d).
Gives: coordinates (U, 2), the share of the spread that each direction holds, and its weights.
Next: `survey`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.packed import FloatArray


@dataclass(frozen=True, eq=False)
class Plane:
    """Coordinates (U, 2), shares of the spread (2,) and directions (2, d)."""

    at: FloatArray
    share: FloatArray
    direction: FloatArray


def principal_plane(theta: FloatArray, known: NDArray[np.bool_]) -> Plane:
    r"""The plane of the first two principal directions of the estimates of users with data.

    Eigenvectors of :math:`\sum_u (\hat\theta_u - \bar\theta)(\hat\theta_u - \bar\theta)'`, each with its
    largest weight positive. With one coordinate the second direction is 0.

    Examples
    --------
    >>> plane = principal_plane(np.array([[0.0, 0.0], [0.0, 4.0], [1.0, 2.0]]), np.array([True] * 3))
    >>> plane.at[:, 0].round(2).tolist(), plane.share.round(2).tolist()
    ([-2.0, 2.0, 0.0], [0.92, 0.08])
    """
    used = theta[known] if known.any() else theta
    centre = used.mean(axis=0)
    away = used - centre
    values, vectors = np.linalg.eigh(away.T @ away)
    first = vectors[:, ::-1][:, :2].T
    spread = np.maximum(values[::-1][:2], 0.0)
    if len(first) == 1:
        first, spread = np.vstack([first, np.zeros_like(first)]), np.append(spread, 0.0)
    largest = np.abs(first).argmax(axis=1)
    first = first * np.where(first[np.arange(2), largest] < 0, -1.0, 1.0)[:, np.newaxis]
    total = float(np.maximum(values, 0.0).sum())
    return Plane((theta - centre) @ first.T, spread / total if total else spread, first)
