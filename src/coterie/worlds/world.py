"""A world: the truth, how actions lie, who is served, how actions were logged.

Takes: a `Truth` and a choice for each of the others.
Gives: logs (`draw`) and new requests (`requests`) of users with candidate sets.
Paper: the problem formulation, and the setup of the experiments.
Next: `coterie.evaluation`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from coterie.logs import Logs
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray
from coterie.worlds.geometry import Geometry, random_vectors
from coterie.worlds.logging_policy import LoggingPolicy, RandomChoice
from coterie.worlds.service import Equal, Service
from coterie.worlds.truth import Truth

_REQUESTS_AT_A_TIME = 8192


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows of a log as arrays, and the truth."""

    user: IntArray
    action: FloatArray
    reward: FloatArray
    truth: Truth

    @property
    def logs(self) -> Logs:
        """Logs held in memory."""
        return Logs.from_arrays(self.user, self.action, self.reward)


class RequestBlock(NamedTuple):
    """Requests: users (B,) and their candidate actions (B, K, d)."""

    user: IntArray
    actions: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class World:
    """Where logs and requests come from.

    `probabilities` (U,) may fix who is served; else `service` draws them anew for each log. `candidates`
    actions are drawn afresh for each row and each request.
    """

    truth: Truth
    geometry: Geometry
    noise: float = 0.05
    candidates: int = 20
    service: Service = field(default_factory=Equal)
    logging: LoggingPolicy = field(default_factory=RandomChoice)

    def draw(
        self, n_rows: int, rng: np.random.Generator | int, probabilities: FloatArray | None = None
    ) -> Drawn:
        """Log of `n_rows` rows."""
        rng = np.random.default_rng(rng)
        if probabilities is None:
            probabilities = self.service.probabilities(self.truth, rng)
        user = self._users(n_rows, probabilities, rng)
        action, reward = self.logging.log(self, user, rng)
        return Drawn(user, action, reward, self.truth)

    def rewards(self, user: IntArray, action: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Noisy rewards of actions (n, d)."""
        mean = np.einsum("ij,ij->i", action, self.truth.theta[user])
        return np.asarray(mean + self.noise * rng.standard_normal(len(user)))

    def requests(
        self,
        n: int,
        rng: np.random.Generator,
        probabilities: FloatArray,
        at_a_time: int = _REQUESTS_AT_A_TIME,
    ) -> Iterator[RequestBlock]:
        """Stream of `n` requests in blocks, so that the candidates of a million need no memory.

        They are independent, so that their order does not matter: a user's follow one another, which keeps
        what she is served from in the processor's cache.
        """
        everybody = np.sort(self._users(n, probabilities, rng))
        for start in range(0, n, at_a_time):
            user = everybody[start : start + at_a_time]
            yield RequestBlock(user, random_vectors(self.geometry, (len(user), self.candidates), rng))

    def _users(self, n: int, probabilities: FloatArray, rng: np.random.Generator) -> IntArray:
        """Users by inverse transform: a uniform number falls into a user's part of [0, 1)."""
        edges = np.cumsum(probabilities)
        edges /= edges[-1]
        return np.searchsorted(edges, rng.random(n), side="right")
