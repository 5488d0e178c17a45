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

_ROWS_AT_A_TIME = 256

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
        """Row by row in a compiled loop; candidates are drawn a block at a time."""
        from coterie.worlds import _kernels

        dim, n_users = world.geometry.dim, world.truth.n_users
        action, reward = np.empty((len(user), dim)), np.empty(len(user))
        root = np.tile(np.sqrt(self.ridge) * np.eye(dim), (n_users, 1, 1))
        moment = np.zeros((n_users, dim))
        for start in range(0, len(user), _ROWS_AT_A_TIME):
            part = slice(start, start + _ROWS_AT_A_TIME)
            offered = random_vectors(world.geometry, (len(user[part]), world.candidates), rng)
            noise = world.noise * rng.standard_normal(len(offered))
            _kernels.linucb_rows(
                user[part], offered, noise, world.truth.theta, self.alpha, self.truth,
                root, moment, action[part], reward[part],
            )  # fmt: skip
        return action, reward
