"""A fitted model, what it explains and what its fit reports. Read `model.py` first."""

from coterie.model.explanation import Explanation
from coterie.model.model import Evidence, Model
from coterie.model.report import FitReport

__all__ = ["Evidence", "Explanation", "FitReport", "Model"]
