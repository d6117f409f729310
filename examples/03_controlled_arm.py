"""A two-link arm driven to a target: PD control, with the weight of the arm carried by inverse dynamics."""

import numpy as np

import leastaction as la

model = la.Model(name="arm")
link = la.Inertia.rod(1.0, length=0.5, com=(0, 0, -0.25))
model.add_body("upper arm", joint=la.Revolute((0, 1, 0)), inertia=link)
model.add_body("forearm", parent="upper arm", joint=la.Revolute((0, 1, 0)), position=(0, 0, -0.5), inertia=link)

target = np.array([-1.2, -0.8])
stiffness, damping = np.array([40.0, 15.0]), np.array([8.0, 2.0])
at_rest = np.zeros(model.nv)


def control(t, q, v):
    weight = la.inverse_dynamics(model, q, at_rest, at_rest)
    return weight + stiffness * (target - q) - damping * v


traj = la.simulate(model, dt=1e-3, duration=4.0, control=control)

print(f"joint angles at the end {traj.q[-1]} rad, wanted {target}")
assert np.abs(traj.q[-1] - target).max() < 1e-3
