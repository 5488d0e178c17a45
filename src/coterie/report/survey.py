"""A fitted model as a page shows it: every user as a few rounded numbers, and what holds for all.

Takes: a fitted model.
Gives: values and arrays in a `Payload`.
Next: `page`.
"""

from typing import Any

import numpy as np

from coterie import packed
from coterie.confidence import factorise
from coterie.errors import FileError
from coterie.mixture.sharing import SharedComponents
from coterie.model import Model
from coterie.model.model import Evidence
from coterie.model.settings import settings_of
from coterie.neighbourhood import Metric
from coterie.packed import FloatArray
from coterie.progress import Progress, silent
from coterie.report import sufficiency
from coterie.report.clusters import clusters_of
from coterie.report.payload import Payload
from coterie.report.plane import Plane, principal_plane
from coterie.report.rule import Rule, rule_of, sampled_pairs, sweep

_FINE, _COARSE = 600_000, 2_050_000  # coordinates of estimates that are kept at 16 bits, at 8 bits
_SEED = 0


def survey(model: Model, payload: Payload, progress: Progress = silent) -> None:
    """Add what a page shows of a model."""
    evidence = _evidence(model)
    stats = evidence.statistics
    theta = _own_estimates(model, evidence)
    plane = principal_plane(theta, stats.count > 0)
    rule = rule_of(model, evidence, theta)
    progress("drawing the report", 1, 4)
    cluster, n_clusters = clusters_of(evidence.neighbourhood, model.pooled_users, stats.count)
    progress("drawing the report", 2, 4)
    scale, confidence = model.scale, model.confidence
    payload.values["model"] = {
        **_head(model, rule, plane),
        "clusters": n_clusters,
        "counts": sufficiency.count_histogram(stats.count),
        "marks": sufficiency.least_counts(stats, confidence),
        "told_apart": sufficiency.told_apart(stats, rule.radius, confidence, scale),
        "deciles": sufficiency.deciles(stats.count, model.pooled_count),
        "pairs": sampled_pairs(rule, np.random.default_rng(_SEED)),
        "sweep": sweep(rule, stats.count),
        "users": model.users.tolist(),
    }
    progress("drawing the report", 3, 4)
    hood = evidence.neighbourhood
    if isinstance(hood, SharedComponents) and hood.responsibility.size <= _COARSE // 2:
        payload.rounded("responsibility", hood.responsibility[:-1], bits=8)
    _users(model, payload, rule, plane, np.where(cluster < 0, 255, cluster))
    _estimates(model, payload, theta)
    progress("drawing the report", 4, 4)


def _evidence(model: Model) -> Evidence:
    if model.evidence is None:
        raise FileError(
            "this model was saved with compact=True and has nothing to report; report on the whole model"
        )
    return model.evidence


def _own_estimates(model: Model, evidence: Evidence) -> FloatArray:
    """Every user's own ridge estimate (U, d) in scaled units."""
    hood, stats = evidence.neighbourhood, evidence.statistics
    if isinstance(hood, Metric) and hood.theta.shape[1] == stats.dim:
        return np.asarray(hood.theta[:-1])
    theta = np.empty((stats.n_users, stats.dim))
    for part in packed.chunks(stats.n_users, stats.dim):
        factor = factorise(stats.packed_gram[part] / model.scale**2, model.confidence.ridge)
        theta[part] = packed.solve(factor, stats.moment[part] / model.scale)
    return theta


def _head(model: Model, rule: Rule, plane: Plane) -> dict[str, Any]:
    """What holds for the whole model."""
    features = list(model.features or [f"coordinate {j}" for j in range(model.dim)])
    if model.intercept:
        features = [*features[: model.dim], "intercept"]
    settings = {**_flat(model.parameters), **settings_of(model.confidence)}
    return {
        "algorithm": model.algorithm,
        "kind": rule.kind,
        "mutual": rule.mutual,
        "n_users": model.n_users,
        "n_samples": model.report.n_samples,
        "dim": model.statistics.dim,
        "scale": model.scale,
        "summary": str(model.report).splitlines()[0],
        "notes": list(model.report.notes),
        "settings": {name: str(value) for name, value in settings.items()},
        "features": features,
        "mean_pooled_users": model.report.mean_pooled_users,
        "n_groups": model.report.n_groups,
        "plane": {"share": plane.share.tolist(), "direction": plane.direction.tolist()},
    }


def _flat(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters that are numbers or words."""
    return {name: value for name, value in parameters.items() if isinstance(value, str | int | float)}


def _users(model: Model, payload: Payload, rule: Rule, plane: Plane, cluster: FloatArray) -> None:
    """Arrays with a number for every user."""
    group = np.unique(model.policy.group[:-1], return_inverse=True)[1]
    first = np.unique(group, return_index=True)[1]
    payload.rounded("x", plane.at[:, 0], bits=16)
    payload.rounded("y", plane.at[:, 1], bits=16)
    payload.exact("count", model.statistics.count)
    payload.exact("cluster", cluster)
    payload.rounded("radius", rule.radius, bits=16, scale="log")
    payload.exact("group", group)
    payload.exact("pooled_users", model.pooled_users[first].astype(np.float64))
    payload.exact("pooled_count", model.pooled_count[first])
    if rule.kind == "gap":
        payload.rounded("limit", rule.limit, bits=16, scale="log")
    if rule.kind in {"gap", "separation"}:
        payload.rounded("slack", rule.slack, bits=16, scale="log")


def _estimates(model: Model, payload: Payload, theta: FloatArray) -> None:
    """Own estimates, as fine as there is room for, and the pooled ones where there is still some."""
    if theta.size <= _COARSE:
        fine = theta.size <= _FINE
        payload.rounded("theta", theta, bits=16 if fine else 8)
    group = np.unique(model.policy.group[:-1])
    if theta.size <= _FINE:
        payload.rounded("pooled_theta", model.policy.theta[group], bits=16)
