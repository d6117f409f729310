"""Theo Jansen's leg: eleven bars that turn a crank into steps. Seven moving bodies, three loops."""

from pathlib import Path

import numpy as np

import leastaction as la

Z = (0, 0, 1)
SIZE = 0.01  # m: Jansen's numbers are centimetres
a, b, c, d, e, f, g, h, i, j, k, l, m = (SIZE * x for x in (
    38.0, 41.5, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49.0, 50.0, 61.9, 7.8, 15.0))


def meet(p, r, q, s):
    """The point at the distance r from p and s from q, to the left on the way from p to q."""
    way = q - p
    far = np.linalg.norm(way)
    along = (far**2 + r**2 - s**2) / (2 * far)
    return p + along / far * way + np.sqrt(r**2 - along**2) / far * np.array([-way[1], way[0], 0])


def body(*corners):
    """A bar or a plate of bars from the origin to the corners, 1 kg a metre."""
    points = np.array([np.zeros(3), *corners])
    bars = [(p, q) for n, p in enumerate(points) for q in points[:n]]
    return sum((la.Inertia.rod(np.linalg.norm(q - p), np.linalg.norm(q - p), axis=q - p, com=(p + q) / 2)
                for p, q in bars), la.Inertia(0.0))


# The linkage drawn at one angle of the crank; all frames are parallel to the world there.
crank = m * np.array([np.cos(2.0), np.sin(2.0), 0])
axle = np.array([-a, -l, 0])
top = meet(axle, b, crank, j)
back = meet(axle, d, top, e)
low = meet(crank, k, axle, c)
knee = meet(low, g, back, f)
foot = meet(low, i, knee, h)

model = la.Model(gravity=(0, -9.81, 0), name="Jansen's leg")
hinge = la.Revolute(Z)
model.add_body("crank", joint=hinge, inertia=body(crank))
model.add_body("upper rod", "crank", hinge, crank, inertia=body(top - crank))
model.add_body("lower rod", "crank", hinge, crank, inertia=body(low - crank))
model.add_body("shoulder", joint=hinge, position=axle, inertia=body(top - axle, back - axle))
model.add_body("thigh", joint=hinge, position=axle, inertia=body(low - axle))
model.add_body("shin rod", "shoulder", hinge, back - axle, inertia=body(knee - back))
model.add_body("leg", "thigh", hinge, low - axle, inertia=body(knee - low, foot - low))
model.add_body("foot", "leg", position=foot - low, inertia=la.Inertia.sphere(0.05, radius=0.01))
model.add_loop("top", "upper rod", "shoulder", joint=hinge, position=top - crank, other_position=top - axle)
model.add_loop("low", "lower rod", "thigh", joint=hinge, position=low - crank, other_position=low - axle)
model.add_loop("knee", "shin rod", "leg", joint=hinge, position=knee - back, other_position=knee - low)
print(model, f"\nmobility {model.mobility()}")

SPEED = -2 * np.pi  # rad/s of the crank


def drive(t, q, v):
    return np.concatenate([[20.0 * (SPEED - v[0])], np.zeros(6)])


q, v = la.assemble(model, v=(SPEED, 0, 0, 0, 0, 0, 0), keep="crank")
traj = la.simulate(model, q, v, dt=1e-3, duration=3.0, control=drive)
path = traj.poses("foot")[:, :3, 3]
stride, lift = np.ptp(path[:, 0]), np.ptp(path[:, 1])
stance = path[path[:, 1] < path[:, 1].min() + 0.03 * stride]
print(f"stride {stride:.3f} m, lift {lift:.3f} m, of which {np.ptp(stance[:, 0]):.3f} m are level to 3 %")
print(f"the knee carries up to {np.linalg.norm(traj.reaction('knee')[:, 3:], axis=1).max():.3g} N")
Path("out").mkdir(exist_ok=True)
traj.animate("out/walking_linkage.gif", speed=0.5)

assert model.mobility(traj.q[-1]) == 1
assert traj.closure.max() < 1e-13
assert np.ptp(stance[:, 0]) > 0.6 * stride       # a long step on level ground is what the numbers are for
