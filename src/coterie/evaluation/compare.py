"""Which algorithm is better, user by user, and whether the data can tell.

Takes: a `Tally`, groups of users.
Gives: `Difference` rows and a `Verdict` per group.
Next: `evaluate`.

The best algorithm by the mean is set against every other one. Users are the sampling unit: both are judged
by the same rows of the same users, and users are resampled. An interval that decides is widened for the
number of pairs that could have been compared (Bonferroni), since the best one was picked by these data.

The rows of one log are held out again and again, and models of its splits share most of what they learned.
So a lead by the scaled error must also be larger than what splits make of it by chance, by the resampled
t test that minds what training parts share (Nadeau and Bengio 2003); else it may be gone once everything
is learned from. Algorithms that, fitted on everything, decide alike need not be told apart.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import msgspec
import numpy as np
from numpy.typing import NDArray

from coterie.evaluation.alike import Alike
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
_SAME = 0.001  # share of sets decided differently up to which two algorithms decide alike
_FEWEST_SPLITS = 5
_WHO = {ALL: "all users", FEW: "users with few rows", UNSEEN: "users without a row"}


def differences_of(
    tally: Tally,
    groups: dict[str, NDArray[np.int64]],
    confidence: float,
    rng: np.random.Generator,
    alike: Alike | None = None,
) -> Iterator[Difference]:
    """The best algorithm against every other, by metric, fraction and group."""
    full = max(tally.fractions)
    for group in (name for name in GROUPS if name in groups):
        for fraction, metric in product(tally.fractions, _GAIN):
            for one in _against_best(tally, group, groups[group], fraction, metric, confidence, rng):
                yield one if fraction < full else _on_everything(one, tally, groups, confidence, alike)


def _on_everything(
    one: Difference,
    tally: Tally,
    groups: dict[str, NDArray[np.int64]],
    confidence: float,
    alike: Alike | None,
) -> Difference:
    """The difference with what bears on models of the whole log."""
    users = groups[one.group]
    apart = None if alike is None else alike.apart(one.algorithm, one.against, users)
    told = one.told_apart
    if one.metric == "scaled_error" and tally.parts:
        lead = _leads(tally, one.algorithm, one.against, users)
        told = told and beyond_splits(lead, tally.judged_share, confidence)
    return msgspec.structs.replace(one, told_apart=told, fitted_apart=apart)


def _leads(tally: Tally, better: str, worse: str, users: NDArray[np.int64]) -> FloatArray:
    """Lead (splits,) by the scaled error in each split, each algorithm with its one factor."""
    errors = []
    for name in (better, worse):
        sums = np.array([part[users].sum(axis=0) for part in tally.parts[name]])
        rows, reward_square, both, size = sums.T
        factor = both.sum() / size.sum() if size.any() else 0.0
        errors.append((reward_square - 2 * factor * both + factor**2 * size) / np.maximum(rows, 1e-300))
    return np.asarray(errors[1] - errors[0])


def beyond_splits(lead: FloatArray, judged_share: float, confidence: float) -> bool:
    r"""Whether a lead (J,) is above 0 by more than splits differ.

    .. math:: \frac{\bar x}{s \sqrt{1 / J + q / (1 - q)}} > t_{J - 1}

    with q the share of the rows that a split judges by. Of fewer than five splits nothing is asked: they say
    too little of how much splits differ.

    Examples
    --------
    The mean is 2 and its error sqrt(1/2) sqrt(1/5 + 1/4) = 0.474, so the ratio is 4.2; t is 2.8 at 95 % and
    4.6 at 99 %:

    >>> lead = np.array([1.0, 2.0, 3.0, 2.0, 2.0])
    >>> beyond_splits(lead, 0.2, 0.95), beyond_splits(lead, 0.2, 0.99)
    (True, False)
    """
    from scipy.special import stdtrit

    n = len(lead)
    if n < _FEWEST_SPLITS:
        return True
    error = lead.std(ddof=1) * np.sqrt(1 / n + judged_share / (1 - judged_share))
    return bool(lead.mean() > float(stdtrit(n - 1, 0.5 + confidence / 2)) * error)


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
    both, size = sums["product"][users], sums["estimate_square"][users]
    factor = both.sum() / size.sum() if size.any() else 0.0
    return np.asarray(sums["reward_square"][users] - 2 * factor * both + factor**2 * size)


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
    Those that, fitted on everything, decide as the best does need not be told from it.
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
    if metric != AUTO:
        return _spoken(group, tied, [best], by[first])
    chooses = _better_at_choosing(best, by["choice"])
    more = dict.fromkeys([*chooses, *_better_directed(best, by["direction_error"])])
    tied += [name for name in more if name not in tied]
    tied = tied if chooses else _told_by_choice(tied, by["choice"])
    if best not in tied:  # choosing told against it
        return _spoken(group, tied, [], by[first])
    same = [best, *(one.against for one in by[first] if one.against in tied and _decide_alike(one))]
    return _spoken(group, tied, same, by[first])


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


def _decide_alike(one: Difference) -> bool:
    """Whether it does not matter which of the two is fitted on everything."""
    return one.fitted_apart is not None and one.fitted_apart <= _SAME


def _spoken(group: str, tied: list[str], same: list[str], by: Sequence[Difference]) -> Verdict:
    """The verdict in a sentence; `same` are the tied ones that decide as the best does, it included."""
    told = len(tied) == 1 or set(tied) <= set(same)
    use = simplest(tied)
    alike = tuple(name for name in same if name != use) if use in same else ()
    if told:
        sentence = f"For {_WHO[group]}, use {use}{_as_others(use, alike)}{_next_best(tied, by)}."
        return Verdict(
            group=group, metric=by[0].metric, sentence=sentence, winner=use, candidates=(use,), same=alike
        )
    sentence = (
        f"For {_WHO[group]}, these data cannot tell {_listed(tied)} apart; "
        f"take {use}, the simplest of them"
        f"{_as_others(use, alike)}, or evaluate on more users."
    )
    return Verdict(
        group=group, metric=by[0].metric, sentence=sentence, winner=None, candidates=tuple(tied), same=alike
    )


def _next_best(tied: list[str], by: Sequence[Difference]) -> str:
    """By how much the best of the others is worse."""
    others = [one for one in by if one.algorithm in tied and one.against not in tied]
    if not others:
        return ""
    least = min(others, key=lambda one: one.value)
    return (
        f"; the next best, {least.against}, is worse by {least.value:.3g} "
        f"({least.low:.3g} to {least.high:.3g}) in {least.metric.replace('_', ' ')}"
    )


def _as_others(use: str, alike: Sequence[str]) -> str:
    if not alike:
        return ""
    verb = "decides" if len(alike) == 1 else "decide"
    return f" (fitted on everything, {_listed(alike)} {verb} as {use} does)"


def _listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> _listed(["a", "b", "c"]), _listed(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
