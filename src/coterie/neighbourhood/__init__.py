"""Stage 4: who lends to whom. Read `rules.py`, then `gaps.py` and `metric.py`."""

from coterie.neighbourhood.metric import Metric
from coterie.neighbourhood.neighbourhood import Alone, Everybody, Groups, Neighbourhood, SameLabel, Trace
from coterie.neighbourhood.rules import (
    EdgeRule,
    JoinEverybody,
    JoinLabelled,
    JoinNobody,
    NotSeparated,
    WithinGap,
)

__all__ = [
    "Alone",
    "EdgeRule",
    "Everybody",
    "Groups",
    "JoinEverybody",
    "JoinLabelled",
    "JoinNobody",
    "Metric",
    "Neighbourhood",
    "NotSeparated",
    "SameLabel",
    "Trace",
    "WithinGap",
]
