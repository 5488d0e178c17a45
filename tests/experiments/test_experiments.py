"""The gap's influence, which algorithm when, theory beside practice: numbers by hand, figures that draw."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.experiments.test_tables import row

import coterie as ct
from coterie import theory
from coterie.experiments import settings
from coterie.experiments.bounds import LOWER, THEOREM_1, THEOREM_2, bounds_of
from coterie.experiments.cell import Row, run
from coterie.experiments.drawings import drawings
from coterie.experiments.influence import reach
from coterie.experiments.methods import METHODS, Training, methods_of
from coterie.experiments.regimes import winners
from coterie.worlds import Synthetic

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")


def test_bounds_are_the_theorems_on_the_drawn_data() -> None:
    """Two users in two clusters with many rows: each is served alone, so V = {u}, W is empty, eta = 0."""
    drawn = Synthetic(n_users=2, n_clusters=2, dim=2, noise=0.05, min_gap=1.0).draw(4_000, 0)
    training = Training(drawn, "paper_tables")
    models = {name: METHODS[name].fit(training) for name in ("Off-CLUB", "Off-C2LUB_Overestimation")}
    assert models["Off-C2LUB_Overestimation"].pooled_users.tolist() == [1, 1]
    found = bounds_of(models, training, 0.05)
    given: dict[str, Any] = {"confidence": models["Off-CLUB"].confidence, "dim": 2, "n_users": 2}
    count = training.stats.count
    first = [theory.suboptimality_bound(1, pooled_count=n, **given) for n in count]
    second = [theory.suboptimality_bound(2, pooled_count=n, **given) for n in count]
    assert found[THEOREM_1] == pytest.approx((float(np.mean(first)), 1.0))
    assert found[THEOREM_2] == pytest.approx((float(np.mean(second)), 1.0))
    assert found[LOWER][0] == pytest.approx(0.05 * np.mean(np.sqrt(8 * 2 / count)))


def test_below_the_needed_count_bounds_are_marked_as_not_proven() -> None:
    training = Training(Synthetic(n_users=4, n_clusters=2, dim=2).draw(100, 0), "paper_tables")
    models = {name: METHODS[name].fit(training) for name in ("Off-CLUB", "Off-C2LUB_Overestimation")}
    found = bounds_of(models, training, 0.05)
    assert found[THEOREM_1][1] == found[THEOREM_2][1] == 0.0
    assert np.isfinite(found[THEOREM_1][0])


def test_reach_tells_from_which_gap_on_users_are_joined() -> None:
    """Counted by fitting Off-C2LUB with a gap between, for every user."""
    found = reach(size=20_000)
    gap = float(np.median(found.alike))
    cell = settings.Cell("gap", "synthetic", "random", "equal", 20_000, 0, 1, "paper_tables")
    from coterie.experiments.datasets import world_of

    world = world_of(cell, None)
    training = Training(world.draw(10_000, np.random.default_rng(cell.entropy)), "paper_tables")
    model = ct.OffC2LUB(gap=gap, **ct.presets.paper_tables("OffC2LUB")).fit(training.stats)
    joined = np.searchsorted(found.alike, gap) + np.searchsorted(found.unlike, gap)
    assert int(model.pooled_users.sum()) - found.n_users == joined
    assert found.gamma == world.truth.gap
    assert found.alike.mean() < found.unlike.mean()


def regime(method: str, gap: float, seed: int) -> Row:
    return row(method, gap, experiment="regimes", seed=seed)


def test_winners_are_told_apart_by_paired_differences() -> None:
    """Known: differences 1, 1, 1 have no spread. Unknown: 1, -1, 0.3 have mean .1 and a wide one."""
    rows = []
    for seed, (club, under) in enumerate([(2.0, 3.0), (4.0, 3.0), (3.0, 3.3)]):
        rows += [
            regime("Off-CLUB", club, seed),
            regime("Off-C2LUB@gamma", club - 1, seed),
            regime("Off-C2LUB_Underestimation", under, seed),
            regime("Off-C2LUB_Overestimation", 9.0, seed),
        ]
    known, unknown = winners(rows)
    assert (known.winner, known.second, known.told_apart) == ("Off-C2LUB@gamma", "Off-CLUB", True)
    assert (unknown.winner, unknown.told_apart) == ("Off-CLUB", False)
    assert unknown.sentence == "Off-CLUB, Off-C2LUB_Underestimation (equal)"


def test_methods_of_an_experiment_exist_and_the_plan_is_as_printed() -> None:
    cells = settings.cells_of("all", settings.DATASETS, 10, "paper_tables", quick=False)
    assert all(set(methods_of(cell)) <= set(METHODS) for cell in cells)
    gap = {(cell.dataset, cell.size) for cell in cells if cell.experiment == "gap"}
    assert gap == {(data, size) for data in settings.DATASETS for size in (30_000, 35_000, 40_000)}
    assert len({cell.name for cell in cells}) == len(cells)
    k_means = settings.cells_of("figures", ["yelp"], 1, "paper_tables", quick=True, groups="k-means")
    assert {cell.distribution for cell in k_means} == {"equal", "semi-random-k-means"}
    assert max(cell.rounds for cell in k_means) == 1_000


def test_every_figure_is_drawn_and_kept_in_two_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("N_USERS", 20), ("N_CLUSTERS", 2), ("DIM", 4)):
        monkeypatch.setattr(f"coterie.experiments.datasets.{name}", value)
    rows = []
    for experiment in ("sufficient", "scarce", "gap", "regimes", "theory"):
        for size in (400, 800):
            for logging in ("random", "linucb") if experiment == "scarce" else ("random",):
                cell = settings.Cell(experiment, "synthetic", logging, "equal", size, 0, 20, "paper_tables")
                rows += run(cell, None, methods_of(cell))
    drawn = list(drawings(rows))
    assert [one.name for one in drawn] == [
        "sufficient", "scarce_random", "scarce_linucb", "gap_influence", "gap_schematic", "regimes", "theory",
    ]  # fmt: skip
    for one in drawn:
        one.save(tmp_path)
        assert (tmp_path / f"{one.name}.svg").read_text().startswith("<?xml")
        assert (tmp_path / f"{one.name}.png").stat().st_size > 10_000
        assert one.caption.endswith(".")
        for legend in one.figure.legends:  # all of it is on the paper, whatever the number of panels
            box = legend.get_window_extent()
            assert box.x0 >= 0
            assert box.y0 >= 0
            assert box.x1 <= one.figure.bbox.x1
