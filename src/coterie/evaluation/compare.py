"""Which algorithm is better, user by user, and whether the data can tell.

Takes: a `Tally`, groups of users.
Gives: `Difference` rows and a `Verdict` per group.
Next: `evaluate`.

The best algorithm by the mean is set against every other one. Users are the sampling unit: both are judged
by the same rows of the same users, and users are resampled. An interval that decides is widened for the
number of pairs that could have been compared (Bonferroni), since the best one was picked by these data.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from coterie.evaluation.candidates import simplest
from coterie.evaluation.intervals import percentiles, resampled
from coterie.evaluation.run import ALL, FEW, UNSEEN, Difference, Verdict
from coterie.evaluation.scores import Tally
from coterie.packed import FloatArray

_GAIN = {  # column and the column of its rows, and the sign that makes more of it better
    "scaled_error": ("scaled_error", "rows", -1.0),
    "direction_error": ("direction_error", "rows", -1.0),
    "squared_error": ("squared_error", "rows", -1.0),
    "log_likelihood": ("log_likelihood", "rows", 1.0),
    "choice": ("choice", "choice_rows", 1.0),
}
GROUPS = (ALL, FEW, UNSEEN)
AUTO = "auto"
_WHO = {ALL: "all users", FEW: "users with few rows", UNSEEN: "users without a row"}


def differences_of(
    tally: Tally, groups: dict[str, NDArray[np.int64]], confidence: float, rng: np.random.Generator
) -> Iterator[Difference]:
    """The best algorithm against every other, by metric, fraction and group."""
    for group in (name for name in GROUPS if name in groups):
        for fraction in tally.fractions:
            for metric in _GAIN:
                yield from _against_best(tally, group, groups[group], fraction, metric, confidence, rng)


def _against_best(
    tally: Tally,
    group: str,
    users: NDArray[np.int64],
    fraction: float,
    metric: str,
    confidence: float,
    rng: np.random.Generator,
) -> Iterator[Difference]:
    column, per, sign = _GAIN[metric]
    names = tally.algorithms
    rows = tally.sums[names[0], fraction][per][users]
    users, rows = users[rows > 0], rows[rows > 0]
    if len(users) < 2 or len(names) < 2:  # noqa: PLR2004
        return
    gain = sign * np.column_stack([_column(tally.sums[name, fraction], column, users) for name in names])
    best = int(np.argmax(gain.sum(axis=0)))
    against = gain[:, best : best + 1] - gain
    drawn = resampled(np.column_stack([against, rows]), rng)
    ratio = drawn[:, :-1] / drawn[:, -1:]
    low, high = percentiles(ratio, len(users), confidence)
    pairs = len(names) * (len(names) - 1) / 2
    least = _normal_low(against, rows, 1 - (1 - confidence) / pairs)
    for j, name in enumerate(names):
        if j != best:
            yield Difference(
                algorithm=names[best],
                against=name,
                metric=metric,
                fraction=fraction,
                group=group,
                value=float(against[:, j].sum() / rows.sum()),
                low=float(low[j]),
                high=float(high[j]),
                told_apart=bool(least[j] > 0),
                n_users=len(users),
            )


def _column(sums: dict[str, FloatArray], name: str, users: NDArray[np.int64]) -> FloatArray:
    """Sums (users,) of a column; the scaled error takes the one factor that suits all these users."""
    if name != "scaled_error":
        return sums[name][users]
    product, size = sums["product"][users], sums["estimate_square"][users]
    factor = product.sum() / size.sum() if size.any() else 0.0
    return np.asarray(sums["reward_square"][users] - 2 * factor * product + factor**2 * size)


def _normal_low(against: FloatArray, rows: FloatArray, confidence: float) -> FloatArray:
    """Lower ends (C,) of Student intervals of the ratio, which need no far percentile of a bootstrap."""
    from scipy.special import stdtrit

    n = len(rows)
    mean = against.sum(axis=0) / rows.sum()
    residual = against - mean * rows[:, np.newaxis]
    error = np.sqrt(n / (n - 1) * (residual**2).sum(axis=0)) / rows.sum()
    return np.asarray(mean - float(stdtrit(n - 1, 0.5 + confidence / 2)) * error)


def verdict_of(
    group: str, algorithms: Sequence[str], differences: Sequence[Difference], metric: str
) -> Verdict | None:
    """What to use for a group, by its differences at the largest fraction; None where nothing compares.

    With `metric` "auto" the scaled error decides: the squared error after one factor on all predictions,
    which sees finer than the value of choosing. It does not decide against an algorithm that clearly chooses
    better, nor against one with less error once each user has a factor of her own: none changes a decision.
    """
    if len(algorithms) == 1:
        only = algorithms[0]
        sentence = f"Only {only} was evaluated, so there is nothing to compare it with."
        return Verdict(group=group, metric=metric, sentence=sentence, winner=only, candidates=(only,))
    of_group = [one for one in differences if one.group == group]
    if not of_group:
        return None
    full = max(one.fraction for one in of_group)
    by = {name: [d for d in of_group if d.metric == name and d.fraction == full] for name in _GAIN}
    first = "scaled_error" if metric == AUTO else metric
    if not by.get(first):
        return None
    best = by[first][0].algorithm
    tied = [best, *(one.against for one in by[first] if not one.told_apart)]
    if metric == AUTO:
        chooses = _better_at_choosing(best, by["choice"])
        more = dict.fromkeys([*chooses, *_better_directed(best, by["direction_error"])])
        tied += [name for name in more if name not in tied]
        tied = tied if chooses else _told_by_choice(tied, by["choice"])
    return _spoken(group, metric if metric != AUTO else first, tied, by[first])


def _better_at_choosing(best: str, choice: Sequence[Difference]) -> list[str]:
    """The algorithm that clearly chooses better than the one with the least error, if there is one."""
    return [one.algorithm for one in choice if one.against == best and one.told_apart]


def _better_directed(best: str, direction: Sequence[Difference]) -> list[str]:
    """Algorithms with less direction error than this one, by however little."""
    if not direction or direction[0].algorithm == best:
        return []
    behind = {one.against: one.value for one in direction}
    return [direction[0].algorithm, *(name for name, value in behind.items() if value < behind[best])]


def _told_by_choice(tied: list[str], choice: Sequence[Difference]) -> list[str]:
    """Those of the tied ones that choosing does not tell from the best at it, where that one is tied."""
    if len(tied) == 1 or not choice or choice[0].algorithm not in tied:
        return tied
    worse = {one.against for one in choice if one.told_apart}
    return [name for name in tied if name not in worse]


def _spoken(group: str, metric: str, tied: list[str], by: Sequence[Difference]) -> Verdict:
    """The verdict in a sentence."""
    who, what = _WHO[group], metric.replace("_", " ")
    if len(tied) == 1:
        others = [one for one in by if one.algorithm == tied[0]]
        next_best = min(others, key=lambda one: one.value) if others else None
        by_how_much = (
            f"; the next best, {next_best.against}, is worse by {next_best.value:.3g} "
            f"({next_best.low:.3g} to {next_best.high:.3g}) in {what}"
            if next_best
            else ""
        )
        sentence = f"For {who}, use {tied[0]}{by_how_much}."
        return Verdict(group=group, metric=metric, sentence=sentence, winner=tied[0], candidates=tuple(tied))
    sentence = (
        f"For {who}, these data cannot tell {', '.join(tied[:-1])} and {tied[-1]} apart; "
        f"take {simplest(tied)}, the simplest of them, or evaluate on more users."
    )
    return Verdict(group=group, metric=metric, sentence=sentence, winner=None, candidates=tuple(tied))
