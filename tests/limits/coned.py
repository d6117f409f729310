"""A body on a ball joint with a range, and an oracle for it that knows no axis and no angle: rotation matrices.

The angle is a where tr R = 1 + 2 cos a. While the body is held there, d²(tr R)/dt² = 0 is a linear equation for its
angular acceleration.
"""

import numpy as np
from scipy.integrate import solve_ivp

import leastaction as la

MASS, CENTRE, INERTIA = 1.0, np.array([0.1, 0.0, -0.5]), np.diag([0.2, 0.25, 0.1])
ABOUT_JOINT = INERTIA + MASS * (CENTRE @ CENTRE * np.eye(3) - np.outer(CENTRE, CENTRE))
RANGE = 0.6
AXIS = np.array([0.3, 0.9, 0.2]) / np.linalg.norm([0.3, 0.9, 0.2])
START = np.append(np.cos(RANGE / 2), np.sin(RANGE / 2) * AXIS)
ACROSS = 1.5 * np.cross(AXIS, [1.0, 0.3, -0.5])  # rad/s: the angle does not change


def pendulum(gravity, restitution=0.0) -> la.Model:
    model = la.Model(gravity=gravity, name="conical pendulum")
    model.add_body("rod", joint=la.Ball(limits=(0, RANGE), limit_restitution=restitution),
                   inertia=la.Inertia(MASS, CENTRE, INERTIA))
    return model


def chain(restitution=0.0, gravity=0.0, floating=True, **joint) -> la.Model:
    """Two rods on ball joints with ranges of 0.5 and 0.7 rad, on a floating base or on the ground."""
    model, parent = la.Model(gravity=(0, 0, -gravity), name="chain"), None
    if floating:
        model.add_body("base", joint=la.Free(), inertia=la.Inertia(2.0, (0.1, 0, 0), np.diag([0.3, 0.2, 0.25])))
        parent = "base"
    for name, a in (("upper", 0.5), ("lower", 0.7)):
        model.add_body(name, parent, la.Ball(limits=(0, a), limit_restitution=restitution, **joint),
                       position=(0.1, 0, -0.6), quaternion=(0.9, 0.1, 0.3, 0.3),
                       inertia=la.Inertia(1.0, (0.05, 0.02, -0.3), np.diag([0.1, 0.12, 0.05])))
        parent = name
    return model


def angle(q):
    """Angle of rotation (...,) of unit quaternions (..., 4)."""
    return 2.0 * np.arctan2(np.linalg.norm(q[..., 1:], axis=-1), np.abs(q[..., 0]))


def beyond(model, run):
    """How far the motion was beyond the range of a joint at most."""
    ranges = {body.name: body.joint.limits[1] for body in model.bodies if isinstance(body.joint, la.Ball)}
    return max((angle(run.q[:, model.q_slice(name)]) - a).max() for name, a in ranges.items())


def hat(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def matrix(q):
    return np.eye(3) + 2 * q[0] * hat(q[1:]) + 2 * hat(q[1:]) @ hat(q[1:])


def moment(R, omega, gravity):
    return MASS * np.cross(CENTRE, R.T @ gravity) - np.cross(omega, ABOUT_JOINT @ omega)


def while_held(R, omega, gravity):
    """Angular acceleration, and the moment of the limit, which is negative where it pushes."""
    u = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])  # d(tr R)/dt = −u·ω
    W = hat(omega)
    matrix_ = np.zeros((4, 4))
    matrix_[:3, :3], matrix_[:3, 3], matrix_[3, :3] = ABOUT_JOINT, -u / np.linalg.norm(u), u
    found = np.linalg.solve(matrix_, np.append(moment(R, omega, gravity), np.trace(R @ W @ W)))
    return found[:3], found[3]


def oracle(q, omega, gravity, end):
    """The motion from the limit by SciPy: when it leaves the limit, if it does, then R (9,) and ω (3,) at the end."""

    def flow(held):
        def rate(_t, y):
            R, w = y[:9].reshape(3, 3), y[9:]
            a = while_held(R, w, gravity)[0] if held else np.linalg.solve(ABOUT_JOINT, moment(R, w, gravity))
            return np.append((R @ hat(w)).ravel(), a)
        return rate

    def pulled(_t, y):
        return while_held(y[:9].reshape(3, 3), y[9:], gravity)[1]

    pulled.terminal, pulled.direction = True, 1
    accurate = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13}
    found = solve_ivp(flow(True), (0.0, end), np.append(matrix(q).ravel(), omega), events=pulled, **accurate)
    if found.status == 0:
        return np.inf, found.y[:, -1]
    left = found.t[-1]
    return left, solve_ivp(flow(False), (left, end), found.y[:, -1], **accurate).y[:, -1]
