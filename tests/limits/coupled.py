"""Small mechanisms in which limits and dry friction act beside loops and couplings."""

import numpy as np

import leastaction as la

Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
WHEELS = 0.4, 0.3, 0.2  # kg m², moments of inertia


def wheels(ratios=(1.0,), restitution=0.0, limited="a", gravity=0.0, **joints) -> la.Model:
    """Wheels about one axis that follow the first by these ratios; those that are named have limits at ±1 rad times
    their ratio, so that all of them come to theirs together. ``joints``: what else a wheel's joint has, by its name."""
    model = la.Model((0, 0, -gravity), "wheels")
    for name, ratio, inertia in zip("abc", (1.0, *ratios), WHEELS, strict=False):
        own = dict(joints.get(name, {}))
        if name in limited:
            own |= {"limits": (-abs(ratio), abs(ratio)), "limit_restitution": restitution}
        model.add_body(name, joint=la.Revolute(Y, **own), inertia=la.Inertia(
            1.0, (0, 0, -0.1 if gravity else 0.0), np.diag([0.2, inertia - (0.01 if gravity else 0.0), 0.3])))
    for name, ratio in zip("bc", ratios, strict=False):
        model.add_coupling(f"gear {name}", joint=name, to="a", coefficients=(0, ratio))
    return model


def reduced(ratios) -> float:
    """The inertia that the first wheel feels."""
    return WHEELS[0] + sum(inertia * ratio**2 for inertia, ratio in zip(WHEELS[1:], ratios, strict=False))


def rod(length) -> la.Inertia:
    return la.Inertia.rod(1.0, length=length, axis=(1, 0, 0), com=(length / 2, 0, 0))


def four_bar(restitution=0.0, friction=0.0, limits=(1.2, 2.4)) -> la.Model:
    """Crank, coupler and rocker, in which the rocker has stops; they turn fast enough to hit both."""
    model = la.Model((0, -9.81, 0), "four-bar with stops")
    model.add_body("crank", joint=la.Revolute(Z, friction=friction), inertia=rod(1.0))
    model.add_body("coupler", "crank", la.Revolute(Z), position=(1, 0, 0), inertia=rod(2.0))
    model.add_body("rocker", joint=la.Revolute(Z, limits=limits, limit_restitution=restitution), position=(2.2, 0, 0),
                   inertia=rod(1.5))
    model.add_loop("pin", "coupler", "rocker", joint=la.Revolute(Z), position=(2, 0, 0), other_position=(1.5, 0, 0))
    model.q0, model.v0 = la.assemble(model, (1.2, -0.9, 1.5), (3.0, 0, 0), keep="crank")
    return model


def gripper(restitution=1.0) -> la.Model:
    """A floating palm with two fingers that close against each other, each with a limit."""
    model = la.Model((0, 0, 0), "gripper")
    model.add_body("palm", joint=la.Free(), inertia=la.Inertia(2.0, (0, 0, 0.01), np.diag([0.02, 0.03, 0.025])))
    for name, side in (("left", 1.0), ("right", -1.0)):
        joint = la.Revolute(Y, limits=(-0.8, 0.8), limit_restitution=restitution)
        model.add_body(name, "palm", joint, position=(0.05 * side, 0.01 * side, 0.1),
                       inertia=la.Inertia(0.3, (0.01, 0, 0.06), np.diag([3e-4, 3e-4, 1e-4])))
    model.add_coupling("fingers", joint="right", to="left", coefficients=(0, -1.0))
    q = model.q0
    model.q0, model.v0 = la.assemble(model, q, (0.1, 0.2, -0.1, 0.3, 0, 0.1, 3.0, -3.0), keep="left")
    return model
