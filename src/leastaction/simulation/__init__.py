"""Whole runs: one, or many side by side."""

from leastaction.simulation.many import simulate_many
from leastaction.simulation.single import simulate

__all__ = ["simulate", "simulate_many"]
