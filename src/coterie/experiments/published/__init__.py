"""The paper's published numbers, as they stand in its tables and text."""

import csv
from importlib.resources import files

TableKey = tuple[str, str, int]
ImprovementKey = tuple[str, str, str]


def tables() -> dict[TableKey, float]:
    """Suboptimality gap by (data set, method, size).

    >>> tables()["synthetic", "Off-CLUB", 200_000]
    3.7e-05
    """
    return {
        (row["dataset"], row["method"], int(row["dataset_size"])): float(row["suboptimality_gap"])
        for row in csv.DictReader(_lines("tables.csv"))
    }


def improvements() -> dict[ImprovementKey, tuple[float, float]]:
    """Improvement in percent over Off-CLUB and over the best other baseline, by (logging, data set, method).

    >>> improvements()["random", "synthetic", "Off-C2LUB_Overestimation"]
    (44.2, 77.5)
    """
    rows = csv.DictReader(_lines("improvements.csv"))
    return {
        (row["logging"], row["dataset"], row["method"]): (
            float(row["versus_off_club_percent"]),
            float(row["versus_best_other_baseline_percent"]),
        )
        for row in rows
    }


def _lines(name: str) -> list[str]:
    return files(__name__).joinpath(name).read_text().splitlines()
