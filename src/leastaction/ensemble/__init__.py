"""Ensembles: many members of one model, made in chunks that survive, and what is read back of them."""

from leastaction.ensemble.results import EnsembleResults, open_ensemble

__all__ = ["EnsembleResults", "open_ensemble"]
