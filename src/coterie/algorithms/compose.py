"""How a choice in every slot becomes a fitted model: the walk, once, from statistics to policy.

Takes: statistics or logs, and `Slots`.
Gives: a `Model`.
Paper: Algorithms 1 and 2, the lines that they share.
Next: `model`; the algorithm files only choose.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from coterie.confidence import IID, Confidence, Smoothed, estimate
from coterie.decision import Beta, Bonus, PaperBeta, policy
from coterie.errors import LogError, ParameterError, warn
from coterie.logs import Logs
from coterie.model.model import Evidence, Model
from coterie.model.report import FitReport, count_resolving, nothing_done
from coterie.neighbourhood import EdgeRule
from coterie.packed import FloatArray, diagonal_positions
from coterie.pooling import PooledStatistics, Prior, pool
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics, summarize

Idle = Literal["everybody", "nobody"]

_UNIT = 1 + 1e-9


@dataclass(frozen=True)
class Slots:
    """An algorithm: radius x edge rule x pooling x decision.

    `beta` is the paper's unless given. `theta` (U + 1, d), the last row being that of a user never seen and
    all in scaled units, takes the place of the estimates where everybody is served alone. The rest serves
    the report: the factor of the radii, the graph ("everybody" or "nobody" joined) that means that the
    rule did nothing, the bound of the ridge, and sentences on the paper's other conditions that fail.
    """

    name: str
    confidence: Confidence
    edges: EdgeRule
    prior: Prior
    bonus: Bonus
    rescale: bool
    beta: Beta | None = None
    theta: FloatArray | None = None
    graph_scale: float = 0.0
    idle: Idle | None = None
    ridge_above: float = 0.0
    outside: tuple[str, ...] = ()


def fit(data: UserStatistics | Logs, slots: Slots, parameters: dict[str, Any], progress: Progress) -> Model:
    """Fitted model: radii, neighbourhood, pooled statistics, policy."""
    require_settings(slots.confidence, slots.bonus, rescale=slots.rescale)
    stats = statistics_of(data, progress)
    scale = _scale(stats, rescale=slots.rescale)
    confidence = slots.confidence.resolved(stats)
    _warn_outside(slots, confidence, stats.dim)
    estimates = estimate(stats, confidence, scale, progress)
    neighbourhood = slots.edges.connect(estimates, progress)
    radius = np.append(estimates.radius, estimates.empty_radius)
    del estimates  # as large as the moments; the neighbourhood has what it needs of them
    pooled = pool(stats, neighbourhood, scale, progress)
    beta = slots.beta or PaperBeta(proof=slots.bonus.prior == "proof")
    decide = policy(pooled, slots.prior, confidence, stats.n_users, beta, reuse=True)
    if slots.theta is not None:
        decide = replace(decide, theta=slots.theta)
    n_pooled = pooled.n_pooled[pooled.group[:-1]]
    report = FitReport(
        algorithm=slots.name,
        n_users=stats.n_users,
        n_samples=stats.n_samples,
        dim=stats.dim,
        noise=float(confidence.noise),
        scale=scale,
        n_groups=len(np.unique(pooled.group[:-1])),
        mean_pooled_users=float(n_pooled.mean()),
        search=pooled.search,
        notes=_notes(slots, pooled, stats, confidence, scale),
    )
    return Model(
        algorithm=slots.name,
        parameters=parameters,
        index=stats.index,
        policy=decide,
        confidence=confidence,
        bonus=slots.bonus,
        scale=scale,
        features=stats.features,
        intercept=stats.intercept,
        report=report,
        evidence=Evidence(stats, neighbourhood, radius),
    )


def require_settings(confidence: object, bonus: object, *, rescale: object) -> None:
    """Refuse parameter objects of the wrong kind, which every algorithm takes alike."""
    if not isinstance(confidence, Confidence):
        raise ParameterError(f"confidence is {confidence!r}; give a Confidence(...)")
    if not isinstance(bonus, Bonus):
        raise ParameterError(f"bonus is {bonus!r}; give a Bonus(...), for instance Bonus(sign=0)")
    if not isinstance(rescale, bool):
        raise ParameterError(f"rescale is {rescale!r}; give True or False")


def _notes(
    slots: Slots, pooled: PooledStatistics, stats: UserStatistics, confidence: Confidence, scale: float
) -> tuple[str, ...]:
    """Sentences for the report."""
    n_pooled = pooled.n_pooled[pooled.group[:-1]]
    idle = {"everybody": stats.n_users, "nobody": 1, None: -1}[slots.idle]
    if stats.n_users == 1 or not (n_pooled == idle).all():
        return ()
    needed = count_resolving(pooled.largest_distance, stats, confidence, slots.graph_scale, scale)
    return (nothing_done(slots.idle == "everybody", pooled.largest_distance, needed, stats),)


def statistics_of(data: object, progress: Progress = silent) -> UserStatistics:
    """Statistics of at least one user, summed first if logs were given."""
    if isinstance(data, Logs):
        data = summarize(data, progress=progress)
    if not isinstance(data, UserStatistics):
        raise LogError(
            f"fit takes UserStatistics or Logs, not {type(data).__name__}; see summarize and read_logs"
        )
    if data.n_users == 0:
        raise LogError("the statistics have no users; at least one is required")
    return data


def scale_of(stats: UserStatistics, *, rescale: bool) -> float:
    """Length to divide actions by, so that none is longer than 1; 1 where it is not known."""
    longest = stats.max_norm
    return longest if rescale and longest is not None and longest > _UNIT else 1.0


def _scale(stats: UserStatistics, *, rescale: bool) -> float:
    """The same, with a warning where actions are too long."""
    if stats.max_norm is None:
        squares = stats.packed_gram[:, diagonal_positions(stats.dim)].sum(axis=1)
        mean = float((squares / np.maximum(stats.count, np.finfo(float).tiny)).max())
        if mean > _UNIT:
            warn(
                f"the mean squared length of some user's actions is {mean:.3g}, so the theory's assumption "
                "(at most 1) is broken; divide the actions by the largest length, which is not known here"
            )
        return 1.0
    if stats.max_norm <= _UNIT:
        return 1.0
    if not rescale:
        warn(f"actions are up to {stats.max_norm:.3g} long and rescale=False: the theory assumes at most 1")
        return 1.0
    warn(
        f"actions are up to {stats.max_norm:.3g} long: the formulas are evaluated on actions divided by that "
        "length (model.scale); ridge, theta_bound and a numeric gap are in those units"
    )
    return scale_of(stats, rescale=rescale)


def _warn_outside(slots: Slots, confidence: Confidence, dim: int) -> None:
    """One warning on all of the paper's conditions that the settings leave."""
    outside = list(slots.outside)
    if not confidence.ridge > slots.ridge_above:
        outside.append(
            f"ridge {confidence.ridge:g} is not above the {slots.ridge_above:g} of the algorithm's input"
        )
    regularity = confidence.regularity
    if isinstance(regularity, Smoothed | IID) and regularity.value > 1 / dim:
        outside.append(
            f"regularity {regularity.value:g} is above 1/d = {1 / dim:.3g}, the largest that actions of "
            "length at most 1 can have"
        )
    if outside:
        warn(f"outside the paper's conditions, so its guarantee is off: {'; '.join(outside)}")
