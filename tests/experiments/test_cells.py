"""Cells: what is planned, that finished ones are kept, and that nothing depends on jobs."""

from pathlib import Path

import numpy as np
import pytest

import coterie as ct
from coterie.algorithms import Independent
from coterie.experiments import settings, store
from coterie.experiments.cell import mean_gaps
from coterie.experiments.methods import Training, squared_error, tuned
from coterie.worlds import Synthetic

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")


def test_the_plan_is_the_paper_s() -> None:
    """3 data sets x 5 sizes x 10 seeds; 3 x 11 x 4 kinds x 10; the second half of |D| evaluates."""
    tables = settings.table_cells(settings.DATASETS, settings.SEEDS, "paper_tables", quick=False)
    figures = settings.figure_cells(settings.DATASETS, settings.SEEDS, "paper_tables", quick=False)
    assert (len(tables), len(figures)) == (150, 1320)
    assert all(cell.rounds == cell.size // 2 for cell in tables + figures)
    assert len({cell.name for cell in tables + figures}) == 1470
    assert len({tuple(cell.entropy) for cell in tables}) == 150


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> settings.Cell:
    for name, value in (("N_USERS", 20), ("N_CLUSTERS", 2), ("DIM", 4)):
        monkeypatch.setattr(f"coterie.experiments.datasets.{name}", value)
    return settings.Cell("scarce", "synthetic", "random", "equal", 400, 0, 50, "paper_tables")


def test_finished_cells_are_kept_and_rows_come_in_the_plan_s_order(
    small: settings.Cell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from coterie.experiments.cell import run

    cells = [small, settings.Cell("scarce", "synthetic", "linucb", "semi-random", 400, 1, 50, "paper_text")]
    kept = tmp_path / "cells"
    kept.mkdir()
    want = []
    for cell in cells[::-1]:
        store._kept(cell, kept, None)
    for cell in cells:
        want += run(cell, None)
    seen: list[tuple[int, int | None]] = []
    rows = store.rows_of(cells, tmp_path, None, 1, lambda _, done, total: seen.append((done, total)))
    assert seen == [(2, 2)]  # nothing was left to run
    assert [(one.method, one.gap, one.logging) for one in rows] == [
        (one.method, one.gap, one.logging) for one in want
    ]
    assert len({one.method for one in rows}) == len(rows) // 2 >= 20


def test_equal_models_are_asked_once_and_gaps_are_those_of_decisions() -> None:
    world = Synthetic(n_users=6, n_clusters=2, dim=3).world(0)
    drawn = world.draw(60, 1)
    model, other = ct.Independent().fit(drawn.logs), ct.Pooled().fit(drawn.logs)
    service = np.full(6, 1 / 6)
    models = {"a": model, "b": other, "c": ct.Independent().fit(drawn.logs)}
    gaps = mean_gaps(models, world, 40, np.random.default_rng(5), service)
    (block,) = world.requests(40, np.random.default_rng(5), service)
    value = np.einsum("bkd,bd->bk", block.actions, world.truth.theta[block.user])
    for name, one in models.items():
        picked = [one.decide(u, a).index for u, a in zip(block.user, block.actions, strict=True)]
        lost = value.max(axis=1) - value[np.arange(40), picked]
        assert gaps[name] == pytest.approx(lost.mean())
    assert gaps["a"] == gaps["c"] != gaps["b"]


def test_squared_errors_and_tuning_are_those_of_the_rows() -> None:
    drawn = Synthetic(n_users=5, n_clusters=1, dim=3, noise=0.5).draw(200, 0)
    training = Training.of(drawn)
    model = ct.Independent().fit(training.halves[0])
    rows = slice(1, None, 2)
    user, action, reward = drawn.user[rows], drawn.action[rows], drawn.reward[rows]
    residual = reward - np.einsum("nd,nd->n", action, model.theta[user])
    assert squared_error(model, training.halves[1]) == pytest.approx(float(residual @ residual))
    ridges = [Independent(confidence=ct.Confidence(ridge=ridge)) for ridge in (1e-3, 10.0, 1e5)]
    errors = [squared_error(one.fit(training.halves[0]), training.halves[1]) for one in ridges]
    assert tuned(ridges, training) is ridges[int(np.argmin(errors))]
