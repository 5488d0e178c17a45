r"""How the logged actions were chosen: at random, or by each user's own LinUCB.

Takes: a `World` and the users served, in order.
Gives: actions (n, d) and rewards (n,).
Paper: "Random Selection" and "LinUCB Selection" in the appendix on offline data.
Next: `world`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray
from coterie.worlds.geometry import random_vectors

if TYPE_CHECKING:
    from coterie.worlds.world import World


class LoggingPolicy(Protocol):
    """A way to choose among candidates."""

    def log(self, world: "World", user: IntArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Actions (n, d) and rewards (n,) for users in the order of service."""


@dataclass(frozen=True)
class RandomChoice:
    """Uniformly among the candidates; the others never matter and are not drawn."""

    def log(self, world: "World", user: IntArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """One random action per row."""
        action = random_vectors(world.geometry, (len(user),), rng)
        return action, world.rewards(user, action, rng)


@dataclass(frozen=True)
class LinUCBChoice:
    r"""Each user's own LinUCB on the rows that she had before.

    .. math:: a = \arg\max \langle \hat\theta_u, a \rangle + \alpha \sqrt{a' M_u^{-1} a}

    `truth=True` puts the true theta_u in place of the estimate, as the formula is printed.
    """

    alpha: float = 0.1
    ridge: float = 0.5
    truth: bool = False

    def log(self, world: "World", user: IntArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """All users advance together: in step t, everybody who is served a t-th time chooses."""
        dim = world.geometry.dim
        action, reward = np.empty((len(user), dim)), np.empty(len(user))
        precision = np.tile(self.ridge * np.eye(dim), (world.truth.n_users, 1, 1))
        moment = np.zeros((world.truth.n_users, dim))
        for rows in _steps(user):
            who = user[rows]
            offered = random_vectors(world.geometry, (len(rows), world.candidates), rng)
            theta = world.truth.theta[who]
            chosen = self._choose(precision[who], moment[who], theta, offered)
            action[rows] = offered[np.arange(len(rows)), chosen]
            reward[rows] = world.rewards(who, action[rows], rng)
            precision[who] += action[rows, :, np.newaxis] * action[rows, np.newaxis, :]
            moment[who] += reward[rows, np.newaxis] * action[rows]
        return action, reward

    def _choose(
        self, precision: FloatArray, moment: FloatArray, theta: FloatArray, offered: FloatArray
    ) -> IntArray:
        """Index (n,) of the action with the highest upper confidence bound."""
        solved = np.linalg.solve(
            precision, np.concatenate([offered, moment[:, np.newaxis]], axis=1).swapaxes(1, 2)
        )
        width = np.sqrt(np.einsum("nkd,ndk->nk", offered, solved[:, :, :-1]))
        estimate = theta if self.truth else solved[:, :, -1]
        return np.asarray(np.argmax(np.einsum("nkd,nd->nk", offered, estimate) + self.alpha * width, axis=1))


def _steps(user: IntArray) -> list[IntArray]:
    """Rows in which each user is served for the first time, for the second time, and so on."""
    order = np.argsort(user, kind="stable")
    ordered = user[order]
    first = np.searchsorted(ordered, ordered)
    turn = np.empty(len(user), dtype=np.int64)
    turn[order] = np.arange(len(user)) - first
    by_turn = np.argsort(turn, kind="stable")
    return np.split(by_turn, np.cumsum(np.bincount(turn))[:-1]) if len(user) else []
