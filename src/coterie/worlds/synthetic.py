"""A synthetic world: clusters of users on the unit sphere, random actions, Gaussian noise.

Takes: sizes and a seed.
Gives: a `World`: logs, and the truth that algorithms never see.
Paper: the synthetic data set of the experiments.
Next: `coterie.evaluation`.
"""

from dataclasses import dataclass

import numpy as np

from coterie.errors import ParameterError
from coterie.logs import Logs
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray


@dataclass(frozen=True, eq=False)
class Truth:
    """Preference vector (U, d) and cluster (U,) of every user 0 to U - 1."""

    theta: FloatArray
    labels: IntArray


@dataclass(frozen=True, eq=False)
class World:
    """Rows of a log as arrays, and the truth."""

    user: IntArray
    action: FloatArray
    reward: FloatArray
    truth: Truth

    @property
    def logs(self) -> Logs:
        """Logs held in memory."""
        return Logs.from_arrays(self.user, self.action, self.reward)


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """Sizes of a synthetic world; users fall into clusters of equal size and are logged equally often.

    Examples
    --------
    >>> world = Synthetic(n_users=4, n_clusters=2, dim=3).draw(n_rows=10, rng=0)
    >>> world.action.shape, world.truth.labels.tolist()
    ((10, 3), [0, 0, 1, 1])
    """

    n_users: int = 1000
    n_clusters: int = 10
    dim: int = 20
    noise: float = 0.05

    def __post_init__(self) -> None:
        if not 1 <= self.n_clusters <= self.n_users:
            raise ParameterError(
                f"n_clusters is {self.n_clusters} with {self.n_users} users; 1 to n_users are possible"
            )

    def draw(self, n_rows: int, rng: np.random.Generator | int) -> World:
        """Rows of uniformly chosen users with uniformly random unit actions."""
        rng = np.random.default_rng(rng)
        labels = np.arange(self.n_users) * self.n_clusters // self.n_users
        theta = unit_vectors(self.n_clusters, self.dim, rng)[labels]
        user = rng.integers(0, self.n_users, n_rows)
        action = unit_vectors(n_rows, self.dim, rng)
        reward = np.einsum("ij,ij->i", action, theta[user]) + self.noise * rng.standard_normal(n_rows)
        return World(user, action, reward, Truth(theta, labels))


def unit_vectors(n: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Uniformly random unit vectors (n, dim).

    >>> np.linalg.norm(unit_vectors(2, 5, np.random.default_rng(0)), axis=1).round(9).tolist()
    [1.0, 1.0]
    """
    vectors = rng.standard_normal((n, dim))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
