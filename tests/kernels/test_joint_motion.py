"""The motion of joints over a step."""

import numpy as np
from compiled import plain

import leastaction as la
from leastaction.compiled import compile_model


def test_a_rotation_that_round_off_has_stretched_leaves_the_quaternion_unit():
    """So it is after the hundreds of iterations of a very coarse step, and q itself is what users see."""
    model = la.Model()
    model.add_body("body", joint=la.Ball(), inertia=la.Inertia(1.0, (0.0, 0.0, 0.1), np.eye(3)))
    c, joints, memory = compile_model(model), plain("joints"), plain("machine.memory")
    w, q, low = c.workspace(), np.array([0.5, -0.5, 0.5, 0.5]), np.zeros(4)
    memory.python_link(w, 0).joint_rotation = np.array([0.6, 0.0, 0.8, 0.0]) * (1 + 1e-9)
    joints.apply_joint_motion(c.tree, w, 0, q, low)
    assert abs(np.linalg.norm(q) - 1) < 1e-15
    assert np.all(np.abs(low) < 2e-16)
