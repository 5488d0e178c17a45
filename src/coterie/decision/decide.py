r"""Stage 6, decision: an action for any user from any action set.

Takes: `PooledStatistics`, a `Confidence`, a prior and a `Bonus`; then users and actions.
Gives: a `Policy`, and from it choices with estimate, width and score.
Paper: the decision phases of Algorithms 1 and 2.
Next: `coterie.algorithms`, which name the choices in every slot.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie import packed
from coterie.confidence import Confidence, ridge_solutions
from coterie.decision.beta import Beta
from coterie.decision.bonus import Bonus
from coterie.errors import ActionError
from coterie.logs.logs import default_threads, in_order
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray
from coterie.pooling import PooledStatistics, Prior

_REQUESTS_AT_A_TIME = 8192


@dataclass(frozen=True)
class Decision:
    """One choice: `score = estimate + sign * width`, in the units of the rewards.

    `pooled_count` samples of `pooled_users` users were used (the user served is one of them); `seen`
    says whether the user was in the logs.
    """

    index: int
    estimate: float
    width: float
    score: float
    pooled_count: float
    pooled_users: int
    seen: bool


@dataclass(frozen=True, eq=False)
class Decisions:
    """Many choices: the fields of `Decision` as arrays (B,), or (B, top) for a ranking."""

    index: IntArray
    estimate: FloatArray
    width: FloatArray
    score: FloatArray
    pooled_count: FloatArray
    pooled_users: IntArray
    seen: NDArray[np.bool_]

    def __len__(self) -> int:
        """Count the requests."""
        return len(self.index)


@dataclass(frozen=True, eq=False)
class Policy:
    """What deciding needs, one row per group of users that borrow from the same ones, in scaled units.

    `group` (U + 1,) names each user's row, the last being a user never seen; `factor` holds packed
    Cholesky factors of the pooled precision, `multiplier` the beta of each group.
    """

    group: IntArray
    theta: FloatArray
    factor: FloatArray
    multiplier: FloatArray
    count: FloatArray
    n_pooled: FloatArray

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, packed.read_only(getattr(self, field.name)))


class ActionSets(NamedTuple):
    """Action sets of many requests, laid end to end: rows `start[b]` to `start[b] + length[b]`."""

    action: FloatArray
    start: IntArray
    length: IntArray


@dataclass(frozen=True, eq=False)
class Choice:
    """Chosen index, estimate and width, each (B, top)."""

    index: IntArray
    estimate: FloatArray
    width: FloatArray


def policy(
    pooled: PooledStatistics,
    prior: Prior,
    confidence: Confidence,
    n_users: int,
    beta: Beta,
    *,
    reuse: bool = False,
) -> Policy:
    r"""Policy of every group.

    .. math:: \tilde M = \lambda n I + \sum a a', \quad \tilde\theta = \tilde M^{-1} \tilde b

    with n the number of priors. `reuse` writes the factors over the pooled Grams, which are then lost.
    """
    n_groups, dim = pooled.moment.shape
    times = prior.times(pooled.n_pooled)
    theta = np.empty((n_groups, dim))
    factor = pooled.packed_gram if reuse else np.empty_like(pooled.packed_gram)

    def some(part: slice) -> None:
        theta[part] = ridge_solutions(
            pooled.packed_gram[part], confidence.ridge * times[part], pooled.moment[part], factor[part]
        )

    for _ in in_order(some, packed.chunks(n_groups, dim), default_threads()):
        pass
    wide = beta.of(confidence, pooled.count, times, dim=dim, n_users=n_users)
    return Policy(pooled.group, theta, factor, wide, pooled.count, pooled.n_pooled)


def choose(
    policy: Policy, rows: IntArray, sets: ActionSets, bonus: Bonus, *, top: int = 1, threads: int = 1
) -> Choice:
    """Best `top` actions for users in these rows (row U: never seen); index -1 where there are fewer.

    Ties go to the lowest index. Requests do not touch each other, so that the number of threads
    changes nothing.
    """
    from coterie.decision import _kernels

    n = len(rows)
    index = np.empty((n, top), dtype=np.int64)
    estimate, width = np.full((n, top), np.nan), np.full((n, top), np.nan)
    group = policy.group[rows]

    def one(start: int) -> None:
        part = slice(start, start + _REQUESTS_AT_A_TIME)
        _kernels.choose(
            group[part], sets.start[part], sets.length[part], sets.action,
            policy.theta, policy.factor, policy.multiplier,
            float(bonus.sign), bonus.form == "squared", bonus.scale,
            index[part], estimate[part], width[part],
        )  # fmt: skip

    starts = range(0, n, _REQUESTS_AT_A_TIME)
    if len(starts) > 1 and threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(one, starts))
    else:
        for start in starts:
            one(start)
    choice = Choice(index, estimate, width)
    _require_finite(choice, sets)
    return choice


def _require_finite(choice: Choice, sets: ActionSets) -> None:
    """Name the first action that is not finite, or too large for its width to be, if any is."""
    marked = np.flatnonzero((choice.index[:, 0] < 0) | ~np.isfinite(choice.width[:, 0]))
    if not len(marked):
        return
    b = int(marked[0])
    size = np.abs(sets.action[sets.start[b] : sets.start[b] + sets.length[b]]).max(axis=1)
    not_finite = ~np.isfinite(size)
    if not_finite.any():
        bad, what = int(not_finite.argmax()), "NaN or infinity; every coordinate must be finite"
    else:
        bad = int(size.argmax())
        what = f"numbers up to {size[bad]:g}, too large to be scored; give it in smaller units"
    raise ActionError(f"action {bad} of request {b} has {what}")
