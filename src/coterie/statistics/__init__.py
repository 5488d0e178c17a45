"""Stage 2: a log becomes sums per user. Read `sums.py`, then `user_statistics.py`."""

from coterie.statistics.sums import summarize
from coterie.statistics.user_statistics import UserStatistics

__all__ = ["UserStatistics", "summarize"]
