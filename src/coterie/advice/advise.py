"""Advice on a log, from one reading of it.

Takes: `Logs`, and whether to err on the side of caution or of reach.
Gives: `Advice`: facts, recommendations with their reasons, warnings, and what was not checked.
Paper: Table 1; the remarks on the gap policies.
Next: `coterie.cli`.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coterie.advice.cautions import cautions
from coterie.advice.facts import Facts, confidence_of, facts_of, scale_of
from coterie.advice.recommend import Prefer, Recommendation, by_data, by_table_1, ridge_of
from coterie.advice.separation import Differences, Pairs, differences_of, pairs_of
from coterie.advice.watch import Watched
from coterie.checks import one_of, probability
from coterie.logs import Logs
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics, summarize

MOST_USERS = 5_000
_GRAPH_SCALES = (1.0, 0.3, 0.1)
UNCHECKED = (
    "Not checked: that rewards are linear in the actions, that preferences stay the same over time, and "
    "which "
    "of pessimistic and greedy decisions pays; 'coterie evaluate' judges by rows held out."
)


@dataclass(frozen=True)
class Advice:
    """What a log can teach and what to do with it; `str(advice)` is one screen.

    `by_paper` follows Table 1, `by_data` what the rows show; `differ` and `pairs` are None where users have
    too few rows.
    """

    facts: Facts
    differ: Differences | None
    pairs: Pairs | None
    by_paper: Recommendation
    by_data: Recommendation
    warnings: tuple[str, ...]
    unchecked: str = UNCHECKED

    def plain(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        from coterie.advice.screen import screen

        return screen(self)


def advise(
    logs: Logs, *, prefer: Prefer | None = None, failure_prob: float = 0.01, progress: Progress = silent
) -> Advice:
    """Advice on a log, which is read once.

    Parameters
    ----------
    prefer : "caution" or "reach", optional
        Under-estimate the gap (less bias) or over-estimate it (less noise), where Off-C2LUB is advised.
    failure_prob : float
        delta of the radii and of delta-sufficiency.

    Examples
    --------
    >>> from coterie.worlds import Synthetic
    >>> drawn = Synthetic(n_users=50, n_clusters=1, dim=3, noise=0.5).draw(n_rows=1000, rng=0)
    >>> advise(drawn.logs).by_data.algorithm
    'pooled'
    """
    if prefer is not None:
        one_of("prefer", prefer, ("caution", "reach"))
    probability("failure_prob", failure_prob)
    seen = Watched(logs)
    stats = summarize(logs, progress=progress, watch=seen.look)
    seen.require_rewards()
    progress("taking stock", 0, 3)
    sample = _sample(stats)
    facts = facts_of(logs, stats, sample, seen, failure_prob)
    noise = facts.rewards.noise
    progress("taking stock", 1, 3)
    differ = differences_of(sample, noise)
    progress("taking stock", 2, 3)
    scale, confidence = scale_of(stats), confidence_of(facts.rewards, failure_prob)
    pairs = pairs_of(stats, confidence, scale, _GRAPH_SCALES)
    ridge = ridge_of(noise, differ.signal if differ else 0.0, facts.actions.mean_square / scale**2)
    progress("taking stock", 3, 3)
    return Advice(
        facts=facts,
        differ=differ,
        pairs=pairs,
        by_paper=by_table_1(facts, pairs, prefer),
        by_data=by_data(facts, stats.count, differ, pairs, ridge, prefer),
        warnings=tuple(cautions(facts, seen, pairs, intercept=logs.intercept)),
    )


def _sample(stats: UserStatistics) -> UserStatistics:
    """At most `MOST_USERS` random users, on whom the sums that need their matrices are spent."""
    if stats.n_users <= MOST_USERS:
        return stats
    rows = np.random.default_rng(0).choice(stats.n_users, MOST_USERS, replace=False)
    return stats.taking(np.sort(rows))
