"""A heavy top, let go with spin only: its axis nods, and the cosine of its tilt is an elliptic function.

u = cos(tilt) moves between two roots of u̇² = (1 − u²)(α − βu) − (b − au)², a and b being the constant
momenta about the top's axis and the vertical, divided by the inertia across (Goldstein, Classical Mechanics, 5.7).
"""

import numpy as np
from scipy.special import ellipj, ellipk

import leastaction as la

model = la.library.spinning_top()
traj = la.simulate(model, dt=2e-4, duration=2.0)

body = model.bodies[0].inertia
about_tip = body.matrix_about_origin
across, along = about_tip[0, 0], about_tip[2, 2]
spin, u0 = model.v0[2], 1 - 2 * np.sum(model.q0[1:3] ** 2)
a = along * spin / across
b = a * u0
beta = 2 * body.mass * 9.81 * body.com[2] / across
alpha = beta * u0
low, high, beyond = np.sort(np.roots([beta, -alpha - a**2, 2 * a * b - beta, alpha - b**2]).real)

k2 = (high - low) / (beyond - low)
rate = np.sqrt(beta * (beyond - low)) / 2
_, cn, dn, _ = ellipj(rate * traj.t, k2)
exact = low + (high - low) * (cn / dn) ** 2   # it starts at the upper root
found = 1 - 2 * np.sum(traj.q[:, 1:3] ** 2, axis=1)
error = np.abs(np.arccos(found) - np.arccos(exact)).max()

print(f"it nods {1e3 * (np.arccos(low) - np.arccos(high)):.3f} mrad deep, every {2 * ellipk(k2) / rate:.5f} s")
print(f"largest error of the tilt {error:.1e} rad")
assert error < 1e-4
