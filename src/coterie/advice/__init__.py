"""What a log can teach, and which algorithm suits it. Read `advise.py`."""

from coterie.advice.advise import Advice, advise
from coterie.advice.recommend import Recommendation

__all__ = ["Advice", "Recommendation", "advise"]
