"""The Hypothesis profile of all tests: the same examples on every run, nothing written to disk."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "coterie",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("coterie")
