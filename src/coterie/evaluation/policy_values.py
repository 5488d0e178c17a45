"""Off-policy values of every algorithm, with intervals, lower bounds and what the weights look like.

Takes: the judged rows of every split, their candidate sets and propensities.
Gives: `Value` rows, and notes on what could not be estimated and why.
Next: `evaluate`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from coterie.decision import ActionSets, choose
from coterie.errors import LogError
from coterie.evaluation.held_out import per_user
from coterie.evaluation.intervals import bernstein_lower, betting_lower, percentiles, resampled
from coterie.evaluation.off_policy import (
    ESTIMATORS,
    LOGGED,
    Pair,
    Weighed,
    clipped,
    effective_size,
)
from coterie.evaluation.offers import OUTSIDE, Offers
from coterie.evaluation.predict import predict
from coterie.evaluation.rows import LoggedRows
from coterie.evaluation.run import Value, number
from coterie.logs.logs import default_threads
from coterie.model import Model
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray

_UNIFORM = 1e-6  # relative difference of a propensity from 1 / K that still is uniform logging
_AT_A_TIME = 1 << 14
_FEW_EFFECTIVE = 50.0
_BOUNDED = ("ips", "clipped_ips", "logged")


@dataclass(frozen=True, eq=False)
class Logged:
    """What off-policy values need of a log: candidate sets, the place of each action taken, propensities.

    `place` is -1 where the action taken is none of the candidates; such rows are not judged by.
    """

    offers: Offers
    place: IntArray
    propensity: FloatArray | None

    @property
    def uniform(self) -> bool:
        """Whether every candidate was logged with the same probability."""
        if self.propensity is None:
            return False
        return bool((np.abs(self.propensity * self.offers.length - 1) < _UNIFORM).all())


@dataclass(frozen=True, eq=False)
class Asked:
    """Rows that a split judges by: row numbers, the users' rows in the models, actions, rewards, users."""

    row: IntArray
    at: IntArray
    action: FloatArray
    reward: FloatArray


@dataclass(eq=False)
class PolicyValues:
    """Rows gathered over the splits: by algorithm, what its choices are worth."""

    logged: Logged
    gathered: dict[str, list[tuple[IntArray, Weighed]]] = field(default_factory=dict)

    def add(self, models: dict[str, Model], reward_model: Model, asked: Asked) -> None:
        """Add the judged rows of one split; the reward model is one that was fitted on its training part."""
        inside = self.logged.place[asked.row] >= 0
        asked = Asked(*(getattr(asked, name)[inside] for name in ("row", "at", "action", "reward")))
        offers, p = self.logged.offers.taking(asked.row), self.logged.propensity
        logged = predict(reward_model, asked.at, asked.action).estimate
        for algorithm, model in models.items():
            place = picked_places(model, asked.at, offers)
            taken = (offers.same_as(place, self.logged.place[asked.row])).astype(np.float64)
            vector = offers.vector[offers.code[offers.start + place]]
            chosen = predict(reward_model, asked.at, vector).estimate
            weight = taken if p is None else taken / p[asked.row]
            rows = Weighed(weight, asked.reward, logged, chosen)
            self.gathered.setdefault(algorithm, []).append((asked.row, rows))

    def joined(self, algorithm: str) -> tuple[IntArray, Weighed]:
        """Rows of all splits in one piece."""
        parts = self.gathered[algorithm]
        names = ("weight", "reward", "logged", "chosen")
        columns = (np.concatenate([getattr(rows, name) for _, rows in parts]) for name in names)
        return np.concatenate([row for row, _ in parts]), Weighed(*columns)


def picked_places(model: Model, at: IntArray, offers: Offers) -> IntArray:
    """Place (n,) of the model's choice among each row's candidates."""
    asked = np.where(at >= 0, at, model.n_users)
    threads = default_threads()
    if offers.shared:  # users who are served alike choose alike
        group, first, back = np.unique(model.policy.group[asked], return_index=True, return_inverse=True)
        none, many = np.zeros(len(group), dtype=np.int64), np.full(len(group), len(offers.code))
        sets = ActionSets(np.ascontiguousarray(offers.vector[offers.code] / model.scale), none, many)
        return choose(model.policy, asked[first], sets, model.bonus, threads=threads).index[:, 0][back]
    places = np.empty(len(asked), dtype=np.int64)
    for start in range(0, len(asked), _AT_A_TIME):
        part = slice(start, start + _AT_A_TIME)
        code, begin = offers.laid_out(part)
        sets = ActionSets(offers.vector[code] / model.scale, begin, offers.length[part])
        places[part] = choose(model.policy, asked[part], sets, model.bonus, threads=threads).index[:, 0]
    return places


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How to make values of gathered rows: levels, the clip, the rewards' ends, the users of all rows."""

    confidence: float
    clip: float | None
    low: float
    high: float
    user: IntArray
    n_users: int
    frequency: FloatArray
    weighted: bool


def policy_values(rows: LoggedRows) -> PolicyValues | None:
    """What the log needs for off-policy values, nothing gathered yet; None without candidate sets.

    An action that is none of its candidates is refused by row; the rest of such rows is counted where the log
    was read with `on_bad="drop"`.
    """
    if rows.offers is None:
        return None
    place = rows.offers.chosen(rows.action)
    if place.min() < 0 and not rows.lenient:
        raise LogError(
            f"row {int(np.argmin(place))} has {OUTSIDE}; name the whole set that the logging policy chose "
            'from, or pass on_bad="drop" to leave such rows out of the off-policy values'
        )
    return PolicyValues(Logged(rows.offers, place, rows.propensity))


def bounds_of(rows: LoggedRows, confidence: float, clip: float | None) -> Bounds:
    """Bounds for the rows of a log; rewards that are never negative are taken to be at least 0."""
    low = float(rows.reward.min())
    return Bounds(
        confidence=confidence,
        clip=clip,
        low=min(low, 0.0),
        high=float(rows.reward.max()),
        user=rows.user,
        n_users=len(rows.users),
        frequency=rows.weights,
        weighted=rows.weight is not None,
    )


def values_of(values: PolicyValues, bounds: Bounds, rng: np.random.Generator) -> Iterator[Value]:
    """Values of the logging policy and of every algorithm by every estimator that the log allows."""
    propensity = values.logged.propensity
    for place, algorithm in enumerate(values.gathered):
        row, weighed = values.joined(algorithm)
        if place == 0:
            once = np.ones(len(row))
            on_policy = Weighed(once, weighed.reward, once, once)
            pair = (weighed.reward, once)
            yield _value_of(LOGGED, "logged", pair, on_policy, _of(row, once, None, 1.0), bounds, rng)
        made = {"direct": ESTIMATORS["direct"](weighed)}
        most = None
        if propensity is not None:
            most = 1 / float(propensity.min())
            made = {name: estimator(weighed) for name, estimator in ESTIMATORS.items()}
            if not values.logged.uniform:
                del made["replay"]
        for name, pair in made.items():
            yield _value_of(algorithm, name, pair, weighed, _of(row, weighed.weight, None, most), bounds, rng)
        if propensity is not None and bounds.clip is not None:
            for name in ("ips", "doubly_robust"):
                less = clipped(weighed, bounds.clip)
                about = _of(row, weighed.weight, bounds.clip, bounds.clip)
                pair = ESTIMATORS[name](less)
                yield _value_of(algorithm, f"clipped_{name}", pair, less, about, bounds, rng)


@dataclass(frozen=True, eq=False)
class _About:
    """Which rows, their weights before clipping, the clip, and the largest weight that could be."""

    row: IntArray
    weight: FloatArray
    clip: float | None
    most: float | None


def _of(row: IntArray, weight: FloatArray, clip: float | None, most: float | None) -> _About:
    return _About(row, weight, clip, most)


def _value_of(
    algorithm: str, name: str, pair: Pair, rows: Weighed, about: _About, bounds: Bounds,
    rng: np.random.Generator,
) -> Value:  # fmt: skip
    """One value with its interval, its lower bounds and its diagnostics."""
    times = bounds.frequency[about.row]
    user = bounds.user[about.row]
    sums = np.column_stack([per_user(user, times * part, bounds.n_users) for part in pair])
    present = np.flatnonzero(np.bincount(user, weights=times, minlength=bounds.n_users))
    low, high = interval_of(sums[present], bounds.confidence, rng)
    bernstein, betting = _lower_bounds(name, rows, about, bounds, rng)
    total = float(sums[:, 1].sum())
    return Value(
        algorithm=algorithm,
        estimator=name,
        value=number(float(sums[:, 0].sum()) / total) if total else None,
        low=low,
        high=high,
        bernstein=bernstein,
        betting=betting,
        effective=effective_size(rows.weight),
        largest_weight=float(rows.weight.max(initial=0.0)),
        mean_weight=float(rows.weight.mean()),
        matched=int(np.count_nonzero(rows.weight)),
        clip=about.clip,
        clipped=0 if about.clip is None else int(np.count_nonzero(about.weight > about.clip)),
        n_rows=len(about.row),
        n_users=len(present),
    )


def interval_of(
    sums: FloatArray, confidence: float, rng: np.random.Generator
) -> tuple[float | None, float | None]:
    """Bootstrap over users of the quotient of sums (U, 2); none for one user, or a resample without a row."""
    if len(sums) < 2:  # noqa: PLR2004
        return None, None
    drawn = resampled(sums, rng)
    if not (drawn[:, 1] > 0).all():
        return None, None
    low, high = percentiles(drawn[:, 0] / drawn[:, 1], len(sums), confidence)
    return float(low), float(high)


def _lower_bounds(
    name: str, rows: Weighed, about: _About, bounds: Bounds, rng: np.random.Generator
) -> tuple[float | None, float | None]:
    """Empirical Bernstein and betting bounds of plain means of w r; None for others and for weighted rows."""
    if name not in _BOUNDED or bounds.weighted or about.most is None or len(rows.reward) < 2:  # noqa: PLR2004
        return None, None
    above = rows.weight * (rows.reward - bounds.low)
    failure = 1 - bounds.confidence
    # clipping lowers the mean of w (r - low), so what is bounded from below stays so
    one = bernstein_lower(above, about.most * (bounds.high - bounds.low), failure)
    other = betting_lower(above, failure, rng)
    return number(max(one, 0.0) + bounds.low), number(other + bounds.low)


def notes_on(values: PolicyValues, bounds: Bounds) -> Iterator[str]:
    """What could not be estimated and why, and what the numbers rest on."""
    logged = values.logged
    if n := int(np.count_nonzero(logged.place < 0)):
        yield f"{n} rows have {OUTSIDE}; they are left out of the off-policy values."
    if n := logged.offers.duplicates():
        yield (
            f"{n} candidates have the vector of another one; a model cannot tell them apart, so they count "
            "as one action, though each has its own propensity: weights are then too large."
        )
    if logged.propensity is None:
        yield (
            "There is no column of propensities, which ips, snips, doubly_robust and replay need; of the "
            "off-policy values the direct method remains, besides held-out fit and choice."
        )
        return
    if not logged.uniform:
        yield "Candidates were not logged with equal probability, so there is no replay."
    if bounds.weighted:
        yield "Rows have weights, so they are not independent draws, and there are no lower bounds."
    else:
        yield (
            f"The lower bounds take rewards to lie between {bounds.low:g} and {bounds.high:g}, and "
            f"no propensity to be below {float(logged.propensity.min()):.3g}, as in these rows."
        )
    for algorithm in values.gathered:
        _, rows = values.joined(algorithm)
        if not rows.weight.any():
            yield (
                f"No judged row has the action that {algorithm} would take; the direct method alone speaks "
                "of it."
            )
            continue
        matched = rows.reward[rows.weight > 0]
        if matched.min() == matched.max():
            yield (
                f"All {len(matched)} matched rows of {algorithm} have reward {matched[0]:g}, so intervals "
                "of ips, snips and replay know no spread: do not trust them."
            )
        if effective_size(rows.weight) < _FEW_EFFECTIVE:
            yield (
                f"{algorithm} rests on {effective_size(rows.weight):.3g} effective rows; its off-policy "
                "values say little."
            )
