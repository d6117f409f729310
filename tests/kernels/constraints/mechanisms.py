"""Mechanisms with closed loops, and states in which they are closed."""

import numpy as np

import leastaction as la

Z = (0, 0, 1)


def rod(length, mass=1.0, radius=0.02):
    """A rod along x from its origin."""
    moments = np.full(3, mass * length**2 / 12)
    moments[0] = mass * radius**2 / 2
    return la.Inertia(mass, com=(length / 2, 0, 0), matrix=np.diag(moments))


def four_bar(closure=None, cut="coupler", lengths=(1.0, 2.0, 1.5), base=2.2):
    """Crank, coupler and rocker in the x-y plane; ``cut``: which joint is not in the tree, the far one of this body."""
    model = la.Model(gravity=(0, -9.81, 0))
    hinge, closing = la.Revolute(axis=Z), closure or la.Ball()
    crank, coupler, rocker = lengths
    model.add_body("crank", parent=None, joint=hinge, inertia=rod(crank))
    model.add_body("coupler", parent="crank", joint=hinge, position=(crank, 0, 0), inertia=rod(coupler))
    if cut == "coupler":
        model.add_body("rocker", parent=None, joint=hinge, position=(base, 0, 0), inertia=rod(rocker))
        model.add_loop("B", "coupler", "rocker", joint=closing, position=(coupler, 0, 0), other_position=(rocker, 0, 0))
    else:  # the rocker hangs on the coupler, and its foot is closed on the ground; its frame begins at the foot
        inertia = la.Inertia(1.0, com=(rocker / 2, 0, 0), matrix=rod(rocker).matrix)
        model.add_body("rocker", parent="coupler", joint=hinge, position=(coupler, 0, 0), inertia=inertia)
        model.add_loop("B", "rocker", None, joint=closing, position=(rocker, 0, 0), other_position=(base, 0, 0))
    return model


def moving_four_bar(model, speed=2.0):
    q, _ = la.assemble(model, [1.0, -0.5, 1.5] if len(model.loops) else None)
    return la.assemble(model, q, [speed, 0, 0], keep="crank")


def floating_loop(closure=None, gravity=(0, 0, 0), seed=0):
    """A free base with two chains of revolute and ball joints, closed at their ends."""
    rng, model = np.random.default_rng(seed), la.Model(gravity=gravity)
    model.add_body("base", parent=None, joint=la.Free(), inertia=la.Inertia(3.0, matrix=np.diag([0.1, 0.12, 0.15])))
    for side in (1, -1):
        parent, position = "base", (0, 0.2 * side, 0)
        for k in range(3):
            axis = rng.normal(size=3)
            joint = la.Ball() if k == 1 else la.Revolute(axis=axis / np.linalg.norm(axis))
            name = f"{'left' if side > 0 else 'right'}{k}"
            model.add_body(name, parent=parent, joint=joint, position=position,
                           inertia=la.Inertia(1.0, com=(0, 0, -0.2), matrix=np.diag([0.02, 0.025, 0.01])))
            parent, position = name, (0, 0, -0.4)
    end = (0, 0, -0.4)
    model.add_loop("end", "left2", "right2", joint=closure or la.Ball(), position=end, other_position=end)
    return model


def random_state(model, seed=1, spread=0.4, speed=1.0):
    """A closed state near q0 ⊕ random, moving."""
    rng = np.random.default_rng(seed)
    q = la.increment(model, model.q0, spread * rng.normal(size=model.nv))
    return la.assemble(model, q, speed * rng.normal(size=model.nv))


def ladder(count, tree="posts"):
    """A02 of the IFToMM benchmark: count + 1 posts, bars between their tops.

    "posts": posts stand on the ground, bar i on post i, closed on post i + 1; "rail": bars follow each other, posts
    hang from them and close on the ground.
    """
    model = la.Model(gravity=(0, -9.81, 0))
    hinge, inertia = la.Revolute(axis=Z), la.Inertia(1.0, com=(0.5, 0, 0), matrix=np.diag([1e-3, 1 / 12, 1 / 12]))
    if tree == "posts":
        for i in range(count + 1):
            model.add_body(f"post{i}", parent=None, joint=hinge, position=(i, 0, 0), inertia=inertia)
            if i < count:
                model.add_body(f"bar{i}", parent=f"post{i}", joint=hinge, position=(1, 0, 0), inertia=inertia)
        closures = [(f"bar{i}", f"post{i + 1}", (1, 0, 0)) for i in range(count)]
        q, v = np.resize([np.pi / 2, -np.pi / 2], 2 * count + 1), np.resize([-1.0, 1.0], 2 * count + 1)
    else:
        model.add_body("post0", parent=None, joint=hinge, inertia=inertia)
        q, v, above = [np.pi / 2], [-1.0], "post0"
        for i in range(count):
            model.add_body(f"bar{i}", parent=above, joint=hinge, position=(1, 0, 0), inertia=inertia)
            above = f"bar{i}"
            model.add_body(f"post{i + 1}", parent=above, joint=hinge, position=(1, 0, 0), inertia=inertia)
            q += [-np.pi / 2 if i == 0 else 0.0, -np.pi / 2]
            v += [1.0 if i == 0 else 0.0, -1.0]
        closures = [(f"post{i + 1}", None, (i + 1, 0, 0)) for i in range(count)]
    for i, (body, other, place) in enumerate(closures):
        model.add_loop(f"loop{i}", body, other, joint=la.Ball(), position=(1, 0, 0), other_position=place)
    return model, np.array(q), np.array(v)


def rope_ladder(levels, chains=2):
    """Chains of ball joints side by side, with rods between neighbours at every level."""
    model = la.Model(gravity=(0, 0, -9.81))
    inertia = la.Inertia(1.0, com=(0, 0, -0.1), matrix=np.diag([0.02, 0.02, 0.01]))
    for j in range(levels):
        for c in range(chains):
            model.add_body(f"link{c}-{j}", parent=f"link{c}-{j - 1}" if j else None, joint=la.Ball(), inertia=inertia,
                           position=(0, 0, -0.2) if j else (0.3 * c, 0, 0))
            if c:
                model.add_loop(f"rung{c}-{j}", f"link{c}-{j}", f"link{c - 1}-{j}", joint=la.Rod(0.3),
                               position=(0, 0, -0.2), other_position=(0, 0, -0.2))
    return model


def hinged_rope_ladder(levels):
    """Two chains of hinged rods side by side in the x-y plane, with a rung on the left one, pinned to the right one, at
    every level."""
    model, hinge = la.Model(gravity=(9.81, 0, 0)), la.Revolute(axis=Z)  # x points down
    for side, place in (("left", 0.0), ("right", 0.3)):
        for j in range(levels):
            model.add_body(f"{side}{j}", parent=f"{side}{j - 1}" if j else None, joint=hinge, inertia=rod(0.2),
                           position=(0.2, 0, 0) if j else (0, place, 0))
    for j in range(levels):
        model.add_body(f"rung{j}", parent=f"left{j}", joint=hinge, inertia=rod(0.3), position=(0.2, 0, 0),
                       quaternion=(np.sqrt(0.5), 0, 0, np.sqrt(0.5)))
        model.add_loop(f"pin{j}", f"rung{j}", f"right{j}", joint=hinge, position=(0.3, 0, 0),
                       other_position=(0.2, 0, 0))
    return model
