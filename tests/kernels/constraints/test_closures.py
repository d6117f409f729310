"""Every closure against the same joint in the tree: one motion, and the load that Newton's and Euler's laws ask for."""

import numpy as np
import pytest
from mechanisms import rod

import leastaction as la

AXIS, ACROSS = (0.3, -0.5, 0.8), (1.0, 0.2, 0.0)
# Joint, the same seen from its other end, and a state of it
CLOSURES = {
    "revolute": (la.Revolute(AXIS), la.Revolute(AXIS), [0.4], [1.5]),
    "prismatic": (la.Prismatic(AXIS), la.Prismatic(AXIS), [0.2], [0.5]),
    "cylindrical": (la.Cylindrical(AXIS), la.Cylindrical(AXIS), [0.4, 0.2], [1.5, 0.5]),
    "universal": (la.Universal(AXIS, ACROSS), la.Universal(ACROSS, AXIS), [0.4, 0.3], [1.5, -1.0]),
    "planar": (la.Planar((0.8, 0.6, 0), (0, 0, 1)), la.Planar((0.8, 0.6, 0), (0, 0, 1)), [0.1, 0.2, 0.4],
               [0.5, -0.3, 1.5]),
    "ball": (la.Ball(), la.Ball(), [0.9, 0.1, -0.3, 0.2], [1.5, -1.0, 0.5]),
    "fixed": (la.Fixed(), la.Fixed(), [], []),
}
ARMS = {"hinged": (la.Revolute((0, 0.6, 0.8)), [0.3], [2.0]),
        "free": (la.Free(), [0, 0, 0, 0.9, 0.1, 0.3, 0.2], [0.5, 1.0, -2.0, 0.3, 0.2, 0.1])}
PLACE, TURN = (1.0, 0.1, -0.2), (np.cos(0.4), np.sin(0.4), 0.0, 0.0)  # of the joint on the arm
MASS, COM, MOMENTS = 0.7, np.array([0.1, 0.2, 0.05]), np.diag([0.02, 0.03, 0.04])
GRAVITY = np.array([0, -9.81, 0])


def on_an_arm(arm):
    model = la.Model(gravity=GRAVITY)
    model.add_body("arm", parent=None, joint=arm, inertia=rod(1.0))
    return model


def in_the_tree(arm, joint, com=COM, place=PLACE):
    model = on_an_arm(arm)
    model.add_body("load", "arm", joint, place, TURN, la.Inertia(MASS, com=com, matrix=MOMENTS))
    return model


def by_a_loop(arm, joint, body="load", com=COM, place=PLACE):
    model = on_an_arm(arm)
    model.add_body("load", parent=None, joint=la.Free(), inertia=la.Inertia(MASS, com=com, matrix=MOMENTS))
    if body == "load":
        model.add_loop("end", "load", "arm", joint=joint, other_position=place, other_quaternion=TURN)
    else:
        model.add_loop("end", "arm", "load", joint=joint, position=place, quaternion=TURN)
    return model


def quaternion(R):
    """Unit quaternion of a rotation below a half turn."""
    w = np.sqrt(1 + np.trace(R)) / 2
    return np.array([w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w))])


def start(tree, q, v):
    """A state of the tree, and the same with the load on a free joint of its own."""
    q, v = np.array(q, float), np.array(v, float)
    for at in tree.layout.quaternions:
        q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
    pose, (nq, nv) = la.poses(tree, q)[1], (tree.bodies[0].joint.nq, tree.bodies[0].joint.nv)
    load = [*pose[:3, 3], *quaternion(pose[:3, :3])], la.jacobian(tree, q, "load") @ v
    return (q, v), (np.append(q[:nq], load[0]), np.append(v[:nv], load[1]))


def needed(tree, q, v):
    """What the load needs beside its weight, by Newton's and Euler's laws, about its origin and in world axes: from the
    accelerations of the tree, with the change of its Jacobian along the motion by differences."""
    h = 2e-3 / np.abs(v).max()
    twists = {k: la.jacobian(tree, la.increment(tree, q, k * h * v), "load") @ v for k in (-2, -1, 0, 1, 2)}
    turning = (8 * (twists[1] - twists[-1]) - (twists[2] - twists[-2])) / (12 * h)
    rate = la.jacobian(tree, q, "load") @ la.forward_dynamics(tree, q, v) + turning
    w, u, dw, du = *np.split(twists[0], 2), *np.split(rate, 2)
    R = la.poses(tree, q)[1, :3, :3]
    at_com = du + np.cross(w, u) + np.cross(dw, COM) + np.cross(w, np.cross(w, COM))
    force = MASS * (at_com - R.T @ GRAVITY)
    moment = MOMENTS @ dw + np.cross(w, MOMENTS @ w) + np.cross(COM, force)
    return np.concatenate([R @ moment, R @ force])


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize(("closure", "retraction"),
                         [*[(name, "exp") for name in CLOSURES], *[(name, "split") for name in CLOSURES][:-1]])
def test_a_closure_is_that_joint(closure, arm, retraction):
    """A body on a free joint of its own, joined to a moving arm by a loop, seen from either end, against the same body
    on that joint: 500 steps of 2 ms, apart by at most 2e-13 m. Not a weld by split, which is the next test."""
    joint, from_its_other_end, q_joint, v_joint = CLOSURES[closure]
    arm, q_arm, v_arm = ARMS[arm]
    tree = in_the_tree(arm, joint)
    of_tree, of_loop = start(tree, [*q_arm, *q_joint], [*v_arm, *v_joint])
    how = {"dt": 2e-3, "steps": 500, "record_every": 50, "integrator": la.Variational(retraction=retraction)}
    hung = la.simulate(tree, *of_tree, **how)
    poses = np.array([la.poses(tree, q) for q in hung.q])
    load = np.array([needed(tree, q, v) for q, v in zip(hung.q, hung.v, strict=True)])
    assert np.abs(poses[-1, 1] - poses[0, 1]).max() > 0.9 and np.abs(load).max() > 0.2
    for body in ("load", "arm"):
        model = by_a_loop(arm, joint if body == "load" else from_its_other_end, body)
        closed = la.simulate(model, *of_loop, **how)
        found = np.array([la.poses(model, q) for q in closed.q])
        np.testing.assert_allclose(found, poses, rtol=0, atol=1e-11)
        reaction = closed.reaction("end")
        if body == "arm":  # about the marker there
            marker = found[:, 0, :3, 3] + found[:, 0, :3, :3] @ PLACE
            reaction[:, :3] += np.cross(marker - found[:, 1, :3, 3], reaction[:, 3:])
            reaction *= -1
        np.testing.assert_allclose(reaction, load, rtol=0, atol=1e-9)  # of up to 24 N; 1e-10 is of the differences


def test_a_weld_by_split_is_a_fixed_joint_to_second_order():
    """By exp the discrete Lagrangian of a rigid body is the sum of those of its parts; by split it is so to second
    order: there both are of order two, and so is their difference. Unless both centres of mass are one point, which
    both actions move."""
    joint, q, v = la.Ball(), [0.9, 0.1, 0.3, 0.2], [0.5, 1.0, -2.0]

    def apart(parts, **where):
        """Of the states of the arm after two seconds, fixed and welded."""
        fixed, found = in_the_tree(joint, la.Fixed(), **where), []
        for model, state in zip((fixed, by_a_loop(joint, la.Fixed(), **where)), start(fixed, q, v), strict=True):
            sim = la.Simulator(model, *state, dt=2e-3 / parts)
            sim.step(1000 * parts)
            found.append(np.concatenate([sim.q[:4], sim.v[:3]]))
        return np.abs(np.subtract(*found)).max()

    assert apart(1) / apart(2) == pytest.approx(4, abs=0.1)
    assert apart(1, com=(0, 0, 0), place=(0.5, 0, 0)) < 1e-10
