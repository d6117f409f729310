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
    damped = any(map(has_damping, _joints(model))) or any(
        force.conservative and not force.keeps_energy for force in model.forces.values())
    return len(ENTRIES) if controlled or model.nu > 0 or acts(model) or damped else 0


def impulses(model: "Model") -> int:
    """Return how many impulses of limits and dry friction there are to keep of each node."""
    return 2 * model.nv if acts(model) else 0


def acts(model: "Model") -> bool:
    """Tell whether limits or dry friction act in a model."""
    limited = any(joint.limits_act and has_limits(joint) for joint in _joints(model))
    return (limited and LIMITS not in model.switched_off) or rubs(model)


def rubs(model: "Model") -> bool:
    """Tell whether dry friction acts in a model."""
    return FRICTION not in model.switched_off and any(
        joint.friction_acts and has_friction(joint) for joint in _joints(model))


def _joints(model: "Model") -> list[Joint]:
    return [body.joint for body in model.bodies if isinstance(body.joint, Joint)]
