"""Cells: what is planned, that finished ones are kept, and that nothing depends on jobs."""

from pathlib import Path

import numpy as np
import pytest

import coterie as ct
from coterie.algorithms import Independent
from coterie.experiments import _kernels, _plain, settings, store
from coterie.experiments.asked import mean_gaps
from coterie.experiments.cell import run
from coterie.experiments.methods import METHODS, HeldOut, Training, tuned
from coterie.packed import pack
from coterie.worlds import Synthetic

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")


def test_the_plan_is_the_paper_s() -> None:
    """3 data sets x 5 sizes x 10 seeds; 3 x 11 x 4 kinds x 10; the second half of |D| evaluates."""
    tables = settings.table_cells(settings.DATASETS, settings.SEEDS, "paper_tables", quick=False)
    figures = settings.scarce_cells(settings.DATASETS, settings.SEEDS, "paper_tables", quick=False)
    assert (len(tables), len(figures)) == (150, 1320)
    assert all(cell.rounds == cell.size // 2 for cell in tables + figures)
    assert len({cell.name for cell in tables + figures}) == 1470
    assert len({tuple(cell.entropy) for cell in tables}) == 150
    quick = settings.scarce_cells(settings.DATASETS, settings.QUICK_SEEDS, "paper_tables", quick=True)
    assert (
        len(quick) == 3 * 2 * (11 + 6) * 2
    )  # data sets, seeds, sizes of random and LinUCB logging, services
    assert {cell.size for cell in quick if cell.logging == "random"} == set(settings.SCARCE)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> settings.Cell:
    for name, value in (("N_USERS", 20), ("N_CLUSTERS", 2), ("DIM", 4)):
        monkeypatch.setattr(f"coterie.experiments.datasets.{name}", value)
    return settings.Cell("scarce", "synthetic", "random", "equal", 400, 0, 50, "paper_tables")


def test_finished_rows_are_kept_and_a_method_asked_for_later_meets_the_same_requests(
    small: settings.Cell, tmp_path: Path
) -> None:
    cells = [small, settings.Cell("scarce", "synthetic", "linucb", "semi-random", 400, 1, 50, "paper_text")]
    kept = tmp_path / "cells"
    kept.mkdir()
    for cell in cells[::-1]:
        store.keep(cell, kept, None, ["Pooled"])
        store.keep(cell, kept, None, ["Off-CLUB", "Pooled"])
    want = [row for cell in cells for row in run(cell, None, ["Off-CLUB", "Pooled"])]
    seen: list[tuple[int, int | None]] = []
    rows = store.rows_of(
        cells,
        tmp_path,
        None,
        1,
        lambda _, done, total: seen.append((done, total)),
        methods=["Pooled", "Off-CLUB"],
    )
    assert seen == [(2, 2)]  # nothing was left to run
    assert [(one.method, one.gap, one.logging) for one in rows] == [
        (one.method, one.gap, one.logging) for one in want
    ]
    assert [one.method for one in store.rows_of(cells[:1], tmp_path, None, 1, methods=["Pooled"])] == [
        "Pooled"
    ]


def test_every_method_has_a_row(small: settings.Cell) -> None:
    rows = run(small, None, list(METHODS))
    assert [one.method for one in rows] == list(METHODS)
    assert all(0 <= one.gap <= 1 and one.standard_error >= 0 for one in rows)


def test_gaps_are_those_of_decisions_and_their_standard_errors() -> None:
    """Two models that are alike, one that is alike for some users, and one that was fitted on other units."""
    world = Synthetic(n_users=6, n_clusters=2, dim=3).world(0)
    drawn = world.draw(60, 1)
    labels, service = [0, 0, 1, 2, 3, 4], np.full(6, 1 / 6)
    long = ct.Logs.from_arrays(drawn.user, 2 * drawn.action, drawn.reward)
    models = {
        "alone": ct.Independent().fit(drawn.logs),
        "pooled": ct.Pooled().fit(drawn.logs),
        "again": ct.Independent().fit(drawn.logs),
        "some": ct.Oracle(labels).fit(drawn.logs),
        "optimist": ct.LinUCB().fit(drawn.logs),
        "squared": ct.Independent(bonus=ct.Bonus(form="squared")).fit(drawn.logs),
        "greedy": ct.Independent(bonus=ct.Bonus(sign=0)).fit(drawn.logs),
        "units": ct.Independent().fit(long),
        "fewer users": ct.Independent(bonus=ct.Bonus(sign=0)).fit(ct.summarize(drawn.logs).without([2])),
    }
    gaps = mean_gaps(models, world, 300, np.random.default_rng(5), service)
    blocks = list(world.requests(300, np.random.default_rng(5), service, 256))
    user = np.concatenate([block.user for block in blocks])
    actions = np.concatenate([block.actions for block in blocks])
    value = np.einsum("bkd,bd->bk", actions, world.truth.theta[user])
    for name, one in models.items():
        picked = [one.decide(u, a).index for u, a in zip(user, actions, strict=True)]
        lost = value.max(axis=1) - value[np.arange(300), picked]
        assert gaps[name].mean == pytest.approx(lost.mean()), name
        assert gaps[name].standard_error == pytest.approx(lost.std() / np.sqrt(300)), name
    assert gaps["alone"] == gaps["again"] != gaps["pooled"]


@pytest.mark.parametrize("candidates", [1, 5, 8, 20])
@pytest.mark.parametrize("dim", [1, 6, 7])
def test_the_kernel_and_its_twin_lose_the_same(candidates: int, dim: int) -> None:
    """Models of all signs and norms; the seventh serves user 0 as the second does, and shares factors."""
    rng = np.random.default_rng(3)
    n_users, rows = 5, 9
    wild = rng.standard_normal((rows, 9, dim))
    lower = np.linalg.cholesky(wild.swapaxes(1, 2) @ wild + 0.1 * np.eye(dim))
    lower[:, range(dim), range(dim)] = 1 / lower[:, range(dim), range(dim)]
    row = rng.integers(0, rows, (n_users, 7))
    row[:, 6] = row[:, 1]
    first, alike = np.tile(np.arange(7), (n_users, 1)), np.tile(np.arange(7), (n_users, 1))
    first[0, 6], alike[:, 6] = 1, 1
    tables = _plain.AllServed(
        row=row,
        first=first,
        alike=alike,
        theta=rng.standard_normal((rows, dim)),
        factor=pack(np.asarray(lower, dtype=np.float64)),
        wide=np.array([0.0, 0.01, 1.0, 30.0, 0.1, 0.3, 0.5, 1.0, 2.0]),
        sign=np.array([0.0, -1.0, -1.0, 1.0, 1.0, 0.0, -1.0]),
        squared=np.array([True, False, True, False, True, False, False]),
    )
    user, truth = rng.integers(0, n_users, 40), rng.standard_normal((n_users, dim))
    given = user, rng.standard_normal((40, candidates, dim)), truth, tables
    sums = {}
    for twin, ask in (("plain", _plain.ask), ("compiled", _kernels.ask_for(dim, candidates))):
        sums[twin] = np.ones(8), np.ones(8)  # one more than there are models: not touched
        ask(*given, *sums[twin])
    for plain, compiled in zip(sums["plain"], sums["compiled"], strict=True):
        assert compiled == pytest.approx(plain, abs=1e-12)
        assert plain[7] == 1
        assert (plain[:7] > 1).all() == (candidates > 1)


def test_one_model_serves_all_gaps_that_join_nobody() -> None:
    """Whatever the shortcut does, neighbours are those of a fit with that gap."""
    training = Training(Synthetic(n_users=6, n_clusters=2, dim=3).draw(2_000, 0), "paper_tables")
    first = training.joining_nobody[1]
    for gap in (0.5 * first, first, 1.001 * first, 1.6):
        found = METHODS["Off-C2LUB@0.5"].fit.func(training, gap=gap)  # type: ignore[attr-defined]
        want = ct.OffC2LUB(gap=gap, **training.settings("OffC2LUB")).fit(training.stats)
        assert found.pooled_users.tolist() == want.pooled_users.tolist()
        assert (found.pooled_users.max() > 1) == (gap > first)


def test_squared_errors_and_tuning_are_those_of_the_rows() -> None:
    drawn = Synthetic(n_users=5, n_clusters=1, dim=3, noise=0.5).draw(200, 0)
    training = Training(drawn, "paper_tables")
    model = ct.Independent().fit(training.halves[0])
    rows = slice(1, None, 2)
    user, action, reward = drawn.user[rows], drawn.action[rows], drawn.reward[rows]
    residual = reward - np.einsum("nd,nd->n", action, model.theta[user])
    assert HeldOut.of(training.halves[1]).squared_error(model.theta) == pytest.approx(
        float(residual @ residual)
    )
    ridges = [Independent(confidence=ct.Confidence(ridge=ridge)) for ridge in (1e-3, 10.0, 1e5)]
    held_out = HeldOut.of(training.halves[1])
    errors = [held_out.squared_error(one.fit(training.halves[0]).theta) for one in ridges]
    assert tuned(ridges, training) is ridges[int(np.argmin(errors))]
