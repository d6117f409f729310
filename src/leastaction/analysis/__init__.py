"""What a trajectory is worth: how far it is from the true motion, and what it kept of physics."""

from leastaction.analysis import reactions as reactions
from leastaction.analysis import singular as singular
from leastaction.analysis.accuracy import Accuracy, accuracy
from leastaction.analysis.certificate import Certificate, audit
from leastaction.analysis.comparison import Comparison, compare
from leastaction.analysis.mujoco_peer import to_mujoco
from leastaction.analysis.multipliers import Multipliers, multipliers
from leastaction.analysis.symmetry import Symmetry, symmetries
from leastaction.analysis.trend import Trend, trend

__all__ = ["Accuracy", "Certificate", "Comparison", "Multipliers", "Symmetry", "Trend", "accuracy", "audit", "compare",
           "multipliers", "symmetries", "to_mujoco", "trend"]
