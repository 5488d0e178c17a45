"""Stage 4: who lends to whom. Read `rules.py`, then `gaps.py` and `metric.py`."""

from coterie.neighbourhood.components import ConnectedComponents, ReplayedDeletion, WithinOnlineRadius
from coterie.neighbourhood.ellipsoid import Ellipsoids, NotDistinguished
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
from coterie.neighbourhood.stages import SplitThenMerge, StagedSplitMerge

__all__ = [
    "Alone",
    "ConnectedComponents",
    "EdgeRule",
    "Ellipsoids",
    "Everybody",
    "Groups",
    "JoinEverybody",
    "JoinLabelled",
    "JoinNobody",
    "Metric",
    "Neighbourhood",
    "NotDistinguished",
    "NotSeparated",
    "ReplayedDeletion",
    "SameLabel",
    "SplitThenMerge",
    "StagedSplitMerge",
    "Trace",
    "WithinGap",
    "WithinOnlineRadius",
]
