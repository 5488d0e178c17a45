"""Warnings that matter before fitting, each with what to do.

Takes: `Facts`, `Differences`, what was `Watched`.
Gives: sentences.
Next: `advise`.
"""

from collections.abc import Iterator

import numpy as np

from coterie.advice.facts import Facts
from coterie.advice.separation import Pairs
from coterie.advice.watch import Watched

_FEW_USERS = 30
_STUCK = 0.1
_OFFSET = 0.1  # share of the mean square that a mean reward makes, from which an intercept is worth a thought


def cautions(facts: Facts, seen: Watched, pairs: Pairs | None, *, intercept: bool) -> Iterator[str]:
    """Warnings, the gravest first."""
    yield from _about_actions(facts)
    yield from _about_users(facts)
    if pairs is not None and pairs.stuck > _STUCK:
        yield (
            f"{pairs.stuck:.0%} of {pairs.users:,} sampled users have a radius not below that of a user "
            "without data, since in some direction their actions hardly vary: with graph_scale 1 nobody is "
            "told apart. A smaller one, which 'coterie evaluate' tunes, or fewer features helps."
        )
    yield from _about_rewards(facts, seen, intercept=intercept)
    if seen.bad_propensities:
        yield (
            f"{seen.bad_propensities} rows have a propensity that is not above 0 and at most 1; off-policy "
            'values need them mended, or left out by on_bad="drop".'
        )
    if seen.no_time:
        yield f"{seen.no_time} rows have no time; a split by time needs them mended or left out."
    if facts.backward:
        yield f"{facts.backward:,} rows are earlier than the row before them; 'coterie evaluate' sorts them."


def _about_actions(facts: Facts) -> Iterator[str]:
    actions = facts.actions
    for name in actions.constant:
        yield (
            f"Feature {name!r} is the same in every row: as an intercept it is welcome, otherwise leave it "
            "out."
        )
    for left, right in actions.duplicated:
        yield f"Features {left!r} and {right!r} are the same in every row; leave one of them out."
    if actions.rank < facts.dim:
        yield (
            f"Logged actions span {actions.rank} of {facts.dim} coordinates, so nothing is known of the "
            "others: "
            "decide among actions like those of the log, or leave the redundant features out."
        )
    if actions.longest is not None and actions.longest > 1 + 1e-9:
        yield (
            f"Actions are up to {actions.longest:.3g} long; fitting divides them by that, and ridge, "
            "graph_scale and a numeric gap are in those units."
        )
    if (
        actions.regularity > 0
        and actions.smoothed is not None
        and actions.smoothed < 0.01 * actions.regularity
    ):
        yield (
            f"The smoothed regularity is {actions.smoothed:.2g} where lambda_a is "
            f"{actions.regularity:.2g}: the "
            "paper's counts are out of reach, so leave regularity at Observed()."
        )


def _about_users(facts: Facts) -> Iterator[str]:
    counts = facts.counts
    if counts.fewer_than_d:
        yield (
            f"{counts.fewer_than_d} of {facts.users} users have fewer rows than the {facts.dim} "
            "coordinates of an "
            "action: alone they can be served in some directions only."
        )
    if counts.none:
        yield f"{counts.none} users have rows of weight 0 alone; they are served as users never seen."
    if facts.users < _FEW_USERS:
        yield (
            f"There are {facts.users} users; borrowing pays where there are many, and intervals over users "
            "are "
            "reliable from about 30 on."
        )


def _about_rewards(facts: Facts, seen: Watched, *, intercept: bool) -> Iterator[str]:
    rewards = facts.rewards
    if rewards.noise is None:
        yield (
            "Users have too few rows for the noise to be estimated (30 beyond the rank of their actions are "
            "needed); give noise as a number."
        )
    if rewards.kind == "binary":
        yield (
            "Rewards are 0 or 1: a linear model of their mean is fitted, so estimates may leave [0, 1]; "
            "the order "
            "of actions is what counts."
        )
    mean_square = seen.square / max(seen.n_rows, 1)
    constant = any(name for name in facts.actions.constant)
    if not intercept and not constant and mean_square > 0 and rewards.mean**2 > _OFFSET * mean_square:
        yield (
            f"The mean reward is {rewards.mean:.3g}, and actions have no constant coordinate that could "
            "say so: "
            "read the log with intercept=True, or centre the rewards."
        )
    if not np.isfinite(rewards.high - rewards.low):
        yield "Rewards span more than a float can hold; use smaller units."
