"""Stage 6: choose. Read `bonus.py`, then `decide.py`."""

from coterie.decision.beta import Beta, OnlineBeta, PaperBeta
from coterie.decision.bonus import Bonus
from coterie.decision.decide import ActionSets, Choice, Decision, Decisions, Policy, choose, policy

__all__ = [
    "ActionSets",
    "Beta",
    "Bonus",
    "Choice",
    "Decision",
    "Decisions",
    "OnlineBeta",
    "PaperBeta",
    "Policy",
    "choose",
    "policy",
]
