"""Stage 6: choose. Read `bonus.py`, then `decide.py`."""

from coterie.decision.bonus import Bonus
from coterie.decision.decide import ActionSets, Choice, Decision, Decisions, Policy, choose, policy

__all__ = ["ActionSets", "Bonus", "Choice", "Decision", "Decisions", "Policy", "choose", "policy"]
