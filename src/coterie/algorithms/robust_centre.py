r"""Vanilla ARMUL from sums: every user's vector near one shared centre, exactly solved.

Takes: counts, moments and Grams of the users, and the penalty C.
Gives: `Shrunk`: a vector per user and the centre.
Paper: Duan and Wang (2023), vanilla ARMUL, least squares.
Next: `armul`.

.. math::
    \min_{\theta, g} \sum_j n_j \Big[ \frac{1}{n_j} \sum_i (r_{ji} - a_{ji}' \theta_j)^2
    + C \sqrt{d / n_j} \, \|\theta_j - g\| \Big]
    = \sum_j \big[ \theta_j' G_j \theta_j - 2 b_j' \theta_j + \kappa_j \|\theta_j - g\| \big] + const,
    \quad \kappa_j = C \sqrt{d \, n_j}

Given g, user j's problem has one unknown. With v = theta_j - g, c = b_j - G_j g and x = ||v|| / kappa_j,

.. math:: v = x \, w(x), \quad w(x) = 2 (I + 2 x G_j)^{-1} c, \quad \|w(x)\| = \kappa_j

or v = 0, x = 0 where ||2c|| <= kappa_j. In the eigenvectors of G_j that is a sum of d terms, and
1 / ||w(x)|| is concave and rising, so that Newton's method climbs from 0 to the root without passing it.
What is left is a smooth convex function of g, of gradient -sum w_j, for Newton's method again.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coterie import packed
from coterie.packed import FloatArray
from coterie.statistics import UserStatistics

_SINGULAR = 1e-12  # an eigenvalue below this times d times the largest counts as 0
_ROOT_STEPS = 100
_CENTRE_STEPS = 200
_HALVINGS = 40
_DONE = 1e-13  # gradient of the centre, relative to the sums that cancel in it
_ENOUGH = 1e-4  # share of the promised decrease that a step must bring


@dataclass(frozen=True, eq=False)
class Shrunk:
    """Vectors `theta` (U, d) of the users and the `centre` (d,) that they are drawn to."""

    theta: FloatArray
    centre: FloatArray


@dataclass(frozen=True, eq=False)
class Problem:
    """Users in the eigenvectors of their Grams, in scaled units.

    `count` (U,), eigenvalues `values` (U, d), `vectors` (U, d, d), `moment` (U, d).
    """

    count: FloatArray
    values: FloatArray
    vectors: FloatArray
    moment: FloatArray

    def turned(self, one: FloatArray) -> FloatArray:
        """A vector (d,) in the eigenvectors (U, d) of each user."""
        return np.asarray(np.einsum("ndk,d->nk", self.vectors, one))

    def back(self, own: FloatArray) -> FloatArray:
        """Vectors (U, d) in the common coordinates."""
        return np.asarray(np.einsum("ndk,nk->nd", self.vectors, own))


class _Inner(NamedTuple):
    """Users' solutions given a centre: w (U, d) and v (U, d) in the eigenvectors, x (U,), the objective."""

    w: FloatArray
    v: FloatArray
    x: FloatArray
    objective: float


def prepared(stats: UserStatistics, scale: float = 1.0) -> Problem:
    """The problem of these statistics, good for any penalty."""
    values, vectors = np.linalg.eigh(packed.unpack(stats.packed_gram) / scale**2)
    solid = values > values[:, -1:] * stats.dim * _SINGULAR
    moment = np.einsum("ndk,nd->nk", vectors, stats.moment / scale)
    return Problem(stats.count, np.where(solid, values, 0.0), vectors, np.where(solid, moment, 0.0))


def shrink(problem: Problem, penalty: float, start: FloatArray | None = None) -> Shrunk:
    """The optimum. Users without data get the centre; of several best centres, the one first reached.

    `start` is a centre to begin with, that of a penalty near by; unless given, everybody's least squares.

    >>> one = {"count": [1, 1], "moment": [[0.0], [8.0]], "gram": [[[1.0]], [[1.0]]]}
    >>> stats = UserStatistics.from_arrays(users=[1, 2], **one, reward_square=[0.0, 64.0])
    >>> shrink(prepared(stats), 2.0).theta.round(9).tolist()  # 2 (theta_j - 0 or 8) = -+ 2
    [[1.0], [7.0]]
    """
    kappa = penalty * np.sqrt(problem.values.shape[1] * problem.count)
    centre = _pooled(problem) if start is None else start
    inner = _given(problem, kappa, centre)
    enough = _DONE * (kappa.sum() + np.abs(problem.moment).sum())
    for _ in range(_CENTRE_STEPS):
        gradient = -problem.back(inner.w).sum(axis=0)
        if np.linalg.norm(gradient) <= enough:
            break
        step = _newton_step(_curvature(problem, inner), gradient)
        moved = _moved(problem, kappa, centre, inner, gradient, step)
        if moved is None:
            break
        centre, inner = moved
    return Shrunk(centre + problem.back(inner.v), centre)


def descend(stats: UserStatistics, scale: float, penalty: float, steps: int, rate: float) -> Shrunk:
    r"""Where `steps` proximal gradient steps of length `rate` from 0 lead: far from the optimum if few.

    .. math::
        v_j \leftarrow \mathrm{prox}_{\eta C \sqrt{d / n_j} \|\cdot\|}
        \Big( v_j - \tfrac{2 \eta}{n_j} (G_j (g + v_j) - b_j) \Big), \quad
        g \leftarrow g - \tfrac{2 \eta}{\sum_j n_j} \sum_j (G_j (g + v_j) - b_j)

    the order of Duan and Wang's own program, one step for the users in each for the centre.
    """
    gram, moment = packed.unpack(stats.packed_gram) / scale**2, stats.moment / scale
    count = np.where(stats.count > 0, stats.count, 1.0)[:, np.newaxis]
    shrunk_by = rate * penalty * np.sqrt(stats.dim / count)
    centre, own = np.zeros(stats.dim), np.zeros_like(moment)
    for _ in range(steps):
        residual = _residual(gram, moment, centre + own)
        moved = own - 2 * rate * residual / count
        length = np.linalg.norm(moved, axis=1, keepdims=True)
        own = moved * np.maximum(0.0, 1 - shrunk_by / np.where(length > 0, length, 1.0))
        residual = _residual(gram, moment, centre + own)
        centre = centre - 2 * rate * residual.sum(axis=0) / max(stats.n_samples, 1.0)
    return Shrunk(centre + own, centre)


def _residual(gram: FloatArray, moment: FloatArray, theta: FloatArray) -> FloatArray:
    """G theta - b (U, d): half the gradient of each user's squared error."""
    return np.asarray((gram @ theta[:, :, np.newaxis])[:, :, 0] - moment)


def _pooled(problem: Problem) -> FloatArray:
    """Everybody's least squares, of least norm: the centre that an infinite penalty gives."""
    gram = np.einsum("nik,nk,njk->ij", problem.vectors, problem.values, problem.vectors, optimize=True)
    moment = problem.back(problem.moment).sum(axis=0)
    return np.asarray(np.linalg.lstsq(gram, moment, rcond=_SINGULAR * len(gram))[0])


def _given(problem: Problem, kappa: FloatArray, centre: FloatArray) -> _Inner:
    """Every user's solution for this centre."""
    at = problem.turned(centre)
    doubled = 2 * (problem.moment - problem.values * at)
    x = _root(doubled, 2 * problem.values, kappa)
    w = doubled / (1 + 2 * problem.values * x[:, np.newaxis])
    v = w * x[:, np.newaxis]
    theta = at + v
    loss = float(((problem.values * theta - 2 * problem.moment) * theta).sum())
    return _Inner(w, v, x, loss + float((kappa * np.linalg.norm(v, axis=1)).sum()))


def _root(doubled: FloatArray, slope: FloatArray, kappa: FloatArray) -> FloatArray:
    """Each x (U,) at which ||doubled / (1 + slope x)|| falls to kappa, 0 where it starts there."""
    x = np.zeros(len(kappa))
    active = np.flatnonzero(np.linalg.norm(doubled, axis=1) > kappa)
    for _ in range(_ROOT_STEPS):
        below = 1 + slope[active] * x[active, np.newaxis]
        square = (doubled[active] / below) ** 2
        total = square.sum(axis=1)
        fall = (square * slope[active] / below).sum(axis=1)
        step = (np.sqrt(total) / kappa[active] - 1) * total / np.where(fall > 0, fall, 1.0)
        x[active] += np.maximum(step, 0.0)
        active = active[step > np.finfo(np.float64).eps * x[active]]
        if not len(active):
            break
    return x


def _curvature(problem: Problem, inner: _Inner) -> FloatArray:
    r"""Hessian (d, d) in the centre.

    .. math:: \sum_j Q_j \Big( E_j - \frac{(E_j u_j)(E_j u_j)'}{u_j' E_j u_j} \Big) Q_j',
        \quad E_j = \mathrm{diag} \frac{2 \lambda}{1 + 2 \lambda x}, \quad u_j = v_j / \|v_j\|

    without the second term where v_j = 0; from the implicit function theorem.
    """
    bent = 2 * problem.values / (1 + 2 * problem.values * inner.x[:, np.newaxis])
    plain = np.einsum("nik,nk,njk->ij", problem.vectors, bent, problem.vectors, optimize=True)
    along = problem.back(bent * inner.w)
    weight = (bent * inner.w**2).sum(axis=1)
    part = (inner.x > 0) & (weight > 0)
    return np.asarray(plain - (along[part] / weight[part, np.newaxis]).T @ along[part])


def _newton_step(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    """Step down; curvatures lost in rounding count as the least that is not."""
    values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
    least = max(float(values[-1]) * len(values) * _SINGULAR, np.finfo(np.float64).tiny)
    return np.asarray(-vectors @ ((vectors.T @ gradient) / np.maximum(values, least)))


def _moved(
    problem: Problem,
    kappa: FloatArray,
    centre: FloatArray,
    inner: _Inner,
    gradient: FloatArray,
    step: FloatArray,
) -> tuple[FloatArray, _Inner] | None:
    """Centre and solutions after the longest of the halved steps that helps, None where none does.

    Close to the optimum the objective is flat to the last digit; there a smaller gradient decides.
    """
    slope, size = float(gradient @ step), float(np.linalg.norm(gradient))
    flat = 1e-13 * abs(inner.objective)
    for halving in range(_HALVINGS):
        length = math.ldexp(1.0, -halving)
        tried = _given(problem, kappa, centre + length * step)
        gain = inner.objective - tried.objective
        smaller = np.linalg.norm(problem.back(tried.w).sum(axis=0)) < size
        if (gain > flat and gain >= -_ENOUGH * length * slope) or (abs(gain) <= flat and smaller):
            return centre + length * step, tried
    return None
