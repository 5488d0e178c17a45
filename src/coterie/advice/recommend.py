"""Which algorithm, with which settings, and why: by the paper's Table 1, and by what the data show.

Takes: `Facts`, `Differences`, `Pairs`, and what the user prefers.
Gives: `Recommendation` objects.
Paper: Table 1 (recommended algorithms); the remark on when to under- and when to over-estimate the gap.
Next: `advise`.
"""

from dataclasses import dataclass
from typing import Any, Literal

from coterie.advice.facts import Facts
from coterie.advice.separation import Differences, Pairs, rounded
from coterie.packed import FloatArray

Prefer = Literal["caution", "reach"]

_ALIKE = 0.01  # p-value from which users are not shown to differ
_NEARLY_ALL = 0.95
_RIDGES = (0.01, 100.0)


@dataclass(frozen=True)
class Recommendation:
    """An algorithm by its command-line name, settings, and one sentence for each choice."""

    source: str
    algorithm: str
    settings: dict[str, Any]
    reasons: tuple[str, ...]

    @property
    def options(self) -> str:
        """What to write after `coterie fit LOGS ...`.

        >>> Recommendation("x", "off-club", {"graph_scale": 0.3, "noise": "estimate"}, ()).options
        '--algorithm off-club --graph-scale 0.3 --noise estimate'
        """
        parts = [f"--algorithm {self.algorithm}"]
        parts += [f"--{name.replace('_', '-')} {_text(value)}" for name, value in self.settings.items()]
        return " ".join(parts)


def by_table_1(facts: Facts, pairs: Pairs | None, prefer: Prefer | None) -> Recommendation:
    """Table 1 with an unknown gap: Off-CLUB if every user is delta-sufficient, Off-C2LUB if not.

    The median distance of sampled pairs stands in for the gap between clusters.
    """
    distance = pairs.distance["50%"] if pairs else 0.0
    wide = [one for one in facts.sufficient if one.gap <= distance]
    nearest = max(wide, key=lambda one: one.gap) if wide else None
    if nearest is not None and nearest.users == facts.users:
        reason = (
            f"All {facts.users} users have the {nearest.needed:,.0f} rows that make a user "
            "delta-sufficient at "
            f"gap {nearest.gap:g}, and half of the pairs are {distance:.3g} or more apart: data are "
            "sufficient "
            "and the gap is unknown."
        )
        return Recommendation("the paper's Table 1", "off-club", {"noise": "estimate"}, (reason,))
    policy, why = _gap_policy(prefer)
    if nearest is None:
        have = (
            "No gap at which users could be delta-sufficient is known here (see the regularity and the noise)"
        )
    else:
        have = (
            f"{nearest.users} of {facts.users} users have the {nearest.needed:,.0f} rows that make a user "
            f"delta-sufficient at gap {nearest.gap:g}"
        )
    settings = {"gap": policy, "noise": "estimate"}
    reason = f"{have}: data are insufficient in the paper's sense, whether or not the gap is known."
    return Recommendation("the paper's Table 1", "off-c2lub", settings, (reason, why))


def by_data(
    facts: Facts,
    count: FloatArray,
    differ: Differences | None,
    pairs: Pairs | None,
    ridge: float | None,
    prefer: Prefer | None,
) -> Recommendation:
    """What the rows themselves speak for."""
    source = "these data"
    settings: dict[str, Any] = {}
    if ridge is not None:
        settings["ridge"] = rounded(min(max(ridge, _RIDGES[0]), _RIDGES[1]))
    if facts.rewards.noise is not None:
        settings["noise"] = "estimate"
    if differ is None or pairs is None:
        reason = (
            "Users have too few rows of their own to tell whether they differ, so only what all of them "
            "share "
            "can be learned."
        )
        return Recommendation(source, "pooled", settings, (reason,))
    if differ.p_value > _ALIKE:
        reason = (
            f"One regression per user explains no more than chance would over one for everybody "
            f"(p = {differ.p_value:.2g}), so nothing is gained by telling users apart."
        )
        return Recommendation(source, "pooled", settings, (reason,))
    apart = (
        f"Users differ (p {small(differ.p_value)}): their differences make {differ.between:.3g} of the "
        "rewards' "
        f"variance, so about {differ.crossover:,.0f} rows of one's own say as much as everybody's average."
    )
    short = float((count < differ.crossover).mean())
    scale = pairs.scale_of_chance
    separated = pairs.separated.get(f"{scale:g}", 0.0)
    if short < 1 - _NEARLY_ALL and separated >= _NEARLY_ALL:
        reason = (
            f"{1 - short:.0%} of the users have that many, and {separated:.0%} of the sampled pairs are "
            "farther "
            "apart than chance explains: everybody has data enough, and hardly anybody is like another."
        )
        return Recommendation(source, "independent", settings, (apart, reason))
    settings["graph_scale"] = scale
    about_scale = (
        f"Two users who are alike are {pairs.chance:.3g} apart by chance and the radii of a pair sum up to "
        f"{pairs.threshold['50%']:.3g}; graph_scale {scale:g} puts the threshold at twice that, "
        f"and separates {separated:.0%} of the sampled pairs."
    )
    if prefer is None and short < 0.5:  # noqa: PLR2004
        reason = (
            f"{1 - short:.0%} of the users have that many rows, enough to drop those who provably differ."
        )
        return Recommendation(source, "off-club", settings, (apart, reason, about_scale))
    policy, why = _gap_policy(prefer)
    settings = {"gap": policy, **settings}
    reason = (
        f"{short:.0%} of the users have fewer rows than that, so joining has to be proven, not separation."
    )
    if short < 0.5:  # noqa: PLR2004
        reason = f"{prefer} was asked for, and only Off-C2LUB has a gap to set."
    return Recommendation(source, "off-c2lub", settings, (apart, reason, why, about_scale))


def ridge_of(noise: float | None, signal: float, mean_square: float) -> float | None:
    r"""Ridge at which the prior says what the data say about the length of preference vectors.

    .. math:: \lambda = R^2 / \tau^2, \quad \tau^2 = V / E\|a\|^2

    with V the variance of rewards that users' own regressions explain beyond chance: for preference vectors
    drawn from N(0, tau^2 I), the ridge estimate with this lambda is the posterior mean.

    >>> ridge_of(0.5, 0.25, 1.0), ridge_of(None, 0.25, 1.0)
    (1.0, None)
    """
    return noise**2 * mean_square / signal if noise is not None and signal > 0 else None


def _gap_policy(prefer: Prefer | None) -> tuple[str, str]:
    """Policy for the gap, and the paper's reason."""
    if prefer == "caution":
        return "under", (
            "Caution was asked for: a gap that is estimated too small joins fewer users, with less bias "
            "and more "
            "noise; the paper advises it where bias is dangerous."
        )
    reach = (
        "a gap that is estimated too large joins more users, with less noise and some bias; the paper "
        "advises it "
        "where pooling much data matters most."
    )
    asked = (
        "Reach was asked for: "
        if prefer == "reach"
        else "Neither caution nor reach was asked for, so reach: "
    )
    return "over", asked + reach


def small(p: float) -> str:
    """A p-value as text, its sign of comparison before it.

    >>> small(0.03), small(1e-9)
    ('= 0.03', '< 0.0001')
    """
    return f"= {p:.2g}" if p >= 1e-4 else "< 0.0001"  # noqa: PLR2004


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
