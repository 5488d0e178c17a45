"""Advice as one screen of text.

Takes: `Advice`.
Gives: text.
Next: `coterie.cli`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coterie.advice.recommend import small

if TYPE_CHECKING:
    from coterie.advice.advise import Advice
    from coterie.advice.recommend import Recommendation


def screen(advice: Advice) -> str:
    """The facts, then the recommendations, then the warnings."""
    lines = [*_facts(advice), *_users(advice), "", *_recommended("By the paper's Table 1", advice.by_paper)]
    lines += _recommended("By what these data show", advice.by_data)
    if advice.warnings:
        lines += ["", "Mind", *(f"  - {sentence}" for sentence in advice.warnings)]
    return "\n".join([*lines, "", advice.unchecked])


def _facts(advice: Advice) -> Iterator[str]:
    facts, rewards, actions = advice.facts, advice.facts.rewards, advice.facts.actions
    span = f", from {facts.time[0]} to {facts.time[1]}" if facts.time else ""
    yield f"Log: {facts.rows:,} rows, {facts.users:,} users, {facts.dim} coordinates{span}"
    shown = ", ".join(f"{name} {value:,.0f}" for name, value in facts.counts.quantiles.items())
    yield f"Rows per user: {shown}"
    yield (
        f"  {facts.counts.none:,} users with none, {facts.counts.one:,} with one, "
        f"{facts.counts.fewer_than_d:,} with fewer than {facts.dim}"
    )
    noise = "not known" if rewards.noise is None else f"{rewards.noise:.3g}"
    yield (
        f"Rewards: {rewards.kind}, {rewards.low:g} to {rewards.high:g}, mean {rewards.mean:.3g}; noise "
        "within "
        f"users {noise}"
    )
    longest = "not known" if actions.longest is None else f"{actions.longest:.3g}"
    yield (
        f"Actions: effective rank {actions.effective_rank:.3g} of {facts.dim}; {actions.covered:.0%} of "
        "the users "
        f"cover all coordinates themselves; longest {longest}"
    )
    smoothed = "" if actions.smoothed is None else (
        f", smoothed {actions.smoothed:.3g} for {actions.candidates} candidates"
    )  # fmt: skip
    yield f"Regularity: lambda_a {actions.regularity:.3g}{smoothed}"


def _users(advice: Advice) -> Iterator[str]:
    facts = advice.facts
    if facts.sufficient:
        shown = ", ".join(
            f"{one.users:,} at gap {one.gap:g} ({one.needed:,.0f} rows)" for one in facts.sufficient
        )
        yield f"Sufficiency: users who are delta-sufficient: {shown}"
    if advice.differ is not None:
        differ = advice.differ
        yield (
            f"Differences: p {small(differ.p_value)}; {differ.between:.3g} of the rewards' variance; one's "
            "own rows "
            f"count for more than everybody's from {differ.crossover:,.0f} on"
        )
    if advice.pairs is not None:
        pairs = advice.pairs
        far = ", ".join(f"{name} {value:.3g}" for name, value in pairs.distance.items())
        wide = ", ".join(f"{name} {value:.3g}" for name, value in pairs.threshold.items())
        apart = ", ".join(f"{share:.0%} at graph_scale {name}" for name, share in pairs.separated.items())
        yield f"Pairs: distances {far}; thresholds {wide} (of {pairs.users:,} sampled users)"
        yield f"  provably different: {apart}"


def _recommended(title: str, one: Recommendation) -> list[str]:
    return [f"{title}: {one.options}", *(f"  - {reason}" for reason in one.reasons)]
