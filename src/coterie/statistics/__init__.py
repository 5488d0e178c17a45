"""Stage 2: a log becomes sums per user. Read `sums`, `tables`, `totals`, then `user_statistics`."""

from coterie.statistics.sums import merge, partial_sums, summarize
from coterie.statistics.user_statistics import UserStatistics

__all__ = ["UserStatistics", "merge", "partial_sums", "summarize"]
