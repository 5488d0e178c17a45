"""Tables from rows: means, standard errors, the fixed gap's choice, improvements, verdicts, by hand."""

import math
from typing import Any

import pytest

from coterie.experiments.cell import Row
from coterie.experiments.tables import TableRow, improvements, means, table, with_fixed_gap


def row(method: str, gap: float, **more: Any) -> Row:
    given: dict[str, Any] = {
        "experiment": "scarce",
        "dataset": "synthetic",
        "method": method,
        "size": 20_000,
        "distribution": "equal",
        "logging": "random",
        "seed": 0,
        "gap": gap,
        "standard_error": 0.0,
        "seconds": 0.0,
        "neighbours": 1.0,
    }
    return Row(**given | more)


def test_means_and_standard_errors_over_seeds() -> None:
    """1, 2, 3: mean 2, standard deviation 1, standard error 1 / sqrt 3."""
    at = means([row("CLUB", gap, seed=seed) for seed, gap in enumerate([1.0, 2.0, 3.0])])
    assert at["synthetic", "CLUB", "random", "equal", 20_000] == pytest.approx((2, 1 / math.sqrt(3)))
    alone = means([row("CLUB", 1.0)])
    assert alone["synthetic", "CLUB", "random", "equal", 20_000] == (1, 0)


def test_the_fixed_gap_is_chosen_under_equal_service_and_reused() -> None:
    """Means over seeds: 0.3 gives 2 and 0.5 gives 1.5, so 0.5 it is, also where 0.3 would be better."""
    rows = [row("Off-C2LUB@0.3", 2.0), row("Off-C2LUB@0.3", 2.0, seed=1)]
    rows += [row("Off-C2LUB@0.5", 1.0), row("Off-C2LUB@0.5", 2.0, seed=1)]
    rows += [row("Off-C2LUB@0.3", 0.1, distribution="semi-random")]
    rows += [row("Off-C2LUB@0.5", 0.9, distribution="semi-random"), row("CLUB", 7.0)]
    chosen = with_fixed_gap(rows)
    assert sorted((one.method, one.distribution, one.gap) for one in chosen) == [
        ("CLUB", "equal", 7.0),
        ("Off-C2LUB", "equal", 1.0),
        ("Off-C2LUB", "equal", 2.0),
        ("Off-C2LUB", "semi-random", 0.9),
    ]


def test_tables_stand_beside_the_published_numbers() -> None:
    """Off-CLUB on synthetic data at 0.2M is published as .000037."""
    told = table(
        [
            row("Off-CLUB", 0.000074, experiment="sufficient", size=200_000),
            row("Oracle", 0.1, experiment="sufficient", size=200_000),
            row("Off-CLUB", 9.0, experiment="sufficient", size=200_000, distribution="semi-random"),
        ]
    )
    assert [(one.method, one.published, one.ratio) for one in told] == [
        ("Off-CLUB", 0.000037, pytest.approx(2)),
        ("Oracle", None, None),
    ]
    assert [one.verdict for one in told] == ["within a factor 2", ""]


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(1.04, "within 5 %"), (0.96, "within 5 %"), (1.2, "within 25 %"), (4.0, "differs by a factor 4")],
)
def test_verdicts_count_both_ways(ratio: float, verdict: str) -> None:
    assert TableRow("synthetic", "CLUB", 1, 1.0, 0.0, 1.0, ratio).verdict == verdict


def test_improvements_average_over_sizes_and_distributions_from_20k_on() -> None:
    """Over Off-CLUB 1 - 1/2 and 1 - 1/4: 62.5 percent; the best other is CLUB: 1 - 1/5 and 1 - 1/10: 85."""
    rows = []
    for distribution, club, other in (("equal", 2.0, 5.0), ("semi-random", 4.0, 10.0)):
        rows += [
            row("Off-C2LUB_Overestimation", 1.0, distribution=distribution),
            row("Off-CLUB", club, distribution=distribution),
            row("CLUB", other, distribution=distribution),
            row("SCLUB", other + 1, distribution=distribution),
            row("Off-C2LUB_Overestimation", 9.0, distribution=distribution, size=10_000),
        ]
    (gain,) = improvements(rows)
    assert gain.versus_off_club_percent == pytest.approx(62.5)
    assert gain.best_other == "CLUB"
    assert gain.versus_best_other_baseline_percent == pytest.approx(85)
    assert (gain.published_versus_off_club, gain.published_versus_best_other) == (44.2, 77.5)
    assert gain.verdict == "differs by 18 points"
