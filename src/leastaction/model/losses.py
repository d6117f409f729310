"""What may take energy from a model, or give it some: whether a run keeps a ledger of it."""

from typing import TYPE_CHECKING

from leastaction.model.joint import Joint
from leastaction.model.unhonoured import FRICTION, LIMITS, has_damping, has_friction, has_limits

if TYPE_CHECKING:
    from leastaction.model.model import Model

# Entries of the ledger, in the order of kernels/record.py
ENTRIES = ("damping", "actuators", "control", "dry_friction", "limits", "recovery")


def ledger(model: "Model", controlled: bool) -> int:
    """Return how many columns the ledger of a run has: all, or none where nothing takes or gives energy."""
    taken = controlled or model.nu > 0 or acts(model) or any(map(has_damping, _joints(model)))
    return len(ENTRIES) if taken else 0


def impulses(model: "Model") -> int:
    """Return how many impulses of limits and dry friction there are to keep of each node."""
    return 2 * model.nv if acts(model) else 0


def acts(model: "Model") -> bool:
    """Tell whether limits or dry friction act in a model."""
    off = model.switched_off
    return any(joint.all_screws and ((LIMITS not in off and has_limits(joint))
                                     or (FRICTION not in off and has_friction(joint))) for joint in _joints(model))


def rubs(model: "Model") -> bool:
    """Tell whether dry friction acts in a model."""
    return FRICTION not in model.switched_off and any(
        joint.all_screws and has_friction(joint) for joint in _joints(model))


def _joints(model: "Model") -> list[Joint]:
    return [body.joint for body in model.bodies if isinstance(body.joint, Joint)]
