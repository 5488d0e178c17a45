r"""Candidate actions of one user, weighed: what each is worth, on whose data, and what made the difference.

Takes: what a model decides by for the user, what the user's own data alone say, and the actions.
Gives: a `Comparison`: every candidate with its interval, the choice, the choice on own data alone, and
the features by which the chosen action is ahead of the runner-up.
Paper: the decision phases; an estimate is linear in the rewards, so its parts can be told apart.
Next: `explanation`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coterie.decision import ActionSets, Bonus, Policy, choose
from coterie.packed import FloatArray, unpack

_CLOSE = 1e-6


@dataclass(frozen=True)
class Candidate:
    """One action as the model sees it, and as the user's own data alone would.

    The reward is in `[low, high]` as far as the confidence goes, whatever the bonus does with it.
    `own_part` is the part of `estimate` that comes from the user's own rewards, None where the algorithm's
    estimate is no ridge estimate of the pooled data; `own_estimate` and `own_score` are those of the
    user's own data alone.
    """

    index: int
    name: object
    score: float
    estimate: float
    low: float
    high: float
    own_part: float | None
    own_score: float
    own_estimate: float


@dataclass(frozen=True)
class Contribution:
    r"""What one feature adds to the lead of the chosen action: (chosen - runner_up) * weight."""

    feature: str
    chosen: float
    runner_up: float
    weight: float
    difference: float


@dataclass(frozen=True)
class Comparison:
    """Candidates, best first; indices count the actions as they were given.

    `contributions` are sorted by size and add up to the difference of the estimates of the chosen action
    and of `runner_up` (None where there is one action); `width_difference` is what the widths add to the
    difference of their scores.
    """

    chosen: int
    own_choice: int
    runner_up: int | None
    candidates: tuple[Candidate, ...]
    contributions: tuple[Contribution, ...]
    width_difference: float

    def candidate(self, index: int) -> Candidate:
        """The candidate that was given in this place."""
        return next(one for one in self.candidates if one.index == index)


class Served(NamedTuple):
    """A policy of one user: her row in it, and the moment (d,) that its estimate was solved for."""

    policy: Policy
    row: int
    moment: FloatArray


def compare(
    pooled: Served, own: Served, actions: FloatArray, bonus: Bonus, names: Sequence[object]
) -> tuple[tuple[Candidate, ...], int]:
    r"""Candidates, best first, and the index of the choice on own data alone.

    With M~ the pooled precision and b_u the user's own moment, the own part of the estimate of a is

    .. math:: a' \tilde M^{-1} b_u, \quad\text{of}\quad a' \tilde M^{-1} \sum_v b_v.
    """
    ranked, scores, estimates = _scored(pooled, actions, bonus)
    alone, own_scores, own_estimates = _scored(own, actions, bonus)
    group = pooled.policy.group[pooled.row]
    lower = np.tril(unpack(np.asarray(pooled.policy.factor[group])))
    half = np.linalg.solve(lower, actions.T)
    reach = float(pooled.policy.multiplier[group]) * np.linalg.norm(half, axis=0)
    parts = None
    if _is_ridge(pooled, lower):
        parts = half.T @ np.linalg.solve(lower, own.moment)
    found = [
        Candidate(
            index=k,
            name=names[k],
            score=float(scores[k]),
            estimate=float(estimates[k]),
            low=float(estimates[k] - reach[k]),
            high=float(estimates[k] + reach[k]),
            own_part=None if parts is None else float(parts[k]),
            own_score=float(own_scores[k]),
            own_estimate=float(own_estimates[k]),
        )
        for k in ranked
    ]
    return tuple(found), alone[0]


def contributions(
    chosen: FloatArray, runner_up: FloatArray, theta: FloatArray, features: Sequence[str]
) -> tuple[Contribution, ...]:
    """What each feature adds to the lead of one action over another, largest first.

    >>> lead = contributions(np.array([1.0, 2.0]), np.array([1.0, 0.0]), np.array([9.0, 0.25]), ["a", "b"])
    >>> [(one.feature, one.difference) for one in lead]
    [('b', 0.5), ('a', 0.0)]
    """
    difference = (chosen - runner_up) * theta
    return tuple(
        Contribution(
            features[j], float(chosen[j]), float(runner_up[j]), float(theta[j]), float(difference[j])
        )
        for j in np.argsort(-np.abs(difference), kind="stable").tolist()
    )


def _scored(served: Served, actions: FloatArray, bonus: Bonus) -> tuple[list[int], FloatArray, FloatArray]:
    """Actions in the order of their scores, and the scores (K,) and estimates (K,) as they were given."""
    n = len(actions)
    one_set = ActionSets(actions, np.zeros(1, dtype=np.int64), np.array([n]))
    choice = choose(served.policy, np.array([served.row]), one_set, bonus, top=n)
    order = choice.index[0]
    estimates, widths = np.empty(n), np.empty(n)
    estimates[order], widths[order] = choice.estimate[0], choice.width[0]
    return order.tolist(), estimates + bonus.sign * widths, estimates


def _is_ridge(served: Served, lower: FloatArray) -> bool:
    """Whether the policy's estimate solves M theta = b, as all but a few algorithms' do."""
    theta = served.policy.theta[served.policy.group[served.row]]
    size = np.abs(served.moment).max(initial=0.0) + 1.0
    return bool(np.allclose(lower @ (lower.T @ theta), served.moment, rtol=0, atol=_CLOSE * size))
