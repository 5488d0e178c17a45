"""What a fit says when it did nothing, by hand."""

import re
from typing import Any

import numpy as np
import pytest

import coterie as ct
from coterie.model.report import count_resolving

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
QUIET = ct.Confidence(ridge=1.0, noise=0.0, regularity=ct.IID(0.5))


def alternating(rows: int, *theta: float) -> ct.UserStatistics:
    """Users 0, 1, ... with so many rows of action 1 each and rewards without noise."""
    users = np.repeat(np.arange(len(theta)), rows)
    return ct.summarize(ct.Logs.from_arrays(users, np.ones((len(users), 1)), np.repeat(theta, rows)))


@pytest.mark.parametrize(("distance", "alpha", "needed"), [(1.0, 1.0, 17), (1.0, 2.0, 65), (0.5, 1.0, 65)])
def test_count_resolving_by_hand(distance: float, alpha: float, needed: float) -> None:
    """beta = sqrt(1) = 1, so 2 alpha / sqrt(N / 4) < D from N > 16 alpha^2 / D^2 on."""
    assert count_resolving(distance, alternating(1, 0.0), QUIET, alpha, 1.0) == needed


@pytest.mark.parametrize(
    ("algorithm", "rows", "sentence"),
    [
        (ct.OffCLUB(confidence=QUIET), 2, r"separated, .*: the radii would resolve .* narrows the radii\.$"),
        (ct.OffC2LUB(confidence=QUIET, min_samples=0), 2, r"joined, .* the radii, and a larger gap, given"),
        (ct.OffC2LUB(confidence=QUIET), 99, r"joined, .* not for the radii, .* have 99 .* min_samples or"),
        (ct.OffC2LUB(confidence=QUIET, gap=0.1, min_samples=0), 99, "not for the radii, "),
    ],
)  # fmt: skip
def test_what_kept_users_apart_or_together(algorithm: Any, rows: int, sentence: str) -> None:
    """Estimates 0 and 0.99 theta: 2 rows leave radii of 1.4, 99 rows radii of 0.2; N_min is above 99."""
    (note,) = algorithm.fit(alternating(rows, 1.0, 1.0, -1.0)).report.notes
    assert re.search(sentence, note), note
