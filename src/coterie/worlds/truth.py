"""The truth behind a world, which algorithms never see."""

from dataclasses import dataclass

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
