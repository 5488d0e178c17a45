"""A fitted model: decides for any user, tells who lends to whom and why.

Takes: what `compose` computed.
Gives: a `Model`, immutable; `decide`, `decide_many`, `neighbours`, `explain`, `save`.
Paper: the decision phases; D-tilde_u and n-tilde_u.
Next: `coterie.model_file`.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie import packed
from coterie.confidence import Confidence, factorise, multiplier
from coterie.decision import ActionSets, Bonus, Choice, Decision, Decisions, Policy, choose
from coterie.errors import ActionError, FileError, ParameterError
from coterie.logs.logs import default_threads
from coterie.model.candidates import Comparison, Served, compare, contributions
from coterie.model.explanation import Explanation, LeftOut, Lender, why_lends
from coterie.model.report import FitReport
from coterie.neighbourhood import Metric, Neighbourhood, SameLabel
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray
from coterie.statistics import UserStatistics
from coterie.user_ids import Ids, UserIndex


@dataclass(frozen=True, eq=False)
class Evidence:
    """What explaining and updating need beyond deciding: own statistics, radii and the neighbourhood."""

    statistics: UserStatistics
    neighbourhood: Neighbourhood
    radius: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A fitted model.

    `users`, `theta`, `pooled_count` and `pooled_users` are aligned with the statistics' users; `theta` is
    in the units of the logs; `scale` is the length by which actions were divided.
    """

    algorithm: str
    parameters: dict[str, Any]
    index: UserIndex
    policy: Policy
    confidence: Confidence
    bonus: Bonus
    scale: float
    features: tuple[str, ...] | None
    intercept: bool
    report: FitReport
    evidence: Evidence | None

    def __repr__(self) -> str:
        """The model in one line; `str(model.report)` says more."""
        return f"<{self.algorithm} model of {self.n_users} users, {self.dim} coordinates>"

    @property
    def users(self) -> Ids:
        """User ids (U,)."""
        return self.index.ids

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.index)

    @property
    def dim(self) -> int:
        """Coordinates that an action given to `decide` must have."""
        return int(self.policy.theta.shape[1]) - int(self.intercept)

    @property
    def theta(self) -> FloatArray:
        """Pooled estimate (U, d) of each user, in the units of the logs."""
        return self.policy.theta[self.policy.group[:-1]] / self.scale

    @property
    def pooled_count(self) -> FloatArray:
        """Samples (U,) that each user is served from."""
        return self.policy.count[self.policy.group[:-1]]

    @property
    def pooled_users(self) -> IntArray:
        """Users (U,) that each user is served from, herself included."""
        return self.policy.n_pooled[self.policy.group[:-1]].astype(np.int64)

    @property
    def gap(self) -> FloatArray | None:
        """Gap (U,) of each user in scaled units, None for algorithms without one."""
        hood = self._kept("gaps").neighbourhood
        return hood.limit[:-1] if isinstance(hood, Metric) and hood.strict else None

    @property
    def statistics(self) -> UserStatistics:
        """The users' own statistics: add more logs to them and fit again."""
        return self._kept("statistics").statistics

    def with_bonus(self, bonus: Bonus) -> "Model":
        """Same model deciding with another sign, form or scale; beta stays as it was fitted."""
        if bonus.prior != self.bonus.prior:
            raise ParameterError(
                f"prior is {bonus.prior!r} and the model was fitted with {self.bonus.prior!r}, on which beta "
                "depends; fit again with the bonus that is wanted"
            )
        return replace(self, bonus=bonus)

    def decide(self, user: object, actions: object) -> Decision:
        """Best of `actions` (K, d) for one user; a user never seen is a user without data."""
        sets = self._one_set(actions)
        row = self.index.row(user)
        rows = np.array([row if row >= 0 else self.n_users])
        choice = choose(self.policy, rows, sets, self.bonus)
        group = self.policy.group[rows[0]]
        estimate, width = float(choice.estimate[0, 0]), float(choice.width[0, 0])
        return Decision(
            index=int(choice.index[0, 0]),
            estimate=estimate,
            width=width,
            score=estimate + self.bonus.sign * width,
            pooled_count=float(self.policy.count[group]),
            pooled_users=int(self.policy.n_pooled[group]),
            seen=row >= 0,
        )

    def decide_many(self, users: object, actions: object, *, threads: int | None = None) -> Decisions:
        """Best action of each request: `actions` (B, K, d), or one shared set (K, d)."""
        rows = self.index.rows(users)
        sets = self._sets(actions, len(rows))
        return self.decide_rows(rows, sets, threads=threads)

    def decide_rows(
        self, rows: IntArray, sets: ActionSets, *, top: int | None = None, threads: int | None = None
    ) -> Decisions:
        """Best action, or best `top` actions, of sets of any sizes for users by row (-1: never seen).

        `sets` holds actions without the intercept.
        """
        asked = np.where(rows >= 0, rows, self.n_users)
        ready = sets._replace(action=self._ready(sets.action))
        choice = choose(
            self.policy, asked, ready, self.bonus, top=top or 1, threads=threads or default_threads()
        )
        if top is None:
            choice = Choice(choice.index[:, 0], choice.estimate[:, 0], choice.width[:, 0])
        group = self.policy.group[asked]
        return Decisions(
            index=choice.index,
            estimate=choice.estimate,
            width=choice.width,
            score=choice.estimate + self.bonus.sign * choice.width,
            pooled_count=self.policy.count[group],
            pooled_users=self.policy.n_pooled[group].astype(np.int64),
            seen=rows >= 0,
        )

    def neighbours(self, user: object) -> Ids:
        """Ids of the users that lend to this one, herself included if she is known."""
        evidence = self._kept("neighbours")
        row = self.index.row(user)
        return self.users[evidence.neighbourhood.trace(row if row >= 0 else self.n_users).lends]

    def explain(
        self, user: object, actions: object = None, *, names: Sequence[object] | None = None
    ) -> Explanation:
        """Who lends to this user and why, the gap used, and why others are left out.

        With `actions` (K, d), and `names` for them, also what each is worth, what would have been chosen on
        the user's own data alone, and which features put the chosen action ahead.
        """
        evidence = self._kept("explanations")
        known = self.index.row(user)
        row = known if known >= 0 else self.n_users
        trace, count = evidence.neighbourhood.trace(row), evidence.statistics.count
        group = self.policy.group[row]
        pooled = float(self.policy.count[group])
        lenders = sorted(np.flatnonzero(trace.lends).tolist(), key=lambda v: (v != row, -count[v], v))
        others = np.flatnonzero(~trace.lends)
        others = others[np.argsort(trace.distance[others], kind="stable")]

        def pair(v: int) -> tuple[object, float, float, float]:
            return self.users[v].item(), float(trace.distance[v]), float(trace.threshold[v]), float(count[v])

        hood = evidence.neighbourhood
        strict = isinstance(hood, Metric) and hood.strict

        def why(v: int) -> str:
            near, limit = float(trace.distance[v]), float(trace.threshold[v])
            labelled = isinstance(hood, SameLabel)
            return why_lends(near, limit, itself=v == row, strict=strict or labelled)

        return Explanation(
            user=user,
            seen=known >= 0,
            algorithm=self.algorithm,
            own_count=float(count[row]) if known >= 0 else 0.0,
            pooled_count=pooled,
            pooled_users=int(self.policy.n_pooled[group]),
            radius=float(evidence.radius[row]),
            gap=float(hood.limit[row]) if isinstance(hood, Metric) and strict else None,
            neighbours=tuple(
                Lender(*pair(v), share=float(count[v]) / pooled if pooled else 0.0, reason=why(v))
                for v in lenders
            ),
            left_out=tuple(LeftOut(*pair(v), reason=hood.reason(row, v, trace)) for v in others.tolist()),
            comparison=None if actions is None else self._compare(row, trace.lends, actions, names),
        )

    def _compare(
        self, row: int, lends: NDArray[np.bool_], actions: object, names: Sequence[object] | None
    ) -> Comparison:
        """Candidate actions of the user in a row, weighed."""
        given = _numbers(actions, "(K, d)", (2,))
        if names is not None and len(names) != len(given):
            raise ActionError(f"{len(names)} names and {len(given)} actions were given; give a name for each")
        stats, ready = self._kept("explanations").statistics, self._ready(given)
        moment = stats.moment[lends].sum(axis=0) / self.scale
        own = self._own_policy(row)
        found, own_choice = compare(
            Served(self.policy, row, moment), own, ready, self.bonus, names or [None] * len(given)
        )
        best, second = found[0], found[1] if len(found) > 1 else None
        theta = self.policy.theta[self.policy.group[row], : self.dim] / self.scale
        features = self.features or tuple(f"coordinate {j}" for j in range(self.dim))
        lead = (
            ()
            if second is None
            else contributions(given[best.index], given[second.index], theta, features[: self.dim])
        )
        widths = 0.0 if second is None else ((best.score - best.estimate) - (second.score - second.estimate))
        runner_up = None if second is None else second.index
        return Comparison(best.index, own_choice, runner_up, found, lead, widths)

    def _own_policy(self, row: int) -> Served:
        """What the user in a row would be served by on her own data alone."""
        stats = self._kept("explanations").statistics
        known = row < self.n_users
        part = slice(row, row + 1)
        count = stats.count[part] if known else np.zeros(1)
        moment = stats.moment[part] / self.scale if known else np.zeros((1, stats.dim))
        gram = stats.packed_gram[part] / self.scale**2 if known else np.zeros((1, stats.packed_gram.shape[1]))
        lower = factorise(gram, self.confidence.ridge)
        wide = multiplier(self.confidence, count, dim=stats.dim, n_users=stats.n_users)
        alone = Policy(
            np.zeros(1, dtype=np.int64),
            packed.solve(lower, moment),
            packed.pack(lower),
            wide,
            count,
            np.ones(1),
        )
        return Served(alone, 0, moment[0])

    def save(self, path: str | os.PathLike[str], *, compact: bool = False) -> None:
        """Write to one file, in one step.

        `compact` leaves out the users' own statistics and the neighbourhood: decisions stay the same,
        but `neighbours`, `explain` and `statistics` are lost, and a warning says so.
        """
        from coterie.model_file import save

        save(self, path, compact=compact)

    def _kept(self, what: str) -> Evidence:
        if self.evidence is None:
            raise FileError(
                f"this model was saved with compact=True and has no {what}; decide with it, or save it whole"
            )
        return self.evidence

    def _one_set(self, actions: object) -> ActionSets:
        matrix = self._ready(_numbers(actions, "(K, d)", (2,)))
        return ActionSets(matrix, np.zeros(1, dtype=np.int64), np.array([len(matrix)]))

    def _sets(self, actions: object, n: int) -> ActionSets:
        array = _numbers(actions, "(B, K, d), or one shared set (K, d)", (2, 3))
        if array.ndim == 2:  # noqa: PLR2004
            return ActionSets(array, np.zeros(n, dtype=np.int64), np.full(n, len(array)))
        b, k, dim = array.shape
        if b != n:
            raise ActionError(
                f"{n} users and {b} action sets were given; one set per user, or one shared (K, d)"
            )
        return ActionSets(array.reshape(b * k, dim), np.arange(b) * k, np.full(b, k))

    def _ready(self, action: FloatArray) -> FloatArray:
        """Actions in scaled units, with the intercept."""
        if action.shape[-1] != self.dim:
            named = f" ({', '.join(self.features[: self.dim])})" if self.features else ""
            raise ActionError(
                f"actions have {action.shape[-1]} coordinates and the model was fitted on {self.dim}{named}; "
                "give the same coordinates in the same order"
            )
        if self.intercept:
            action = np.hstack([action, np.ones((len(action), 1))])
        return np.ascontiguousarray(action if self.scale == 1 else action / self.scale)


def _numbers(actions: object, shape: str, dims: tuple[int, ...]) -> FloatArray:
    """Actions as an array of numbers with at least one action."""
    try:
        array = np.asarray(actions, dtype=np.float64)
    except (TypeError, ValueError) as failure:
        raise ActionError(
            f"actions are not an array of numbers of shape {shape}; give every action the same number of "
            "coordinates, none of them text"
        ) from failure
    if array.shape == (0,) or array.shape[-2:-1] == (0,):
        raise ActionError("the action set is empty; give at least one action to choose from")
    if array.ndim not in dims:
        raise ActionError(f"actions have shape {array.shape}; {shape} is required")
    return array
