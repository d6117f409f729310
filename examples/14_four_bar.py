"""A four-bar linkage: three bars in a tree, and the fourth joint as a loop. Cut elsewhere, it is the same mechanism."""

from pathlib import Path

import numpy as np

import leastaction as la

Z = (0, 0, 1)


def bar(length):
    return la.Inertia.rod(1.0, length=length, axis=(1, 0, 0), com=(length / 2, 0, 0))


model = la.Model(gravity=(0, -9.81, 0), name="four-bar")
model.add_body("crank", joint=la.Revolute(Z), inertia=bar(1.0))
model.add_body("coupler", "crank", la.Revolute(Z), position=(1, 0, 0), inertia=bar(2.0))
model.add_body("rocker", joint=la.Revolute(Z), position=(2.2, 0, 0), inertia=bar(1.5))
model.add_loop("pin", "coupler", "rocker", joint=la.Revolute(Z), position=(2, 0, 0), other_position=(1.5, 0, 0))
print(model, f"\nmobility {model.mobility((1.2, -0.9, 1.5))}")

# The crank's angle and rate are given; the other joints follow.
q, v = la.assemble(model, (1.2, -0.9, 1.5), (3.0, 0, 0), keep="crank")
traj = la.simulate(model, q, v, dt=2e-3, duration=10.0, integrator=la.Variational(order=4))
print(traj.audit())

# The same linkage with all three bars in a row, and the loop where the rocker stands on the ground.
row = la.Model(gravity=(0, -9.81, 0), name="three bars in a row")
row.add_body("crank", joint=la.Revolute(Z), inertia=bar(1.0))
row.add_body("coupler", "crank", la.Revolute(Z), position=(1, 0, 0), inertia=bar(2.0))
tip_first = la.Inertia.rod(1.0, length=1.5, axis=(1, 0, 0), com=(0.75, 0, 0))
row.add_body("rocker", "coupler", la.Revolute(Z), position=(2, 0, 0), inertia=tip_first)
row.add_loop("stand", "rocker", joint=la.Revolute(Z), position=(1.5, 0, 0), other_position=(2.2, 0, 0))
start, rates = la.assemble(row, (q[0], q[1], q[2] + np.pi - q[0] - q[1]), (v[0], v[1], v[2] - v[0] - v[1]))
again = la.simulate(row, start, rates, dt=2e-3, duration=10.0, integrator=la.Variational(order=4))

force = traj.reaction("pin")[:, 3:]
print(f"the pin carries up to {np.linalg.norm(force, axis=1).max():.3g} N")
Path("out").mkdir(exist_ok=True)
traj.animate("out/four_bar.gif")

assert traj.closure.max() < 1e-13
assert traj.max_energy_error < 1e-8
assert np.abs(again.q[:, :2] - traj.q[:, :2]).max() < 1e-9
