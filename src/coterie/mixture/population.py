r"""What is believed about users before their rows are seen: a mixture of points and Gaussians, and the noise.

Takes: weights, centres, covariances.
Gives: a `Population`.
Paper: none; exact points are the clusters of the paper's model.
Next: `expect`.
"""

from dataclasses import dataclass, fields

import numpy as np

from coterie import packed
from coterie.packed import FloatArray


@dataclass(frozen=True, eq=False)
class Population:
    r"""theta_u ~ sum_k weight_k N(centre_k, spread_k), rewards with variance `noise`, in scaled units.

    The first K - G components are exact points, without a spread; `spread` (G, d (d + 1) / 2) has the
    covariances of the others, packed. `doubt` (K, d (d + 1) / 2) is the covariance of the centres
    themselves, since they are learned; `log_weight` (K,) is the expected logarithm of the weights.
    """

    log_weight: FloatArray
    centre: FloatArray
    spread: FloatArray
    doubt: FloatArray
    noise: float

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name != "noise":
                object.__setattr__(self, field.name, packed.read_only(getattr(self, field.name)))

    @property
    def n_components(self) -> int:
        """Number of components K."""
        return len(self.centre)

    @property
    def n_points(self) -> int:
        """Number of components that are exact points."""
        return len(self.centre) - len(self.spread)

    @property
    def dim(self) -> int:
        """Coordinates of a preference vector."""
        return int(self.centre.shape[1])

    @property
    def weight(self) -> FloatArray:
        """Weights (K,), which add up to 1."""
        share = np.exp(self.log_weight - self.log_weight.max())
        return np.asarray(share / share.sum())

    @property
    def linear(self) -> FloatArray:
        r"""Coefficients (d + d (d + 1) / 2, K) of a user's sums in `c' G c + tr(G C) - 2 b'c`.

        The last term but one is the points': a Gaussian component's centre is taken as known.
        """
        square = self.centre[:, :, np.newaxis] * self.centre[:, np.newaxis, :]
        both = packed.pack(square)
        both[: self.n_points] += self.doubt[: self.n_points]
        twice = np.full(both.shape[1], 2.0)
        twice[packed.diagonal_positions(self.dim)] = 1.0
        return np.ascontiguousarray(np.hstack([-2 * self.centre, both * twice]).T)

    @property
    def precision(self) -> tuple[FloatArray, FloatArray]:
        """Packed precisions of the spreads, and their log determinants (G,)."""
        return inverse(self.spread)


def inverse(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Packed inverses of packed matrices, and the log determinants of those inverses.

    >>> inverse(np.array([[4.0]]))[0]
    array([[0.25]])
    """
    if not len(covariance):
        return np.empty_like(covariance), np.empty(0)
    lower = np.linalg.cholesky(packed.unpack(covariance))
    dim = lower.shape[-1]
    eye = np.broadcast_to(np.eye(dim), lower.shape)
    root = np.linalg.solve(lower, eye)
    log_det = -2 * np.log(np.einsum("gii->gi", lower)).sum(axis=1)
    return packed.pack(np.matmul(root.swapaxes(1, 2), root)), log_det
