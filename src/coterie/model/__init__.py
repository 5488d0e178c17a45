"""A fitted model, what it explains and what its fit reports. Read `model.py` first."""

from coterie.model.candidates import Candidate, Comparison, Contribution
from coterie.model.explanation import Explanation
from coterie.model.model import Evidence, Model
from coterie.model.report import FitReport

__all__ = ["Candidate", "Comparison", "Contribution", "Evidence", "Explanation", "FitReport", "Model"]
