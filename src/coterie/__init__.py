"""Decisions for every user from logged interactions, borrowing other users' data where they justify it.

The stages, in the order in which data meet them: `logs`, `statistics`, `confidence`, `neighbourhood`,
`pooling`, `decision`; `algorithms` are a choice in each of the last four. Everything is loaded when it
is first used, so that the import is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "read_logs": "coterie.logs",
    "Logs": "coterie.logs",
    "summarize": "coterie.statistics",
    "UserStatistics": "coterie.statistics",
    "Confidence": "coterie.confidence",
    "Observed": "coterie.confidence",
    "Smoothed": "coterie.confidence",
    "IID": "coterie.confidence",
    "Bonus": "coterie.decision",
    "Decision": "coterie.decision",
    "OffC2LUB": "coterie.algorithms",
    "OffCLUB": "coterie.algorithms",
    "Independent": "coterie.algorithms",
    "Pooled": "coterie.algorithms",
    "Oracle": "coterie.algorithms",
    "DBSCAN": "coterie.algorithms",
    "XMeans": "coterie.algorithms",
    "ARMUL": "coterie.algorithms",
    "CLUB": "coterie.algorithms",
    "LinUCB": "coterie.algorithms",
    "Mixture": "coterie.algorithms",
    "SCLUB": "coterie.algorithms",
    "load": "coterie.model_file",
    "CoterieError": "coterie.errors",
    "CoterieWarning": "coterie.errors",
}
_MODULES = ("theory", "presets", "errors")

if TYPE_CHECKING:
    from coterie import errors as errors
    from coterie import presets as presets
    from coterie import theory as theory
    from coterie.algorithms import ARMUL as ARMUL
    from coterie.algorithms import CLUB as CLUB
    from coterie.algorithms import DBSCAN as DBSCAN
    from coterie.algorithms import SCLUB as SCLUB
    from coterie.algorithms import Independent as Independent
    from coterie.algorithms import LinUCB as LinUCB
    from coterie.algorithms import Mixture as Mixture
    from coterie.algorithms import OffC2LUB as OffC2LUB
    from coterie.algorithms import OffCLUB as OffCLUB
    from coterie.algorithms import Oracle as Oracle
    from coterie.algorithms import Pooled as Pooled
    from coterie.algorithms import XMeans as XMeans
    from coterie.confidence import IID as IID
    from coterie.confidence import Confidence as Confidence
    from coterie.confidence import Observed as Observed
    from coterie.confidence import Smoothed as Smoothed
    from coterie.decision import Bonus as Bonus
    from coterie.decision import Decision as Decision
    from coterie.errors import CoterieError as CoterieError
    from coterie.errors import CoterieWarning as CoterieWarning
    from coterie.logs import Logs as Logs
    from coterie.logs import read_logs as read_logs
    from coterie.model_file import load as load
    from coterie.statistics import UserStatistics as UserStatistics
    from coterie.statistics import summarize as summarize


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    if name in _MODULES:
        return import_module(f"coterie.{name}")
    raise AttributeError(f"module 'coterie' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({"__version__", *_WHERE, *_MODULES})
