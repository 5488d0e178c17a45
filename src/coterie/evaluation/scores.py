"""From sums per user to scores with intervals, for all users and for groups of them.

Takes: `Tally`: the sums of every algorithm at every fraction.
Gives: `Score` and `Covered` rows.
Next: `compare`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from coterie.evaluation.held_out import COLUMNS, LEVELS
from coterie.evaluation.intervals import percentiles, resampled
from coterie.evaluation.run import ALL, FEW, HINDSIGHT, RANDOM, UNSEEN, Covered, Score, number
from coterie.packed import FloatArray

METRICS = ("squared_error", "scaled_error", "r2", "log_likelihood", "choice")
_DECILES = 10
_FOR_CHOICE = {RANDOM: "random", HINDSIGHT: "hindsight"}
PARTS = ("rows", "reward_square", "product", "estimate_square")
Key = tuple[str, float]


@dataclass(eq=False)
class Tally:
    """Sums per user over all splits, as they come in.

    `sums` holds, by algorithm and fraction, columns (U,) by name; `count` by fraction the training rows
    (U,) of the users judged, times their judged rows. `parts` holds, by algorithm at the largest fraction,
    columns (U, 4) of every split (`PARTS`); `judged_share` is the share of the rows that a split judges by.
    """

    n_users: int
    sums: dict[Key, dict[str, FloatArray]] = field(default_factory=dict)
    count: dict[float, FloatArray] = field(default_factory=dict)
    judged: dict[float, FloatArray] = field(default_factory=dict)
    parts: dict[str, list[FloatArray]] = field(default_factory=dict)
    judged_share: float = 0.0

    def add(self, algorithm: str, fraction: float, sums: dict[str, FloatArray]) -> None:
        """Add the sums of one split."""
        kept = self.sums.setdefault((algorithm, fraction), {name: np.zeros(self.n_users) for name in COLUMNS})
        for name, values in sums.items():
            kept[name] += values

    def add_part(self, algorithm: str, sums: dict[str, FloatArray]) -> None:
        """Keep what the scaled error of one split needs."""
        self.parts.setdefault(algorithm, []).append(np.column_stack([sums[name] for name in PARTS]))

    def add_count(self, fraction: float, count: FloatArray, judged: FloatArray) -> None:
        """Add the training rows of a split's users, weighted with the rows by which they are judged."""
        for kept, values in ((self.count, count * judged), (self.judged, judged)):
            kept[fraction] = kept.get(fraction, np.zeros(self.n_users)) + values

    def mean_count(self, fraction: float) -> FloatArray:
        """Mean training rows (U,) of each user over the splits that judge her; NaN where none does."""
        judged = self.judged[fraction]
        nobody = np.full(self.n_users, np.nan)
        return np.asarray(np.divide(self.count[fraction], judged, out=nobody, where=judged > 0))

    @property
    def algorithms(self) -> list[str]:
        """Algorithms in the order in which they came."""
        return list(dict.fromkeys(algorithm for algorithm, _ in self.sums))

    @property
    def fractions(self) -> list[float]:
        """Fractions in rising order."""
        return sorted(self.count)


def groups_of(count: FloatArray, few: float) -> dict[str, NDArray[np.int64]]:
    """Users (rows) of every group, by their training rows at the largest fraction; empty groups left out.

    >>> groups = groups_of(np.array([0.0, 5.0, 50.0, np.nan]), few=20)
    >>> groups["all"].tolist(), groups["few"].tolist(), groups["unseen"].tolist()
    ([0, 1, 2], [0, 1], [0])
    """
    judged = np.flatnonzero(~np.isnan(count))
    groups = {
        ALL: judged,
        FEW: judged[count[judged] < few],
        UNSEEN: judged[count[judged] == 0],
    }
    ordered = judged[np.argsort(count[judged], kind="stable")]
    if len(ordered) >= _DECILES:
        for k, part in enumerate(np.array_split(ordered, _DECILES)):
            groups[f"decile {k + 1}"] = np.sort(part)
    return {name: users for name, users in groups.items() if len(users)}


def scores_of(
    tally: Tally, groups: dict[str, NDArray[np.int64]], confidence: float, rng: np.random.Generator
) -> Iterator[Score]:
    """Every metric of every algorithm at every fraction for every group."""
    for group, users in groups.items():
        for fraction in tally.fractions:
            count = float(np.nanmean(tally.mean_count(fraction)[users]))
            yield from _of_group(tally, group, users, fraction, count, confidence, rng)


def _of_group(
    tally: Tally,
    group: str,
    users: NDArray[np.int64],
    fraction: float,
    count: float,
    confidence: float,
    rng: np.random.Generator,
) -> Iterator[Score]:
    columns = np.hstack([_table(tally, name, fraction, users) for name in tally.algorithms])
    totals = columns.sum(axis=0, keepdims=True)
    drawn = resampled(columns, rng) if len(users) > 1 else np.repeat(totals, 2, axis=0)
    made = _ratios(totals, tally.algorithms), _ratios(drawn, tally.algorithms)
    sums = tally.sums[tally.algorithms[0], fraction]
    for (metric, algorithm), value in made[0].items():
        rows = sums["choice_rows" if metric == "choice" else "rows"][users]
        n_users = int(np.count_nonzero(rows))
        low, high = _ends(made[1][metric, algorithm], n_users, confidence)
        yield Score(
            algorithm=algorithm,
            metric=metric,
            fraction=fraction,
            group=group,
            value=number(value[0]),
            low=low,
            high=high,
            count=count,
            n_users=n_users,
            n_rows=round(float(rows.sum())),
        )


def _ends(values: FloatArray, n_users: int, confidence: float) -> tuple[float | None, float | None]:
    """Interval of resampled values; none for a single user, or where a resample has no defined value."""
    if n_users < 2 or not np.isfinite(values).all():  # noqa: PLR2004
        return None, None
    low, high = percentiles(values, n_users, confidence)
    return float(low), float(high)


def _table(tally: Tally, algorithm: str, fraction: float, users: NDArray[np.int64]) -> FloatArray:
    """Sums (users, columns) of an algorithm."""
    return np.column_stack([tally.sums[algorithm, fraction][name][users] for name in COLUMNS])


def _ratios(sums: FloatArray, algorithms: list[str]) -> dict[tuple[str, str], FloatArray]:
    """Metrics of (n, algorithms x columns) sums, each (n,); NaN where a group has no such row."""
    found: dict[tuple[str, str], FloatArray] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for place, algorithm in enumerate(algorithms):
            part = sums[:, place * len(COLUMNS) : (place + 1) * len(COLUMNS)]
            by = {name: part[:, j] for j, name in enumerate(COLUMNS)}
            found["squared_error", algorithm] = by["squared_error"] / by["rows"]
            found["scaled_error", algorithm] = _scaled_error(by) / by["rows"]
            found["r2", algorithm] = 1 - by["squared_error"] / by["own_mean_error"]
            found["log_likelihood", algorithm] = by["log_likelihood"] / by["rows"]
            found["choice", algorithm] = by["choice"] / by["choice_rows"]
        for name, column in _FOR_CHOICE.items():  # these are the same for every algorithm
            found["choice", name] = sums[:, COLUMNS.index(column)] / sums[:, COLUMNS.index("choice_rows")]
    return found


def _scaled_error(sums: dict[str, FloatArray]) -> FloatArray:
    r"""Sum of squared errors after all predictions are multiplied by the one factor that suits them best.

    .. math:: \sum r^2 - \Big(\sum r \hat r\Big)^2 \Big/ \sum \hat r^2

    Predictions of 0 everywhere leave the rewards as they are.
    """
    size = sums["estimate_square"]
    explained = np.divide(sums["product"] ** 2, size, out=np.zeros_like(size), where=size > 0)
    return np.asarray(sums["reward_square"] - explained)


def calibration_of(tally: Tally, confidence: float, rng: np.random.Generator) -> Iterator[Covered]:
    """Coverage of the predictive intervals of every algorithm at every fraction and level."""
    for (algorithm, fraction), sums in tally.sums.items():
        users = np.flatnonzero(sums["rows"] > 0)
        columns = np.column_stack([sums[f"covered_{level}"][users] for level in LEVELS])
        rows = sums["rows"][users]
        if len(users) > 1:
            drawn = resampled(np.column_stack([columns, rows]), rng)
            low, high = percentiles(drawn[:, :-1] / drawn[:, -1:], len(users), confidence)
        else:
            low = high = np.full(len(LEVELS), math.nan)
        for j, level in enumerate(LEVELS):
            covered = float(columns[:, j].sum() / rows.sum())
            yield Covered(
                algorithm=algorithm,
                fraction=fraction,
                level=level,
                covered=covered,
                low=covered if math.isnan(low[j]) else float(low[j]),
                high=covered if math.isnan(high[j]) else float(high[j]),
                n_users=len(users),
                n_rows=round(float(rows.sum())),
            )
