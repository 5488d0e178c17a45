"""Who is served next: every user alike, cluster by cluster unlike, or as told.

Takes: the truth.
Gives: a probability per user, the same for logging and for evaluation.
Paper: "User Probability Distribution" in the basic setup of the experiments.
Next: `world`.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from coterie.errors import ParameterError
from coterie.neighbourhood.clustered import scikit_cluster
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray
from coterie.worlds.truth import Truth

_BLOCK = 100


class Service(Protocol):
    """A distribution over users."""

    def probabilities(self, truth: Truth, rng: np.random.Generator) -> FloatArray:
        """Probability (U,) of each user to be served next."""


@dataclass(frozen=True)
class Equal:
    """Every user with the same probability."""

    def probabilities(self, truth: Truth, rng: np.random.Generator) -> FloatArray:  # noqa: ARG002
        """One over the number of users."""
        return np.full(truth.n_users, 1 / truth.n_users)


@dataclass(frozen=True)
class SemiRandom:
    """Uniform inside a group of users, p ~ Dirichlet(1, ..., 1) over groups.

    Groups are the clusters where the truth has some. Where it has none (ratings), they are contiguous blocks
    of `block` users in the order of selection; or, with `by="k-means"`, as many clusters of preference
    vectors as there would be blocks, found by scikit-learn.
    """

    block: int = _BLOCK
    by: Literal["blocks", "k-means"] = "blocks"

    def __post_init__(self) -> None:
        if self.by not in ("blocks", "k-means"):
            raise ParameterError(f"by is {self.by!r}; give 'blocks' or 'k-means'")

    def probabilities(self, truth: Truth, rng: np.random.Generator) -> FloatArray:
        """Share of a group, spread over its users."""
        groups = self.groups(truth)
        share = rng.dirichlet(np.ones(int(groups.max()) + 1))
        return np.asarray(share[groups] / np.bincount(groups)[groups])

    def groups(self, truth: Truth) -> IntArray:
        """Group (U,) of each user."""
        if truth.labels is not None:
            return truth.labels
        blocks = np.arange(truth.n_users) // self.block
        if self.by == "blocks":
            return blocks
        method = scikit_cluster("SemiRandom").KMeans(int(blocks[-1]) + 1, n_init=5, random_state=0)
        return np.asarray(method.fit_predict(truth.theta), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Arbitrary:
    """Probabilities as told, up to a factor."""

    weights: FloatArray

    def probabilities(self, truth: Truth, rng: np.random.Generator) -> FloatArray:  # noqa: ARG002
        """The weights divided by their sum."""
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (truth.n_users,) or not (weights >= 0).all() or not weights.sum() > 0:
            raise ParameterError(
                f"weights has shape {weights.shape}; ({truth.n_users},) is required: one weight per user, "
                "0 or more and not all 0"
            )
        return np.asarray(weights / weights.sum())
