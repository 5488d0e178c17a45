"""How vectors lie: on the unit sphere, or lifted by a constant coordinate.

Takes: raw rows, Gaussian or singular vectors.
Gives: actions and preference vectors of length at most 1.
Paper: the synthetic data set (`Sphere`, as printed); `Lifted` is what the published tables need.
Next: `synthetic`, `ratings`, `world`.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from coterie.packed import FloatArray


class Geometry(Protocol):
    """A way to place raw rows."""

    @property
    def dim(self) -> int:
        """Coordinates of a placed vector."""

    @property
    def raw_dim(self) -> int:
        """Coordinates of a raw row."""

    def place(self, raw: FloatArray) -> FloatArray:
        """Vectors (..., dim) of raw rows (..., raw_dim)."""


@dataclass(frozen=True)
class Sphere:
    """Unit vectors: raw rows divided by their length.

    >>> Sphere(2).place(np.array([[3.0, 4.0]])).tolist()
    [[0.6, 0.8]]
    """

    dim: int

    @property
    def raw_dim(self) -> int:
        """All coordinates are free."""
        return self.dim

    def place(self, raw: FloatArray) -> FloatArray:
        """Divide by the length."""
        return np.asarray(raw / _length(raw))


@dataclass(frozen=True)
class Lifted:
    """Unit vectors with a constant 1 appended, all divided by sqrt 2, so that inner products lie in [0, 1].

    >>> Lifted(3).place(np.array([[3.0, 4.0]])).round(3).tolist()
    [[0.424, 0.566, 0.707]]
    """

    dim: int

    @property
    def raw_dim(self) -> int:
        """The last coordinate is constant."""
        return self.dim - 1

    def place(self, raw: FloatArray) -> FloatArray:
        """Divide by the length, append 1, divide by sqrt 2."""
        placed = np.empty((*raw.shape[:-1], self.dim))
        np.divide(raw, _length(raw) * np.sqrt(2.0), out=placed[..., :-1])
        placed[..., -1] = np.sqrt(0.5)
        return placed


def _length(raw: FloatArray) -> FloatArray:
    """Lengths (..., 1) of rows, several times faster than `norm` where rows are short."""
    return np.asarray(np.sqrt(np.einsum("...j,...j->...", raw, raw))[..., np.newaxis])


def random_vectors(geometry: Geometry, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Placed Gaussian rows (*shape, dim): uniformly random directions.

    >>> random_vectors(Lifted(4), (2, 3), np.random.default_rng(0)).shape
    (2, 3, 4)
    """
    return geometry.place(rng.standard_normal((*shape, geometry.raw_dim)))
