r"""The suboptimality gap: reward lost by a decision, where the truth is known.

Takes: decisions and the truth.
Gives: the gap of each decision.
Paper: SubOpt of the problem formulation.
"""

import numpy as np

from coterie.model import Model
from coterie.packed import FloatArray


def gaps_of(index: object, actions: FloatArray, theta: FloatArray) -> FloatArray:
    r"""Reward lost by each choice, >= 0.

    .. math:: \langle \theta_u, a^* \rangle - \langle \theta_u, a_{\text{chosen}} \rangle

    `actions` (B, K, d), `theta` (B, d), `index` (B,).

    Examples
    --------
    >>> gaps_of([1], np.array([[[1.0], [0.25]]]), np.array([[2.0]])).tolist()
    [1.5]
    """
    value = np.einsum("bkd,bd->bk", actions, theta)
    chosen = np.take_along_axis(value, np.asarray(index)[:, np.newaxis], axis=1)[:, 0]
    return np.asarray(value.max(axis=1) - chosen)


def mean_gap(model: Model, users: object, actions: FloatArray, theta: FloatArray) -> float:
    """Mean suboptimality gap of a model over requests with known preference vectors."""
    return float(gaps_of(model.decide_many(users, actions).index, actions, theta).mean())
