"""Ensembles: many members of one model, made in chunks that survive, and what is read back of them."""

from leastaction.ensemble.ensemble import Ensemble
from leastaction.ensemble.results import EnsembleResults, open_ensemble
from leastaction.ensemble.vary import Normal, Uniform

__all__ = ["Ensemble", "EnsembleResults", "Normal", "Uniform", "open_ensemble"]
