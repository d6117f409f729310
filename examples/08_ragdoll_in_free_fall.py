"""A human figure falls and flails: its centre of mass follows Galileo's parabola, whatever the limbs do."""

import numpy as np

import leastaction as la

model = la.library.ragdoll()
traj = la.simulate(model, dt=1e-3, duration=2.0, record_every=20)

masses = np.array([body.inertia.mass for body in model.bodies])
centres = np.array([body.inertia.com for body in model.bodies])
poses = traj.poses()
places = np.einsum("kbij,bj->kbi", poses[..., :3, :3], centres) + poses[..., :3, 3]
com = np.einsum("b,kbi->ki", masses, places) / masses.sum()

velocity = traj.momentum[0, 3:] / masses.sum()
t = traj.t[:, None]
parabola = com[0] + velocity * t + 0.5 * model.gravity * t**2
momentum = traj.momentum[0, 3:] + masses.sum() * model.gravity * t

print(f"it fell {com[0, 2] - com[-1, 2]:.2f} m; off the parabola by {np.abs(com - parabola).max():.1e} m at most")
print(f"linear momentum off by {np.abs(traj.momentum[:, 3:] - momentum).max():.1e} kg m/s")
assert np.abs(com - parabola).max() < 1e-5
assert np.abs(traj.momentum[:, 3:] - momentum).max() < 1e-8
