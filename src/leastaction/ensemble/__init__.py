"""Ensembles: many members of one model, simulated in chunks that survive a crash, and their results."""

from leastaction.ensemble.ensemble import Ensemble
from leastaction.ensemble.results import EnsembleResults, open_ensemble
from leastaction.ensemble.vary import Normal, Uniform

__all__ = ["Ensemble", "EnsembleResults", "Normal", "Uniform", "open_ensemble"]
