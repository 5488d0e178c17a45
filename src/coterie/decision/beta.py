r"""What the norm of an action is multiplied by: the beta of the paper, or that of the online baselines.

Takes: pooled counts and settings.
Gives: one multiplier per group.
Paper: beta in the decision phases; the online literature's beta for the baselines.
Next: `decide`.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from coterie.confidence import Confidence, multiplier
from coterie.packed import FloatArray


class Beta(Protocol):
    """A multiplier of the width."""

    def of(
        self, confidence: Confidence, count: FloatArray, n_priors: FloatArray, *, dim: int, n_users: int
    ) -> FloatArray:
        """Multiplier (G,) of groups with these counts and so many priors."""


@dataclass(frozen=True)
class PaperBeta:
    """As printed, ending in sqrt(lambda); with `proof`, in sqrt(lambda n)."""

    proof: bool = False

    def of(
        self, confidence: Confidence, count: FloatArray, n_priors: FloatArray, *, dim: int, n_users: int
    ) -> FloatArray:
        """See `coterie.confidence.multiplier`."""
        return multiplier(confidence, count, dim=dim, n_users=n_users, n_priors=n_priors, proof=self.proof)


@dataclass(frozen=True)
class OnlineBeta:
    r"""Multiplier of the online clustering literature after t rounds, noise scale and theta bound 1.

    .. math:: \beta = \sqrt{d \ln(1 + N / d) + 4 \ln t + \ln 2} + 1

    Examples
    --------
    >>> beta = OnlineBeta(rounds=1.0)
    >>> beta.of(Confidence(), np.zeros(1), np.ones(1), dim=3, n_users=2).round(4).tolist()
    [1.8326]
    """

    rounds: float

    def of(
        self,
        confidence: Confidence,  # noqa: ARG002
        count: FloatArray,
        n_priors: FloatArray,  # noqa: ARG002
        *,
        dim: int,
        n_users: int,  # noqa: ARG002
    ) -> FloatArray:
        """The formula."""
        tail = 4 * math.log(max(self.rounds, 1.0)) + math.log(2)
        return np.asarray(np.sqrt(dim * np.log1p(count / dim) + tail) + 1)
