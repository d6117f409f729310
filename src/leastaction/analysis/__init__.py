"""What a trajectory is worth: how far it is from the true motion."""

from leastaction.analysis.accuracy import Accuracy, accuracy

__all__ = ["Accuracy", "accuracy"]
