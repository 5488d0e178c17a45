"""A synthetic world: users in clusters that share a preference vector.

Takes: sizes, a geometry and a seed.
Gives: a `World`, and from it logs and the truth that algorithms never see.
Paper: the synthetic data set of the experiments.
Next: `world`.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from coterie.errors import ParameterError
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray
from coterie.worlds.geometry import Geometry, Lifted, Sphere, random_vectors
from coterie.worlds.truth import Truth
from coterie.worlds.world import Drawn, World

_MOST_TRIES = 10_000


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """Settings of a synthetic world.

    Parameters
    ----------
    n_users, n_clusters, dim, noise
        Users, clusters (contiguous blocks of users), coordinates, standard deviation of the rewards.
    geometry : "sphere" or "lifted"
        Unit vectors, as printed; or with a constant coordinate, as the published tables need.
    sizes : "equal" or "unequal"
        Clusters of equal size, or of random sizes (Dirichlet(1, ..., 1), at least one user each).
    scatter : float
        Length by which users stray from their cluster's vector, before placing.
    min_gap : float
        Least distance of two clusters' vectors.

    Examples
    --------
    >>> drawn = Synthetic(n_users=4, n_clusters=2, dim=3).draw(n_rows=10, rng=0)
    >>> drawn.action.shape, drawn.truth.labels.tolist()
    ((10, 3), [0, 0, 1, 1])
    """

    n_users: int = 1000
    n_clusters: int = 10
    dim: int = 20
    noise: float = 0.05
    geometry: Literal["sphere", "lifted"] = "sphere"
    sizes: Literal["equal", "unequal"] = "equal"
    scatter: float = 0.0
    min_gap: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.n_clusters <= self.n_users:
            raise ParameterError(
                f"n_clusters is {self.n_clusters} with {self.n_users} users; 1 to n_users are possible"
            )
        if self.dim < self.shape.dim - self.shape.raw_dim + 1:
            raise ParameterError(f"dim is {self.dim}; {self.geometry} vectors need more coordinates")

    @property
    def shape(self) -> Geometry:
        """The geometry as an object."""
        return Sphere(self.dim) if self.geometry == "sphere" else Lifted(self.dim)

    def world(self, rng: np.random.Generator | int) -> World:
        """World with freshly drawn preference vectors."""
        rng = np.random.default_rng(rng)
        labels = self._labels(rng)
        centres = self._centres(rng)[labels]
        if self.scatter:
            centres = centres + self.scatter * rng.standard_normal(centres.shape) / np.sqrt(centres.shape[1])
        return World(truth=Truth(self.shape.place(centres), labels), geometry=self.shape, noise=self.noise)

    def draw(self, n_rows: int, rng: np.random.Generator | int) -> Drawn:
        """Rows of equally often served users with uniformly random actions, from a fresh world."""
        rng = np.random.default_rng(rng)
        return self.world(rng).draw(n_rows, rng)

    def _labels(self, rng: np.random.Generator) -> IntArray:
        if self.sizes == "equal":
            return np.arange(self.n_users) * self.n_clusters // self.n_users
        share = rng.dirichlet(np.ones(self.n_clusters))
        extra = rng.multinomial(self.n_users - self.n_clusters, share)
        return np.repeat(np.arange(self.n_clusters), 1 + extra)

    def _centres(self, rng: np.random.Generator) -> FloatArray:
        """Raw centres (J, raw_dim) of unit length, far enough apart once placed."""
        direction = Sphere(self.shape.raw_dim)
        centres: list[FloatArray] = []
        for _ in range(_MOST_TRIES):
            if len(centres) == self.n_clusters:
                break
            one = random_vectors(direction, (), rng)
            placed = self.shape.place(np.array([one, *centres]))
            if not centres or np.linalg.norm(placed[1:] - placed[0], axis=1).min() >= self.min_gap:
                centres.append(one)
        if len(centres) < self.n_clusters:
            raise ParameterError(
                f"min_gap {self.min_gap:g} leaves room for {len(centres)} of {self.n_clusters} clusters in "
                f"{self.dim} coordinates; give a smaller one"
            )
        return np.array(centres)
