"""Why a user is served as she is: who lends, how much, and why others do not.

Takes: a fitted model and a user.
Gives: an `Explanation`, which prints as a few lines.
Next: `coterie.cli`.
"""

import math
from dataclasses import dataclass

_SHOWN = 8


@dataclass(frozen=True)
class Lender:
    """A user whose data are used, with her share of the pooled samples."""

    user: object
    distance: float
    threshold: float
    count: float
    share: float


@dataclass(frozen=True)
class LeftOut:
    """A user whose data are not used, and why."""

    user: object
    distance: float
    threshold: float
    count: float
    reason: str


@dataclass(frozen=True)
class Explanation:
    """What a decision for one user rests on.

    `neighbours` has the user herself first, then the others by share of the samples; `left_out` is sorted
    by distance. Distances, thresholds, gap and radius are in the scaled units in which the rules are
    evaluated (`model.scale`).
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

    @property
    def own_share(self) -> float:
        """Share of the pooled samples that are the user's own."""
        return self.own_count / self.pooled_count if self.pooled_count else 0.0

    def __str__(self) -> str:
        """A few lines for a person."""
        known = "" if self.seen else " (never seen in the logs: treated as a user without data)"
        gap = "" if self.gap is None else f", gap {self.gap:.3g}"
        lines = [
            f"User {self.user!r}{known}, served by {self.algorithm}: {self.pooled_count:g} samples of "
            f"{_users(self.pooled_users)}, {_percent(self.own_share)} of them own; "
            f"radius {self.radius:.3g}{gap}.",
            *_listed("Lends", [_lender(one) for one in self.neighbours]),
            *_listed("Left out", self._left_out()),
        ]
        return "\n".join(lines)

    def _left_out(self) -> list[str]:
        """A line per user left out, or one line where they all have the same reason."""
        reasons = {one.reason for one in self.left_out}
        if len(reasons) == 1 and len(self.left_out) > 1:
            return [f"all {len(self.left_out)} others: {reasons.pop()}"]
        return [f"{one.user!r}: {one.reason}" for one in self.left_out]


def _lender(one: Lender) -> str:
    near = "" if math.isnan(one.distance) else f", distance {one.distance:.3g}"
    return f"{one.user!r} ({_percent(one.share)} of the samples{near})"


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
