"""What decides who lends, in the form in which a page draws it: distances, and what they are compared with.

Takes: a fitted model's evidence.
Gives: a `Rule`; distances of sampled pairs; what other gaps would have done.
Paper: the connecting and the separating condition, each as distance + slacks against a limit.
Next: `survey`.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from coterie import packed
from coterie.confidence import radii
from coterie.mixture.sharing import SharedComponents
from coterie.model import Model
from coterie.model.model import Evidence
from coterie.neighbourhood import Alone, Everybody, Metric
from coterie.neighbourhood.distances import blocks
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray

Kind = Literal["gap", "separation", "everybody", "nobody", "label", "components"]

_PAIRS = 3000
_BORROWERS = 200
_STEPS = 60


@dataclass(frozen=True, eq=False)
class Rule:
    """Own estimates (U, d), radii (U,), the slack alpha CI (U,) and the limit (U,) of every user.

    A pair lends if distance + slacks is below the limit ("gap", kept in `limit`), or if the distance is
    not above the slacks ("separation"). Other kinds look at no distance; their slack is the radius.
    """

    kind: Kind
    theta: FloatArray
    radius: FloatArray
    slack: FloatArray
    limit: FloatArray
    mutual: bool = False

    def thresholds(self, first: IntArray, second: IntArray) -> FloatArray:
        """What the distance of each pair is compared with; the second user would lend to the first."""
        both = self.slack[first] + self.slack[second]
        if self.kind != "gap":
            return both
        limit = self.limit[first]
        return (np.minimum(limit, self.limit[second]) if self.mutual else limit) - both


def rule_of(model: Model, evidence: Evidence, theta: FloatArray) -> Rule:
    """Rule of a fitted model; `theta` (U, d) are the users' own estimates in scaled units."""
    hood, radius = evidence.neighbourhood, evidence.radius[:-1]
    if isinstance(hood, SharedComponents):  # its radii are those of posteriors, not of own estimates
        radius = _own_radii(model, evidence)
        return Rule("components", theta, radius, radius, np.zeros(model.n_users))
    if isinstance(hood, Metric):
        kind: Kind = "gap" if hood.strict else "separation"
        return Rule(kind, theta, radius, np.abs(hood.slack[:-1]), hood.limit[:-1], hood.mutual)
    names: dict[type, Kind] = {Everybody: "everybody", Alone: "nobody"}
    return Rule(names.get(type(hood), "label"), theta, radius, radius, np.zeros(model.n_users))


def _own_radii(model: Model, evidence: Evidence) -> FloatArray:
    """Radius (U,) of every user's own estimate, in scaled units."""
    stats, confidence = evidence.statistics, model.confidence
    information = np.empty(stats.n_users)
    for part in packed.chunks(stats.n_users, stats.dim):
        gram = stats.packed_gram[part] / model.scale**2
        information[part] = confidence.regularity.information(gram, stats.count[part], confidence.ridge)
    return radii(confidence, stats.count, information, stats.dim, stats.n_users)


def sampled_pairs(rule: Rule, rng: np.random.Generator) -> dict[str, Any]:
    """Distances and thresholds of pairs drawn at random, and the shares of them that may and may not lend.

    Pairs with an infinite threshold or radius are counted and not drawn.
    """
    n = len(rule.radius)
    size = min(_PAIRS, n * (n - 1))
    if size == 0:
        return {"drawn": 0, "infinite": 0, "first": [], "second": [], "distance": [], "threshold": []}
    code = rng.choice(n * (n - 1), size, replace=False) if n <= _PAIRS else rng.integers(0, n * (n - 1), size)
    first, second = code // (n - 1), code % (n - 1)
    second = second + (second >= first)
    distance = np.linalg.norm(rule.theta[first] - rule.theta[second], axis=1)
    threshold = rule.thresholds(first, second)
    lends = distance < threshold if rule.kind == "gap" else distance <= threshold
    finite = np.isfinite(threshold)
    return {
        "drawn": size,
        "infinite": int(np.count_nonzero(~finite)),
        "lending": int(np.count_nonzero(lends)),
        "first": first[finite].tolist(),
        "second": second[finite].tolist(),
        "distance": _short(distance[finite]),
        "threshold": _short(threshold[finite]),
    }


def sweep(rule: Rule, count: FloatArray) -> dict[str, Any] | None:
    """Lenders and borrowed samples of some users, had the gap (or the factor of the radii) been another.

    `at` are gaps, or factors for "separation"; `users` and `borrowed` hold the mean and the 10 and 90 % ends
    over the users looked at. None where no distance decides.
    """
    if rule.kind not in {"gap", "separation"}:
        return None
    rows = np.unique(np.linspace(0, len(count) - 1, min(_BORROWERS, len(count))).astype(np.int64))
    need = [_needed(rule, row) for row in rows.tolist()]
    finite = np.concatenate([some[np.isfinite(some)] for some in need])
    if not finite.size:
        return None
    now = _now(rule)
    top = max(float(np.quantile(finite, 0.98)), 1.15 * max(now["high"], now["middle"]))
    at = np.linspace(0.0, top, _STEPS)
    order = [np.argsort(some, kind="stable") for some in need]
    found = [np.searchsorted(some[by], at, side="left") for some, by in zip(need, order, strict=True)]
    total = [np.append(0.0, np.cumsum(count[by])) for by in order]
    users = np.array(found, dtype=np.float64)
    samples = np.array([sums[some] for sums, some in zip(total, found, strict=True)])
    return {
        "at": _short(at),
        "users": _band(users),
        "borrowed": _band(samples),
        "own": float(count[rows].mean()),
        "looked_at": len(rows),
        "now": now,
    }


def _needed(rule: Rule, row: int) -> FloatArray:
    """Least gap, or factor of the radii, at which each user would lend to one; infinite for herself."""
    _, distance = next(blocks(rule.theta[row : row + 1], rule.theta))
    both = rule.slack[row] + rule.slack
    if rule.kind == "gap":
        need = distance[0] + both
    else:
        reach = rule.radius[row] + rule.radius
        with np.errstate(invalid="ignore"):
            need = np.where(np.isinf(reach), 0.0, distance[0] / reach)
    need[row] = np.inf
    return np.asarray(need)


def _now(rule: Rule) -> dict[str, float]:
    """Where the fit stands on the axis of the sweep: the middle and the 10 and 90 % ends over users."""
    if rule.kind == "gap":
        values = rule.limit[np.isfinite(rule.limit)]
    else:
        usual = np.isfinite(rule.radius) & (rule.radius > 0)
        values = rule.slack[usual] / rule.radius[usual]
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9]) if values.size else (0.0, 0.0, 0.0)
    return {"low": float(low), "middle": float(middle), "high": float(high)}


def _band(values: FloatArray) -> dict[str, list[float]]:
    """Mean and 10 and 90 % ends over the rows."""
    low, high = np.quantile(values, [0.1, 0.9], axis=0)
    return {"mean": _short(values.mean(axis=0)), "low": _short(low), "high": _short(high)}


def _short(values: FloatArray) -> list[float]:
    """Numbers with six digits: a page has no use for more."""
    return [float(f"{value:.6g}") for value in values.tolist()]
