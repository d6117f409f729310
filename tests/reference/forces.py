"""Models with forces between bodies, shared by tests: loops are compiled for a set of kinds of forces."""

import numpy as np

import leastaction as la

MASS, CENTRE = (1.0, 2.5), np.array([[0.1, -0.2, 0.05], [0.0, 0.3, -0.1]])
INERTIA = np.array([[0.1, 0.2, 0.25], [0.3, 0.15, 0.4]])  # principal moments
AT = np.array([[0.3, 0.1, -0.2], [-0.4, 0.2, 0.1]])  # where the spring is fastened
STIFFNESS, LENGTH = 40.0, 0.7


def two_bodies():
    """Two free bodies off their centres, joined by a spring, and a start at which both tumble."""
    model = la.Model(gravity=(0.0, 0.0, 0.0), name="dumbbell")
    for k in range(2):
        model.add_body(f"body{k}", None, la.Free(), inertia=la.Inertia(MASS[k], CENTRE[k], np.diag(INERTIA[k])))
    model.add_force("tie", la.Spring("body0", "body1", *AT, stiffness=STIFFNESS, rest=LENGTH))
    q, v = model.q0, np.random.default_rng(3).normal(size=12)
    q[7:10] = 1.0, 0.4, -0.3
    model.q0, model.v0 = q, v
    return model


def hung(n=10):
    """The whipping chain with a spring from its tip to the ground, and one from link 2 to link 6."""
    model = la.library.chain(n)
    tip, second, sixth = (model.names[k] for k in (n - 1, 2, 6))
    model.add_force("tip", la.Spring(tip, None, (0.1, 0, 0), (0.5, 0, 0.5), stiffness=30.0, rest=0.4))
    model.add_force("bow", la.Spring(second, sixth, (0.05, 0, 0), stiffness=200.0, rest=0.3))
    return model


def everything():
    """The same two bodies with all kinds of forces, and the second one on a damped leash."""
    model = two_bodies()
    model.add_force("leash", la.Spring("body1", None, other_point=(1, 1, 1), stiffness=10.0, rest=0.1, damping=2.0))
    model.add_force("stay", la.Spring("body0", "body1", *AT[::-1], stiffness=5.0, damping=3.0))
    model.add_force("mass", la.Field(mu=5.0, center=(0, 0, 9)))
    model.add_force("magnet", la.Field(body="body1", moment=(1, 2, 3), uniform=(0, 0.1, 0), dipole=(0, 0, 1e7),
                                       center=(0, 1, 5)))
    model.add_force("jet", la.Thruster("body0", (0, 0, 2), [(0, 2.0), (1, 3.0), (9, 3.0)], point=(0.1, 0, 0)))
    return model


def with_all_kinds(model, body=None):
    """Add a trace of every kind of force, far too weak to change a digit: the loop is compiled for a set of kinds.

    They act on this body, which must not be fixed to the ground; by default on the first one.
    """
    body, trace = body or model.names[0], 1e-200
    model.add_force("trace of a spring", la.Spring(body, None, other_point=(9, 9, 9), stiffness=trace, damping=trace))
    model.add_force("trace of a field", la.Field(trace, (9, 9, 9), body, (trace, 0, 0), uniform=(trace, 0, 0)))
    model.add_force("trace of a thruster", la.Thruster(body, (1, 0, 0), trace))
    return model
