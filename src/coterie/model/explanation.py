"""Why a user is served as she is: who lends, how much, and why others do not.

Takes: a fitted model and a user.
Gives: an `Explanation`, which prints as a few lines.
Next: `coterie.cli`.
"""

import math
from dataclasses import dataclass

from coterie.model.candidates import Candidate, Comparison

_SHOWN = 8


@dataclass(frozen=True)
class Lender:
    """A user whose data are used, with her share of the pooled samples, and why they are."""

    user: object
    distance: float
    threshold: float
    count: float
    share: float
    reason: str


@dataclass(frozen=True)
class LeftOut:
    """A user whose data are not used, and why."""

    user: object
    distance: float
    threshold: float
    count: float
    reason: str


@dataclass(frozen=True)
class ComponentShare:
    """A component of a mixture: the user's probability of being of it, its size in users, its kind."""

    component: int
    probability: float
    n_users: float
    is_point: bool


@dataclass(frozen=True)
class Explanation:
    """What a decision for one user rests on.

    `neighbours` has the user herself first, then the others by share of the samples; `left_out` is sorted
    by distance. Distances, thresholds, gap and radius are in the scaled units in which the rules are
    evaluated (`model.scale`). `comparison` weighs candidate actions, where some were given.
    Of a mixture, `components` are those that she may be of, likeliest first, `own_information` is the
    share of what is known about her vector that is in her own rows, and `other_samples` are lent by
    users who are not named.
    """

    user: object
    seen: bool
    algorithm: str
    own_count: float
    pooled_count: float
    pooled_users: int
    radius: float
    gap: float | None
    neighbours: tuple[Lender, ...]
    left_out: tuple[LeftOut, ...]
    comparison: Comparison | None = None
    components: tuple[ComponentShare, ...] = ()
    own_information: float | None = None
    other_samples: float = 0.0

    @property
    def own_share(self) -> float:
        """Share of the pooled samples that are the user's own."""
        return self.own_count / self.pooled_count if self.pooled_count else 0.0

    def __str__(self) -> str:
        """A few lines for a person."""
        compared = [] if self.comparison is None else _compared(self, self.comparison)
        if not self.seen:
            return "\n".join([*_unseen(self), *compared])
        gap = "" if self.gap is None else f", gap {self.gap:.3g}"
        lines = [
            f"User {self.user!r}, served by {self.algorithm}: {self.pooled_count:g} samples of "
            f"{_users(self.pooled_users)}, {_percent(self.own_share)} of them own; "
            f"radius {self.radius:.3g}{gap}.",
            *_population(self),
            *_listed("Lends", [_lender(one) for one in self.neighbours]),
            *_listed("Left out", self._left_out()),
            *compared,
        ]
        return "\n".join(lines)

    def _left_out(self) -> list[str]:
        """A line per user left out, or one line where they all have the same reason."""
        reasons = {one.reason for one in self.left_out}
        if len(reasons) == 1 and len(self.left_out) > 1:
            return [f"all {len(self.left_out)} others: {reasons.pop()}"]
        return [f"{one.user!r}: {one.reason}" for one in self.left_out]


def why_lends(distance: float, threshold: float, *, itself: bool, strict: bool) -> str:
    """One clause on why a user's data are used.

    >>> why_lends(0.1, 0.5, itself=False, strict=True)
    'distance 0.1 is below the threshold 0.5'
    """
    if itself:
        return "own data"
    if math.isnan(distance):
        return "everybody lends" if math.isinf(threshold) and not strict else "has the same label"
    relation = "below" if strict else "not beyond"
    return f"distance {distance:.3g} is {relation} the threshold {threshold:.3g}"


def _unseen(told: Explanation) -> list[str]:
    """What everybody is served from of whom nothing is known; no list of lenders is about her."""
    first = (
        f"User {told.user!r} was never seen in the logs and has no data of her own. "
        "Check the id; if it is right:"
    )
    others = [one for one in told.neighbours if one.user != told.user]
    if not told.pooled_count:
        return [first, f"  {told.algorithm} lends her nobody's data, so nothing is known of any action."]
    most = f", most of all by {others[0].user!r} ({_percent(others[0].share)})" if others else ""
    n = told.pooled_users
    whose = f"of about {_users(n)}" if told.components else f"lent by {_users(n - 1)}"
    served = f"{told.algorithm} serves her, as anybody unknown"
    lent = f"  {served}, from {told.pooled_count:g} samples {whose}{most}."
    return [first, lent, *_listed("Components", [_component(one) for one in told.components])]


def _population(told: Explanation) -> list[str]:
    """Lines on the components of a mixture, none for other models."""
    if told.own_information is None:
        return []
    own = f"  {_percent(told.own_information)} of what is known about her is her own, the rest is borrowed."
    return [own, *_listed("Components", [_component(one) for one in told.components])]


def _component(one: ComponentShare) -> str:
    kind = "alike" if one.is_point else "scattered"
    return f"{one.component}: probability {_percent(one.probability)}, about {one.n_users:.3g} users, {kind}"


def _lender(one: Lender) -> str:
    near = "" if math.isnan(one.distance) else f", distance {one.distance:.3g}"
    within = (
        f" below {one.threshold:.3g}" if math.isfinite(one.threshold) and one.reason != "own data" else ""
    )
    return f"{one.user!r} ({_percent(one.share)} of the samples{near}{within})"


def _compared(told: Explanation, comparison: Comparison) -> list[str]:
    """Lines on the candidate actions."""
    own = told.own_count > 0
    best = comparison.candidate(comparison.chosen)
    first = (
        f"Of {len(comparison.candidates)} actions user {told.user!r} gets {_named(best)}: estimated reward "
        f"{best.estimate:.3g}, between {best.low:.3g} and {best.high:.3g}{_own_part(best) if own else ''}."
    )
    if not own:
        second = "She has no data of her own: without the others' every action would be put at 0."
    elif comparison.own_choice == comparison.chosen:
        second = "On the user's own data alone it would have been the same."
    else:
        alone = comparison.candidate(comparison.own_choice)
        second = (
            f"On the user's own data alone it would have been {_named(alone)}, put at "
            f"{alone.own_estimate:.3g} by them and at {alone.estimate:.3g} by all that was pooled."
        )
    actions = [_candidate(one, own=own) for one in comparison.candidates]
    return [first, second, *_listed("Actions, best first", actions), *_lead(comparison)]


def _lead(comparison: Comparison) -> list[str]:
    """Lines on what put the chosen action ahead of the runner-up."""
    if comparison.runner_up is None:
        return []
    best, next_best = (comparison.candidate(k) for k in (comparison.chosen, comparison.runner_up))
    made = [
        f"{one.feature}: {one.difference:+.3g} ({one.chosen:.3g} against {one.runner_up:.3g}, weight "
        f"{one.weight:.3g})"
        for one in comparison.contributions
        if one.difference
    ]
    if comparison.width_difference:
        made.insert(0, f"what is known about the two: {comparison.width_difference:+.3g}")
    title = f"Ahead of {_named(next_best)} by {best.score - next_best.score:.3g} of score"
    return _listed(title, made)


def _candidate(one: Candidate, *, own: bool) -> str:
    alone = f"; on own data alone {one.own_estimate:.3g}" if own else ""
    return (
        f"{_named(one)}: score {one.score:.3g}, estimate {one.estimate:.3g} in [{one.low:.3g}, "
        f"{one.high:.3g}]{alone}"
    )


def _own_part(one: Candidate) -> str:
    return "" if one.own_part is None else f"; {one.own_part:.3g} of that comes from own rewards"


def _named(one: Candidate) -> str:
    return f"number {one.index}" if one.name is None else repr(one.name)


def _users(n: int) -> str:
    return "1 user" if n == 1 else f"{n} users"


def _percent(share: float) -> str:
    """Share as a percentage, a small one not as nothing."""
    return "under 1%" if 0 < share < 0.005 else f"{share:.0%}"  # noqa: PLR2004


def _listed(title: str, entries: list[str]) -> list[str]:
    if not entries:
        return []
    more = [f"    and {len(entries) - _SHOWN} more"] if len(entries) > _SHOWN else []
    return [f"  {title}:", *(f"    {entry}" for entry in entries[:_SHOWN]), *more]
