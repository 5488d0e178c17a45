r"""A log cut in two, user by user: what cross-validation in two folds learns from and is judged by.

Takes: `Logs`, or statistics together with those of rows held out.
Gives: pairs of `UserStatistics` to learn from and to be judged by, and the squared error on the latter.
Next: `armul`, `validated_gap`.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Literal

import numpy as np

from coterie import packed
from coterie.algorithms.compose import statistics_of
from coterie.errors import LogError
from coterie.logs import Batch, Logs
from coterie.packed import FloatArray
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics, summarize

Folds = tuple[tuple[UserStatistics, UserStatistics], ...]


def folds_of(
    data: UserStatistics | Logs, validation: UserStatistics | None, name: str, progress: Progress = silent
) -> tuple[UserStatistics, Folds]:
    """Statistics to fit on, and pairs to learn from and to be judged by, for a parameter of this name."""
    if validation is not None:
        stats = statistics_of(data, progress)
        if validation.dim != stats.dim or validation.n_samples == 0:
            raise LogError(
                f"validation has {validation.n_samples:g} samples of {validation.dim} coordinates; "
                f"at least one of {stats.dim} is required"
            )
        return stats, ((stats, validation),)
    if not isinstance(data, Logs):
        statistics_of(data, progress)
        raise LogError(
            f'{name}="validate" needs rows to hold out and statistics have none; fit on logs, give '
            f"validation= (statistics of other rows), or give {name} as a number"
        )
    odd, even = halves(data, progress)
    return odd + even, ((odd, even), (even, odd)) if even.n_samples else ((odd, odd),)


def squared_error(theta: FloatArray, held: UserStatistics, scale: float) -> float:
    r"""Sum of squared errors of vectors (n, d) in scaled units, one for each user held out.

    .. math:: \sum_u \left( \sum r^2 - 2 \theta_u' b_u + \theta_u' G_u \theta_u \right)
    """
    gram, moment = packed.unpack(held.packed_gram) / scale**2, held.moment / scale
    explained = np.einsum("ni,nij,nj->", theta, gram, theta, optimize=True) - 2 * (theta * moment).sum()
    return float(held.reward_square.sum() + explained)


def halves(logs: Logs, progress: Progress = silent) -> tuple[UserStatistics, UserStatistics]:
    """Statistics of every user's odd rows, and of her even ones; a row of weight 2 is two of them.

    >>> logs = Logs.from_arrays(["a", "a", "b", "a"], [[1.0]] * 4, [1.0, 2.0, 4.0, 8.0])
    >>> [half.moment.ravel().tolist() for half in halves(logs)]
    [[9.0, 4.0], [2.0, 0.0]]
    """
    own = {field.name: getattr(logs, field.name) for field in fields(Logs)}
    odd, even = (summarize(kind(**own), progress=progress) for kind in (_Odd, _Even))
    return odd, even


class _Odd(Logs):
    """The rows of a log with the weights that they have in the odd half."""

    half: Literal[0, 1] = 0

    def batches(self, threads: int | None = None) -> Iterator[Batch]:
        """Stream of batches; a row takes as much of its user's line as it weighs."""
        seen: dict[object, float] = {}
        for batch in super().batches(threads):
            weight = np.ones(len(batch)) if batch.weight is None else batch.weight
            end = _ends(batch, weight, seen)
            odd = np.clip(_odd_length(end) - _odd_length(end - weight), 0.0, weight)
            yield replace(batch, weight=odd if self.half == 0 else weight - odd)


class _Even(_Odd):
    """The same of the even half."""

    half = 1


def _ends(batch: Batch, weight: FloatArray, seen: dict[object, float]) -> FloatArray:
    """Where each row ends on its user's line, which goes on from batch to batch."""
    users, row = np.unique(batch.users, return_inverse=True)
    start = np.array([seen.get(user, 0.0) for user in users.tolist()])
    order = np.argsort(row, kind="stable")
    sums = np.cumsum(weight[order])
    first = np.searchsorted(row[order], np.arange(len(users)))
    before = np.where(first > 0, sums[first - 1], 0.0)
    ends = np.empty(len(weight))
    ends[order] = sums - before[row[order]] + start[row[order]]
    last = np.append(first[1:], len(order)) - 1
    seen.update(zip(users.tolist(), ends[order[last]].tolist(), strict=True))
    return ends


def _odd_length(x: FloatArray) -> FloatArray:
    """How much of [0, x) lies in the first, the third, the fifth unit interval, and so on."""
    return np.floor(x / 2) + np.minimum(np.mod(x, 2), 1.0)
