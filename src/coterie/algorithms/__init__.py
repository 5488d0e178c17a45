"""Algorithms, each a choice in every slot. Read `off_c2lub.py` and `off_club.py`, then `compose.py`."""

from coterie.algorithms.armul import ARMUL
from coterie.algorithms.club import CLUB
from coterie.algorithms.dbscan import DBSCAN
from coterie.algorithms.independent import Independent
from coterie.algorithms.linucb import LinUCB
from coterie.algorithms.mixture import Mixture
from coterie.algorithms.off_c2lub import OffC2LUB
from coterie.algorithms.off_club import OffCLUB
from coterie.algorithms.oracle import Oracle
from coterie.algorithms.pooled import Pooled
from coterie.algorithms.sclub import SCLUB
from coterie.algorithms.xmeans import XMeans

__all__ = [
    "ARMUL",
    "CLUB",
    "DBSCAN",
    "SCLUB",
    "Independent",
    "LinUCB",
    "Mixture",
    "OffC2LUB",
    "OffCLUB",
    "Oracle",
    "Pooled",
    "XMeans",
]
