"""A page of 100,000 users in 20 dimensions stays below 5 MB, whatever their ids, and opens."""

import dataclasses
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import coterie as ct
from coterie.confidence import estimate
from coterie.model import Evidence, Model
from coterie.neighbourhood import NotSeparated
from coterie.report import write_report
from coterie.user_ids import UserIndex

USERS, DIM, LIMIT = 100_000, 20, 5_000_000
pytestmark = pytest.mark.slow


@cache
def crowd() -> Model:
    """Users each with a set of lenders of her own: nothing on the page repeats itself."""
    rng = np.random.default_rng(0)
    count = np.floor(20 * (rng.pareto(2.0, USERS) + 1))
    spread = rng.gamma(4.0, size=(USERS, DIM)) * count[:, np.newaxis] / 80
    gram = np.zeros((USERS, DIM * (DIM + 1) // 2))
    gram[:, np.arange(1, DIM + 1) * np.arange(2, DIM + 2) // 2 - 1] = spread
    theta = rng.normal(size=(8, DIM))[rng.integers(0, 8, USERS)] / DIM**0.5
    moment = spread * theta + np.sqrt(spread) * rng.normal(size=spread.shape) / 50
    stats = ct.UserStatistics.from_arrays(
        users=np.arange(USERS), count=count, moment=moment, gram=gram, reward_square=count
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.CoterieWarning)
        confidence = ct.Confidence(noise=0.02)
        model: Model = ct.Independent(confidence=confidence).fit(stats)
        hood = NotSeparated(0.25).connect(estimate(stats, confidence))
    assert model.evidence is not None
    return dataclasses.replace(model, evidence=Evidence(stats, hood, model.evidence.radius))


@pytest.mark.parametrize("ids", ["numbers", "random text"])
def test_a_page_of_many_users_is_small_enough(ids: str, tmp_path: Path) -> None:
    model = crowd()
    if ids == "random text":
        drawn = np.random.default_rng(1).integers(0, 256, (USERS, 16), dtype=np.uint8)
        model = dataclasses.replace(model, index=UserIndex(np.array([row.tobytes().hex() for row in drawn])))
    assert write_report(tmp_path / "page.html", model) < LIMIT
