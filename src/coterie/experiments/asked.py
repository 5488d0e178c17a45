"""What every method loses on the same requests, users whom several methods serve alike being scored once.

Takes: fitted models, a world, how many requests.
Gives: the mean gap of each model and its standard error within this cell.
Paper: SubOpt, averaged over the evaluation rounds; nothing is learned during evaluation.
Next: `cell`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.decision import Policy
from coterie.evaluation import gaps_of
from coterie.experiments import _kernels
from coterie.model import Model
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray
from coterie.worlds import World

_AT_A_TIME = 256  # requests whose candidates stay in the cache while all methods are asked


class Gap(NamedTuple):
    """Mean gap over requests, and the standard error of that mean."""

    mean: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class Served:
    """How one model serves each user (row of its groups), in the form that the kernel takes."""

    group: IntArray
    theta: FloatArray
    factor: FloatArray
    wide: FloatArray
    sign: float
    squared: bool
    mark: FloatArray

    @classmethod
    def of(cls, model: Model, n_users: int) -> "Served":
        """The model's policy in the units of the requests; `mark` (U,) tells unlike policies apart.

        A model that was fitted on rows knows the users of the log only; the others it has never seen.
        """
        policy, bonus = model.policy, model.bonus
        squared = bonus.form == "squared"
        theta = policy.theta / model.scale
        wide = bonus.scale * policy.multiplier / model.scale ** (2 if squared else 1)
        mark = _mark(theta, 1)
        if bonus.sign:  # without a bonus the factor does not count
            mark = mark + _mark(policy.factor, 2) + bonus.sign * wide * (np.e if squared else np.pi)
        rows = model.index.rows(np.arange(n_users))
        group = policy.group[np.where(rows >= 0, rows, model.n_users)]
        return cls(group, theta, policy.factor, wide, float(bonus.sign), squared, mark[group])


def mean_gaps(
    models: Mapping[str, Model],
    world: World,
    rounds: int,
    rng: np.random.Generator,
    probabilities: FloatArray,
) -> dict[str, Gap]:
    """Mean suboptimality gap of each model on the same requests."""
    quick = {
        name: Served.of(model, world.truth.n_users) for name, model in models.items() if _is_plain(model)
    }
    slow = {name: model for name, model in models.items() if name not in quick}
    source = _first_alike(list(quick.values()), world.truth.n_users)
    lost = np.empty((len(models), _AT_A_TIME))
    total, square = np.zeros(len(models)), np.zeros(len(models))
    shape = world.geometry.dim, world.candidates
    lose = _kernels.lose_for(*shape)
    turned, value = np.empty((_AT_A_TIME, *shape)), np.empty((_AT_A_TIME, world.candidates))
    for block in world.requests(rounds, rng, probabilities, _AT_A_TIME):
        theta, here = world.truth.theta[block.user], np.arange(len(block.user))
        _kernels.turn(block.actions, theta, turned, value)
        for at, served in enumerate(quick.values()):
            first = source[at, block.user]
            lose(
                np.flatnonzero(first == at), served.group[block.user], turned, value,
                served.theta, served.factor, served.wide, served.sign, served.squared, lost[at],
            )  # fmt: skip
            lost[at, here] = lost[first, here]
        for at, model in enumerate(slow.values(), start=len(quick)):
            index = model.decide_many(block.user, block.actions, threads=1).index
            lost[at, here] = gaps_of(index, block.actions, theta)
        for at, here_lost in enumerate(lost[:, : len(here)]):  # row by row: no sum depends on the others
            total[at] += here_lost.sum()
            square[at] += here_lost @ here_lost
    mean = total / rounds
    error = np.sqrt(np.maximum(square / rounds - mean**2, 0.0) / rounds)
    found = {
        name: Gap(*pair) for name, *pair in zip([*quick, *slow], mean.tolist(), error.tolist(), strict=True)
    }
    return {name: found[name] for name in models}


def _is_plain(model: Model) -> bool:
    """Whether a choice is the best `theta' a + sign * beta * norm`: a mixture's is not."""
    return type(model) is Model and type(model.policy) is Policy and not model.intercept


def _mark(rows: FloatArray, seed: int) -> FloatArray:
    """One number (G,) per row: equal rows have equal numbers, unlike ones almost surely not."""
    weight = np.random.default_rng(seed).standard_normal(rows.shape[1])
    return np.asarray((rows * weight).sum(axis=1))


def _first_alike(served: Sequence[Served], n_users: int) -> NDArray[np.int64]:
    """Position (M, U) of the first model that serves a user exactly as this one does."""
    source = np.empty((len(served), n_users), dtype=np.int64)
    marks: Any = np.array([one.mark for one in served])
    for at in range(len(served)):
        source[at] = (marks[: at + 1] == marks[at]).argmax(axis=0)
    return source
