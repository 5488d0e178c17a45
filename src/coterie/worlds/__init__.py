"""Environments: logs, and the truth behind them. Read `world.py`, then `synthetic.py`."""

from coterie.worlds.geometry import Geometry, Lifted, Sphere, random_vectors
from coterie.worlds.item_vectors import item_vectors, log_and_items
from coterie.worlds.logging_policy import LinUCBChoice, LoggingPolicy, RandomChoice
from coterie.worlds.service import Arbitrary, Equal, SemiRandom, Service
from coterie.worlds.stand_in import stand_in
from coterie.worlds.synthetic import Synthetic
from coterie.worlds.truth import Truth
from coterie.worlds.world import Drawn, RequestBlock, World

__all__ = [
    "Arbitrary",
    "Drawn",
    "Equal",
    "Geometry",
    "Lifted",
    "LinUCBChoice",
    "LoggingPolicy",
    "RandomChoice",
    "RequestBlock",
    "SemiRandom",
    "Service",
    "Sphere",
    "Synthetic",
    "Truth",
    "World",
    "item_vectors",
    "log_and_items",
    "random_vectors",
    "stand_in",
]
