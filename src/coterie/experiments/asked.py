"""What every method loses on the same requests, users whom several methods serve alike being scored once.

Takes: fitted models, a world, how many requests.
Gives: the mean gap of each model and its standard error within this cell.
Paper: SubOpt, averaged over the evaluation rounds; nothing is learned during evaluation.
Next: `cell`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coterie.decision import Policy
from coterie.evaluation import gaps_of
from coterie.experiments import _kernels
from coterie.experiments._plain import AllServed
from coterie.model import Model
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray, diagonal_positions
from coterie.worlds import World

_AT_A_TIME = 128  # requests whose candidates stay in the cache while all methods are asked


class Gap(NamedTuple):
    """Mean gap over requests, and the standard error of that mean."""

    mean: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class Served:
    """How one model serves each user: `row` (U,) of its policies, in the units of the requests.

    The factors have the reciprocals of their diagonals. `mark` (U,) tells unlike policies apart,
    `factor_mark` (U,) unlike factors.
    """

    row: IntArray
    theta: FloatArray
    factor: FloatArray
    wide: FloatArray
    sign: float
    squared: bool
    mark: FloatArray
    factor_mark: FloatArray

    @classmethod
    def of(cls, model: Model, n_users: int) -> "Served":
        """The model's policies.

        A model that was fitted on rows knows the users of the log only; the others it has never seen.
        """
        policy, bonus = model.policy, model.bonus
        squared = bonus.form == "squared"
        theta = policy.theta / model.scale
        wide = bonus.scale * policy.multiplier / model.scale ** (2 if squared else 1)
        mark, of_factor = _mark(theta, 1), _mark(policy.factor, 2)
        if bonus.sign:  # without a bonus the factor does not count
            mark = mark + of_factor + bonus.sign * wide * (np.e if squared else np.pi)
        rows = model.index.rows(np.arange(n_users))
        row = policy.group[np.where(rows >= 0, rows, model.n_users)]
        factor, diagonal = np.array(policy.factor), diagonal_positions(model.dim)
        factor[:, diagonal] = 1 / factor[:, diagonal]
        return cls(row, theta, factor, wide, float(bonus.sign), squared, mark[row], of_factor[row])


def all_served(models: Sequence[Model], n_users: int) -> AllServed:
    """What the kernel takes of these models: their tables one below the other."""
    each = [Served.of(model, n_users) for model in models]
    below = np.cumsum([0, *(len(one.theta) for one in each)])
    return AllServed(
        row=_across(one.row + start for one, start in zip(each, below, strict=False)),
        first=_first_alike([one.mark for one in each]),
        alike=_first_alike([one.factor_mark for one in each]),
        theta=np.concatenate([one.theta for one in each]),
        factor=np.concatenate([one.factor for one in each]),
        wide=np.concatenate([one.wide for one in each]),
        sign=np.array([one.sign for one in each]),
        squared=np.array([one.squared for one in each]),
    )


def mean_gaps(
    models: Mapping[str, Model],
    world: World,
    rounds: int,
    rng: np.random.Generator,
    probabilities: FloatArray,
) -> dict[str, Gap]:
    """Mean suboptimality gap of each model on the same requests."""
    quick = {name: model for name, model in models.items() if _is_plain(model)}
    slow = {name: model for name, model in models.items() if name not in quick}
    tables = all_served(list(quick.values()), world.truth.n_users) if quick else None
    ask = _kernels.ask_for(world.geometry.dim, world.candidates)
    total, square = np.zeros(len(models)), np.zeros(len(models))
    for block in world.requests(rounds, rng, probabilities, _AT_A_TIME):
        if tables is not None:
            ask(block.user, block.actions, world.truth.theta, tables, total, square)
        for at, model in enumerate(slow.values(), start=len(quick)):
            index = model.decide_many(block.user, block.actions, threads=1).index
            lost = gaps_of(index, block.actions, world.truth.theta[block.user])
            total[at] += lost.sum()
            square[at] += lost @ lost
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
    return np.asarray(np.einsum("gj,j->g", rows, weight))


def _first_alike(marks: Sequence[FloatArray]) -> IntArray:
    """Position (U, M) of the first model whose mark (U,) of a user is the same as this one's."""
    table = np.array(marks)
    return _across((table[: at + 1] == table[at]).argmax(axis=0) for at in range(len(table)))


def _across(columns: Iterable[IntArray]) -> IntArray:
    """Columns (U,) side by side, each row in one piece of memory."""
    return np.ascontiguousarray(np.array(list(columns), dtype=np.int64).T)
