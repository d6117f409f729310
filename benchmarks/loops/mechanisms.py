"""Mechanisms of rods in the x-y plane, as models with loops, assembled, each with the state it starts from."""

from typing import NamedTuple

import numpy as np

import leastaction as la

Array = np.ndarray
HINGE = la.Revolute((0, 0, 1))
FALL = (0.0, -9.81, 0.0)  # m/s²
CRANK, COUPLER, ROCKER, BASE = 1.0, 2.0, 1.5, 2.2  # m, of the four-bar


class Mechanism(NamedTuple):
    """A model and a start on its constraints.

    q : (nq,) rad
    v : (nv,) rad/s
    """

    model: la.Model
    q: Array
    v: Array


def rod(length: float) -> la.Inertia:
    """A rod of 1 kg along x from the joint on, nearly thin."""
    return la.Inertia(1.0, (length / 2, 0, 0), np.diag([2e-4, length**2 / 12, length**2 / 12]))


def open_four_bar() -> la.Model:
    """The tree of the four-bar: crank and coupler, and the rocker, without the joint between the last two."""
    model = la.Model(gravity=FALL, name="four-bar, open")
    model.add_body("crank", joint=HINGE, inertia=rod(CRANK))
    model.add_body("coupler", parent="crank", joint=HINGE, position=(CRANK, 0, 0), inertia=rod(COUPLER))
    model.add_body("rocker", joint=HINGE, position=(BASE, 0, 0), inertia=rod(ROCKER))
    return model


def four_bar() -> Mechanism:
    """The four-bar, its crank turning at 2 rad/s."""
    model = open_four_bar()
    model.name = "four-bar"
    model.add_loop("tip", body="coupler", other="rocker", joint=HINGE, position=(COUPLER, 0, 0),
                   other_position=(ROCKER, 0, 0))
    q, v = la.assemble(model, [1.2, -0.8, 1.6], [2.0, 0.0, 0.0], keep=("crank",))
    return Mechanism(model, q, v)


def posts_ladder(loops: int, closed: bool = True) -> Mechanism:
    """Posts that stand on the ground, joined by bars; every bar is carried by a post and closes on the next one."""
    model = la.Model(gravity=FALL, name=f"ladder of {loops} loops, posts first")
    for i in range(loops + 1):
        model.add_body(f"post{i}", joint=HINGE, position=(i, 0, 0), inertia=rod(1.0))
        if i < loops:
            model.add_body(f"bar{i}", parent=f"post{i}", joint=HINGE, position=(1, 0, 0), inertia=rod(1.0))
    for i in range(loops if closed else 0):
        model.add_loop(f"loop{i}", body=f"bar{i}", other=f"post{i + 1}", joint=HINGE, position=(1, 0, 0),
                       other_position=(1, 0, 0))
    q, v = np.zeros((2, 2 * loops + 1))
    q[0::2], q[1::2], v[0::2], v[1::2] = np.pi / 2, -np.pi / 2, -1.0, 1.0
    return Mechanism(model, q, v)


def rail_ladder(loops: int, closed: bool = True) -> Mechanism:
    """The same ladder, cut elsewhere: the bars are a chain on the first post, the other posts close on the ground."""
    model = la.Model(gravity=FALL, name=f"ladder of {loops} loops, rail first")
    model.add_body("post0", joint=HINGE, inertia=rod(1.0))
    q, v = [np.pi / 2], [-1.0]
    for i in range(loops):
        above = f"bar{i - 1}" if i else "post0"
        model.add_body(f"bar{i}", parent=above, joint=HINGE, position=(1, 0, 0), inertia=rod(1.0))
        model.add_body(f"post{i + 1}", parent=f"bar{i}", joint=HINGE, position=(1, 0, 0), inertia=rod(1.0))
        q += [0.0 if i else -np.pi / 2, -np.pi / 2]
        v += [0.0 if i else 1.0, -1.0]
        if closed:
            model.add_loop(f"loop{i}", body=f"post{i + 1}", joint=HINGE, position=(1, 0, 0),
                           other_position=(i + 1, 0, 0))
    return Mechanism(model, np.array(q), np.array(v))


def rope_ladder(loops: int, closed: bool = True) -> Mechanism:
    """Two ropes of ``loops`` links that hang side by side, with a rung from one to the other below every link."""
    model = la.Model(gravity=FALL, name=f"rope ladder of {loops} rungs")
    down = [np.cos(np.pi / 4), 0, 0, -np.sin(np.pi / 4)]  # x points down
    for side in ("left", "right"):
        for i in range(loops):
            above = f"{side}{i - 1}" if i else None
            model.add_body(f"{side}{i}", parent=above, joint=HINGE, inertia=rod(1.0),
                           position=(1, 0, 0) if i else (0.0 if side == "left" else 1.0, 0, 0),
                           quaternion=(1, 0, 0, 0) if i else down)
    for i in range(loops):
        model.add_body(f"rung{i}", parent=f"left{i}", joint=HINGE, position=(1, 0, 0),
                       quaternion=[np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4)], inertia=rod(1.0))
        if closed:
            model.add_loop(f"loop{i}", body=f"rung{i}", other=f"right{i}", joint=HINGE, position=(1, 0, 0),
                           other_position=(1, 0, 0))
    v = np.zeros(model.nv)
    swing = min(0.5, 512 / loops)  # rad/s: faster waves on longer ropes are beyond a step of 1 ms
    v[0] = v[loops] = swing  # both ropes swing as pendulums, the rungs stay level
    v[2 * loops :] = -swing
    return Mechanism(model, np.zeros(model.nv), v)
