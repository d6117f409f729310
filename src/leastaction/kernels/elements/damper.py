"""The damper of a joint, with a force −c per unit of the joint's rate: half of the step's impulse −c Δ at either end, Δ
being the joint's increment.
"""

from ..machine.jit import formula


@formula
def residual(L):
    """What it takes at t_k, per unit of the increment."""
    return 0.5 * L.damping


@formula
def carry(L):
    """What it takes at t_{k+1}, per unit of the increment."""
    return 0.5 * L.damping


@formula
def derivative(L):
    return 0.5 * L.damping


@formula
def force(L, rate):
    """In continuous time."""
    return L.damping * rate
