"""A stand-in for real ratings: users scattered as MovieLens' or Yelp's are, for whoever has no file.

Takes: the name of the data set that is stood in for, and a seed.
Gives: a `Truth` with as many users as asked for; it holds no rating of anybody.
Paper: none; the real data sets may not be passed on.
Next: `world`.

The numbers below are the mean and the standard deviation of each coordinate over the 1,000 users' rows of
left singular vectors, scaled to unit length (`paper_tables`), and nothing else of the data. Users are
independent Gaussian rows with these, placed like the real ones. What ratings have beyond two moments
(clumps, tails) is lost.
"""

from typing import Literal

import numpy as np

from coterie.packed import FloatArray
from coterie.worlds.geometry import Geometry
from coterie.worlds.truth import Truth

Likeness = Literal["movielens", "yelp"]

# fmt: off
MOMENTS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "movielens": (
        (0.224, 0.008, 0.008, -0.013, -0.023, -0.002, -0.051, 0.004, -0.001, 0.008, 0.002, 0.023,
         0.012, 0.005, 0.006, 0.001, -0.002, -0.009, 0.006),
        (0.061, 0.239, 0.232, 0.232, 0.233, 0.233, 0.228, 0.228, 0.23, 0.226, 0.225, 0.227, 0.228,
         0.223, 0.228, 0.226, 0.227, 0.228, 0.223),
    ),
    "yelp": (
        (0.182, 0.12, 0.092, 0.066, -0.01, 0.029, -0.013, -0.005, 0.021, -0.017, -0.005, -0.007,
         -0.022, -0.004, -0.014, -0.005, -0.002, 0.006, 0.003),
        (0.158, 0.225, 0.272, 0.264, 0.241, 0.183, 0.164, 0.245, 0.227, 0.22, 0.222, 0.212, 0.223,
         0.223, 0.229, 0.201, 0.215, 0.222, 0.24),
    ),
}
# fmt: on


def stand_in(
    geometry: Geometry,
    rng: np.random.Generator | int | list[int],
    *,
    likeness: Likeness = "movielens",
    n_users: int = 1000,
) -> Truth:
    """Truth of users scattered like those of a data set.

    Coordinates beyond those known are as scattered as the last one.

    >>> from coterie.worlds import Lifted
    >>> stand_in(Lifted(20), 0, n_users=7).theta.shape
    (7, 20)
    """
    rng = np.random.default_rng(rng)
    mean, spread = (_stretched(np.array(known), geometry.raw_dim) for known in MOMENTS[likeness])
    mean[len(MOMENTS[likeness][0]) :] = 0.0
    return Truth(geometry.place(mean + spread * rng.standard_normal((n_users, geometry.raw_dim))), None)


def _stretched(known: FloatArray, dim: int) -> FloatArray:
    """The first `dim` numbers, the last one repeated where there are fewer."""
    return np.append(known, np.full(max(0, dim - len(known)), known[-1]))[:dim]
