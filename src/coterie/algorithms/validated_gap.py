r"""A gap chosen by rows held out: how many pairs it should join, and the number that joins them.

Takes: pairs of statistics to learn from and to be judged by, and an `OffC2LUB`.
Gives: a numeric gap for the statistics that are fitted in the end.
Paper: none; it asks for a gap that is known, or for one of its two policies.
Next: `off_c2lub`.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coterie.algorithms.compose import scale_of
from coterie.algorithms.halves import Folds, squared_error
from coterie.confidence import estimate
from coterie.errors import quietly
from coterie.neighbourhood.rules import left_sides
from coterie.packed import FloatArray
from coterie.progress import Progress, silent
from coterie.statistics import UserStatistics

if TYPE_CHECKING:
    from coterie.algorithms.off_c2lub import OffC2LUB

_GAPS = 33  # tried at even steps from 0 to the one that joins every pair
_MOST_USERS = 500  # users among whom pairs are counted


def validated_gap(
    algorithm: "OffC2LUB", stats: UserStatistics, folds: Folds, progress: Progress = silent
) -> float:
    """Gap for `stats` that joins as many pairs as the one with the least squared error on rows held out.

    What is carried over is the share of pairs and not the number: half of the rows has wider radii
    than all of them, so that one number would join more users in the end than it did when it was judged. Of
    equals the smallest is taken.
    """
    algorithm = replace(algorithm, confidence=algorithm.confidence.resolved(stats))
    errors, shares = np.zeros(_GAPS), np.zeros(_GAPS)
    for done, (learned, held) in enumerate(folds):
        sides = _sides(algorithm, learned)
        gaps = np.linspace(0, sides.max(initial=0.0) * (1 + 1e-9), _GAPS)
        shares += np.searchsorted(sides, gaps) / max(len(sides), 1) / len(folds)
        for k, gap in enumerate(gaps.tolist()):
            with quietly():
                errors[k] += _error(replace(algorithm, gap=gap), learned, held)
            progress("choosing the gap", done * _GAPS + k + 1, len(folds) * _GAPS)
    return _joining(float(shares[np.argmin(errors)]), _sides(algorithm, stats))


def _error(algorithm: "OffC2LUB", learned: UserStatistics, held: UserStatistics) -> float:
    """Squared error on rows held out; users of theirs who are not known are users never seen."""
    model, rows = algorithm.fit(learned), learned.index.rows(held.users)
    group = model.policy.group[np.where(rows >= 0, rows, model.n_users)]
    return squared_error(model.policy.theta[group], held, model.scale)


def _sides(algorithm: "OffC2LUB", stats: UserStatistics) -> FloatArray:
    """Distances with radii of the pairs that some gap joins."""
    with quietly():
        estimates = estimate(stats, algorithm.confidence, scale_of(stats, rescale=algorithm.rescale))
    sides = left_sides(estimates, algorithm.graph_scale, _MOST_USERS)
    return sides[np.isfinite(sides)]


def _joining(share: float, sides: FloatArray) -> float:
    """Gap that joins this share of pairs: halfway between the last that joins and the next; 0 for none.

    >>> _joining(0.5, np.array([1.0, 2.0, 3.0, 4.0])), _joining(0.0, np.array([1.0]))
    (2.5, 0.0)
    """
    number = round(share * len(sides))
    if number == 0:
        return 0.0
    last = float(sides[number - 1])
    return (last + float(sides[number])) / 2 if number < len(sides) else last * (1 + 1e-9)
