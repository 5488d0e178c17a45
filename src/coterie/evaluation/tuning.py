r"""Settings chosen inside a training part by the likelihood of rows set aside there.

Takes: the training part of a split, a `Candidate`.
Gives: `Tuned`: the settings, the spread of the noise around its predictions, and every trial.
Next: `evaluate`.

The spread is not tried out but solved for: of the Gaussian likelihood with variance s^2 (1 + a' M^-1 a) the
best s^2 is the mean of e^2 / (1 + a' M^-1 a).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from coterie.confidence import estimate_noise
from coterie.errors import LogError, quietly
from coterie.evaluation.candidates import Candidate, Settings
from coterie.evaluation.predict import predict
from coterie.evaluation.rows import LoggedRows
from coterie.evaluation.run import Trial
from coterie.model import Model
from coterie.neighbourhood.neighbourhood import IntArray
from coterie.packed import FloatArray
from coterie.statistics import UserStatistics

MOST_USERS = 500
_SMALLEST_SPREAD = 1e-9  # of the rewards' own spread: a perfect fit has a likelihood all the same


@dataclass(frozen=True, eq=False)
class Inner:
    """A training part cut again: statistics, the rows set aside, and the users' rows in the statistics."""

    stats: UserStatistics
    noise: float
    at: IntArray
    action: FloatArray
    reward: FloatArray
    weight: FloatArray


@dataclass(frozen=True, eq=False)
class Tuned:
    """What tuning found."""

    settings: Settings
    spread: float
    log_likelihood: float
    trials: tuple[tuple[Settings, float], ...] = field(default=())

    def rows(self, algorithm: str, split: int, fraction: float) -> Iterator[Trial]:
        """Trials as rows of a run."""
        for settings, value in self.trials:
            yield Trial(
                algorithm=algorithm,
                split=split,
                fraction=fraction,
                settings=spelled(settings),
                log_likelihood=value,
                chosen=settings == self.settings,
            )


def inner_of(
    rows: LoggedRows, part: FloatArray, aside: Any, rng: np.random.Generator, most_users: int = MOST_USERS
) -> Inner | None:
    """The inner cut of a training part; of many users a random `most_users`. None if it has no two sides."""
    users = np.unique(rows.user[part > 0])
    if len(users) > most_users:
        kept = np.zeros(len(rows.users), dtype=bool)
        kept[rng.choice(users, most_users, replace=False)] = True
        part, aside = np.where(kept[rows.user], part, 0.0), aside & kept[rows.user]
    if not (part * rows.weights).any() or not (rows.weights[aside] > 0).any():
        return None
    stats, at = rows.statistics(part)
    return Inner(
        stats,
        noise_of(stats),
        at[rows.user[aside]],
        rows.action[aside],
        rows.reward[aside],
        rows.weights[aside],
    )


def tune(candidate: Candidate, inner: Sequence[Inner], sign: Literal[-1, 0, 1]) -> Tuned:
    """Best settings by climbing one setting at a time, from the candidate's start.

    Each setting moves along its values while the likelihood grows; twice through all of them. The first value
    wins a tie. With several inner cuts the mean likelihood decides; with none the start is taken.
    """
    if not inner:
        return Tuned(candidate.start, 1.0, math.nan)
    found: dict[str, tuple[Settings, float, float]] = {}

    def value(settings: Settings) -> float:
        key = spelled(settings)
        if key not in found:
            each = [likelihood(_fitted(candidate, settings, one, sign), one) for one in inner]
            found[key] = (settings, *np.mean(each, axis=0).tolist())
        return found[key][1]

    best = candidate.start
    value(best)
    for _ in range(2):
        for name, values in candidate.grid.items():
            best = _climbed(best, name, values, value)
    settings, log_likelihood, spread = found[spelled(best)]
    trials = tuple((settings, value) for settings, value, _ in found.values())
    return Tuned(settings, spread, log_likelihood, trials)


def _fitted(candidate: Candidate, settings: Settings, inner: Inner, sign: Literal[-1, 0, 1]) -> Model:
    return quietly_fitted(candidate.algorithm(settings, inner.noise, sign), inner.stats)


def likelihood(model: Model, inner: Inner) -> tuple[float, float]:
    r"""Mean log-likelihood of the rows set aside at the best spread s, and s.

    .. math:: s^2 = \frac1n \sum \frac{e^2}{1 + a' M^{-1} a}
    """
    said = predict(model, inner.at, inner.action)
    error = (inner.reward - said.estimate) ** 2
    total = inner.weight.sum()
    floor = (_SMALLEST_SPREAD * max(float(np.std(inner.reward)), 1e-6)) ** 2
    square = max(float((inner.weight * error / (1 + said.spread)).sum() / total), floor)
    spread_of_row = np.log1p(said.spread)
    mean = float((inner.weight * spread_of_row).sum() / total)
    fit = float((inner.weight * error / (1 + said.spread)).sum() / total) / square
    return -0.5 * (math.log(2 * math.pi * square) + mean + fit), math.sqrt(square)


def noise_of(stats: UserStatistics) -> float:
    """Scale of the noise within users; where they have too few rows, the rewards' own spread."""
    try:
        return estimate_noise(stats)
    except LogError:
        square = float(stats.reward_square.sum() / max(stats.n_samples, 1.0))
        return math.sqrt(square)


def quietly_fitted(algorithm: Any, stats: UserStatistics) -> Model:
    """Model of one of many fits, whose warnings would come a hundred times."""
    with quietly():
        model: Model = algorithm.fit(stats)
    return model


def spelled(settings: Settings) -> str:
    """Settings in one line.

    >>> spelled({"ridge": 1.0, "gap": "over"})
    'ridge=1, gap=over'
    """
    return ", ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in settings.items()
    )


def _climbed(best: Settings, name: str, values: tuple[Any, ...], value: Any) -> Settings:
    """Settings after moving one of them along its values while that helps; of words, all are tried."""
    if isinstance(values[0], str):
        return max(({**best, name: word} for word in (best[name], *values)), key=value)
    for step in (1, -1):
        place = values.index(best[name]) + step
        while 0 <= place < len(values):
            tried = {**best, name: values[place]}
            if not value(tried) > value(best):
                break
            best, place = tried, place + step
    return best
