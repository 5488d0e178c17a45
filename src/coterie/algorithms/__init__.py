"""Algorithms, each a choice in every slot. Read `off_c2lub.py` and `off_club.py`, then `compose.py`."""

from coterie.algorithms.independent import Independent
from coterie.algorithms.off_c2lub import OffC2LUB
from coterie.algorithms.off_club import OffCLUB
from coterie.algorithms.oracle import Oracle
from coterie.algorithms.pooled import Pooled

__all__ = ["Independent", "OffC2LUB", "OffCLUB", "Oracle", "Pooled"]
