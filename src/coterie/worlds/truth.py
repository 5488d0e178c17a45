"""The truth behind a world, which algorithms never see."""

from dataclasses import dataclass

import numpy as np

from coterie.errors import ParameterError
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray


@dataclass(frozen=True, eq=False)
class Truth:
    """Preference vector (U, d) of every user 0 to U - 1, and her cluster (U,), None where there are none."""

    theta: FloatArray
    labels: IntArray | None

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.theta)

    @property
    def gap(self) -> float:
        """Least distance of two clusters' preference vectors, the paper's gamma; infinite for one cluster.

        >>> Truth(np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]]), np.array([0, 1, 1])).gap
        5.0
        """
        if self.labels is None:
            raise ParameterError("these users are in no clusters, so no gap is known; use a synthetic world")
        first = np.unique(self.labels, return_index=True)[1]
        centres = self.theta[first]
        apart = np.linalg.norm(centres[:, np.newaxis] - centres, axis=2)
        return float(apart.min(where=~np.eye(len(first), dtype=bool), initial=np.inf))
