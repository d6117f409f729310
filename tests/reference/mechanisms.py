"""Mechanisms with closed loops, for tests: planar and spatial, grounded and floating, regular and redundant."""

import numpy as np

import leastaction as la

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def rod(length, mass=1.0):
    """A thin rod along x, from its joint on."""
    return la.Inertia(mass, (length / 2, 0, 0), np.diag([2e-4, length**2 / 12, length**2 / 12]) * mass)


def four_bar(closure=None, gravity=9.81, lengths=(1.0, 2.0, 1.5), base=2.2):
    """Crank and coupler on the left, rocker on the right, in the x-y plane; the coupler's tip is on the rocker's."""
    a, b, c = lengths
    model = la.Model((0, -gravity, 0), "four-bar")
    model.add_body("crank", None, la.Revolute(Z), inertia=rod(a))
    model.add_body("coupler", "crank", la.Revolute(Z), (a, 0, 0), inertia=rod(b))
    model.add_body("rocker", None, la.Revolute(Z), (base, 0, 0), inertia=rod(c))
    model.add_loop("pin", "coupler", "rocker", joint=closure or la.Revolute(Z), position=(b, 0, 0),
                   other_position=(c, 0, 0))
    model.q0, model.v0 = la.assemble(model, (1.2, -0.9, 1.5), (1.0, 0.0, 0.0), keep="crank")
    return model


def floating_loop(closure=None, links=6, seed=0, gravity=0.0):
    """Two chains of revolute and ball joints on a free body, their tips joined."""
    rng = np.random.default_rng(seed)
    model = la.Model((0, 0, -gravity), "floating loop")
    model.add_body("base", None, la.Free(), inertia=la.Inertia(3.0, matrix=np.diag([0.1, 0.12, 0.15])))
    for side in (1, -1):
        parent, position = "base", (0, 0.2 * side, 0)
        for k in range(links // 2):
            name = f"{'left' if side > 0 else 'right'}{k}"
            joint = la.Ball() if k == 1 else la.Revolute(rng.normal(size=3))
            inertia = la.Inertia(1.0, (0, 0, -0.2), np.diag([0.02, 0.025, 0.01]))
            model.add_body(name, parent, joint, position, inertia=inertia)
            parent, position = name, (0, 0, -0.4)
    model.add_loop("tips", f"left{links // 2 - 1}", f"right{links // 2 - 1}", joint=closure or la.Ball(),
                   position=(0, 0, -0.4), other_position=(0, 0, -0.4))
    model.q0, model.v0 = la.assemble(model, None, rng.normal(size=model.nv))
    return model


def ladder(rungs, closure=None):
    """IFToMM's A02: rungs + 1 posts on the ground, each rung on its post and pinned to the next; started upright."""
    model = la.Model((0, -9.81, 0), "ladder")
    inertia = la.Inertia(1.0, (0.5, 0, 0), np.diag([1e-3, 1 / 12, 1 / 12]))
    for i in range(rungs + 1):
        model.add_body(f"post{i}", None, la.Revolute(Z), (i, 0, 0), inertia=inertia)
        if i < rungs:
            model.add_body(f"rung{i}", f"post{i}", la.Revolute(Z), (1, 0, 0), inertia=inertia)
    for i in range(rungs):
        model.add_loop(f"pin{i}", f"rung{i}", f"post{i + 1}", joint=closure or la.Revolute(Z), position=(1, 0, 0),
                       other_position=(1, 0, 0))
    q, v = np.zeros(model.nv), np.zeros(model.nv)
    q[0::2], q[1::2], v[0::2], v[1::2] = np.pi / 2, -np.pi / 2, -1.0, 1.0
    model.q0, model.v0 = q, v
    return model


def bricard():
    """IFToMM's A04: rods along the edges of a cube, the last pinned to the ground; four of five rows count."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    axes = [Y, Z, X, Y, Z, X]
    model = la.Model((0, 0, -9.81), "bricard")
    for i in range(5):
        way = corners[i + 1] - corners[i]
        model.add_body(f"rod{i}", f"rod{i - 1}" if i else None, la.Revolute(axes[i]),
                       corners[i] - corners[max(i - 1, 0)], inertia=la.Inertia.rod(1.0, 1.0, axis=way, com=way / 2))
    model.add_loop("last", "rod4", joint=la.Revolute(axes[5]), position=corners[5] - corners[4],
                   other_position=corners[5])
    return model


def gear_train():
    """Two wheels, the second turning half as fast the other way, and a slider that follows a cubic of the first."""
    model = la.Model((0, -9.81, 0), "gears")
    wheel = la.Inertia(1.0, (0.1, 0, 0), np.diag([0.01, 0.01, 0.02]))
    model.add_body("first", None, la.Revolute(Z, name="drive"), inertia=wheel)
    model.add_body("second", None, la.Revolute(Z), (1, 0, 0), inertia=wheel)
    model.add_body("slider", None, la.Prismatic(Y), (2, 0, 0), inertia=la.Inertia(0.5))
    model.add_coupling("gear", "second", "drive", (0.0, -0.5))
    model.add_coupling("cam", "slider", "first", (0.1, 0.2, 0.0, 0.05), reference=(0.05, 0.3))
    model.q0, model.v0 = la.assemble(model, (0.4, 0.0, 0.0), (1.0, 0.0, 0.0), keep="first")
    return model
