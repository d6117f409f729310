"""Small mechanisms with limits and dry friction."""

import numpy as np

import leastaction as la


def hinge(restitution=0.0, gravity=0.0, **joint) -> la.Model:
    """A wheel about its centre between limits at ±1 rad: it turns freely in between."""
    model = la.Model(gravity=(0, 0, -gravity), name="hinge")
    model.add_body("wheel", joint=la.Revolute((0, 1, 0), limits=(-1.0, 1.0), limit_restitution=restitution, **joint),
                   inertia=la.Inertia(1.5, (0, 0, 0), np.diag([0.2, 0.4, 0.3])))
    return model


def pendulum(low, high, restitution=0.0, **joint) -> la.Model:
    model = la.Model(name="pendulum")
    model.add_body("rod", joint=la.Revolute((0, 1, 0), limits=(low, high), limit_restitution=restitution, **joint),
                   inertia=la.Inertia(1.0, (0, 0, -0.5), 0.1 * np.eye(3)))
    return model


def slider(friction, gravity=0.0, stiffness=0.0, **joint) -> la.Model:
    """A mass of 1 kg on a vertical rail."""
    model = la.Model(gravity=(0, 0, -gravity), name="slider")
    model.add_body("mass", joint=la.Prismatic((0, 0, 1), friction=friction, stiffness=stiffness, **joint),
                   inertia=la.Inertia(1.0, (0, 0, 0), np.eye(3)))
    return model


def arm(restitution=0.0, friction=0.0, links=3) -> la.Model:
    """An arm whose joints turn about crossed axes."""
    model, parent = la.Model(name="arm"), None
    for i in range(links):
        joint = la.Revolute((0, 1, 0) if i % 2 == 0 else (1, 0, 0), limits=(-0.6, 0.8), limit_restitution=restitution,
                            friction=friction)
        model.add_body(f"link{i}", parent, joint, position=(0, 0, -1.0 if i else 0.0),
                       inertia=la.Inertia(1.0 + i, (0.1, 0, -0.5), np.diag([0.1, 0.12, 0.05])))
        parent = f"link{i}"
    model.q0, model.v0 = np.array([0.2, 0.1, 0.3])[:links], np.array([3.0, 1.0, -2.0])[:links]
    return model


def gained(energy) -> float:
    """By how much an energy was ever above what it had been before, J, in however many steps."""
    return float((energy - np.minimum.accumulate(energy)).max())
