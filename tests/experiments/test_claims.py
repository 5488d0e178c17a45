"""Verdicts on made-up rows whose answers are seen at a glance."""

import pytest

from coterie.experiments import published
from coterie.experiments.claims import Claim, claims
from coterie.experiments.settings import DATASETS, SUFFICIENT
from coterie.experiments.tables import TableRow


def rows(factors: dict[tuple[str, str, int], float] | None = None) -> list[TableRow]:
    """The published numbers as if they were ours, some times a factor."""
    made = []
    for key, value in published.tables().items():
        factor = (factors or {}).get(key, 1.0)
        made.append(TableRow(key[0], key[1], key[2], factor * value, 0.0, value, factor))
    return made


def named(found: list[Claim], start: str) -> Claim:
    return next(claim for claim in found if claim.text.startswith(start))


def test_the_published_numbers_meet_every_claim() -> None:
    found = claims(rows())
    assert [claim.holds for claim in found] == [True] * 5
    assert not any(claim.exceptions for claim in found)
    assert "15 of 15 cells" in named(found, "LinUCB_IND within").seen
    assert len(DATASETS) * len(SUFFICIENT) == 15


@pytest.mark.parametrize(
    ("key", "factor", "claim", "holds"),
    [
        (("yelp", "LinUCB_IND", 200_000), 1.04, "LinUCB_IND within", True),
        (("yelp", "LinUCB_IND", 200_000), 0.94, "LinUCB_IND within", False),
        (("yelp", "Off-CLUB", 200_000), 1.2, "Off-CLUB within", True),
        (("movielens", "Off-CLUB", 200_000), 1.2, "Off-CLUB within", False),
        (("yelp", "Off-CLUB", 600_000), 1.1, "Off-CLUB at least 20", False),
    ],
)
def test_a_cell_that_is_too_far_fails_its_claim_and_is_named(
    key: tuple[str, str, int], factor: float, claim: str, holds: bool
) -> None:
    """Off-CLUB on Yelp at 600k is published 20.8 times better than LinUCB_IND: at 1.1 times its gap, 18.9."""
    found = named(claims(rows({key: factor})), claim)
    assert found.holds == holds
    if not holds:
        assert found.exceptions[0].startswith(f"{key[0]} {key[2] // 1000}k")
        assert str(found).startswith("FAILS")


def test_broken_orders_are_listed_with_reasons_and_fail_without_one() -> None:
    """CLUB has no reason to be far above LinUCB_IND-like rows; X-means has one to be far below them."""
    explained = named(claims(rows({("synthetic", "XMeans_Improve", 200_000): 1e-6})), "the order")
    assert explained.holds
    assert len(explained.exceptions) > 1
    assert "XMeans_Improve: the published row" in explained.exceptions[0]
    broken = named(claims(rows({("synthetic", "Off-CLUB", 1_000_000): 5000.0})), "the order")
    assert not broken.holds
    assert any("no reason is known" in one for one in broken.exceptions)
    assert "without" in broken.seen


def test_claims_that_rows_cannot_judge_are_left_out() -> None:
    assert claims([]) == []
    only = [row for row in rows() if row.method == "LinUCB_IND"]
    assert [claim.text[:10] for claim in claims(only)] == ["LinUCB_IND"]
