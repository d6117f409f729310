"""What a trajectory is worth: how far it is from the true motion, and what it kept of physics."""

from leastaction.analysis import reactions as reactions
from leastaction.analysis.accuracy import Accuracy, accuracy
from leastaction.analysis.certificate import Certificate, audit
from leastaction.analysis.comparison import Comparison, compare
from leastaction.analysis.mujoco_peer import to_mujoco
from leastaction.analysis.symmetry import Symmetry, symmetries
from leastaction.analysis.trend import Trend, trend

__all__ = ["Accuracy", "Certificate", "Comparison", "Symmetry", "Trend", "accuracy", "audit", "compare", "symmetries",
           "to_mujoco", "trend"]
