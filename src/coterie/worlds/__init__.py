"""Simulated environments: logs and the truth behind them."""

from coterie.worlds.synthetic import Synthetic, Truth, World

__all__ = ["Synthetic", "Truth", "World"]
