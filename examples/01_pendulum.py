"""A pendulum against its exact motion: released at rest from the angle a, θ(t) = 2 asin(k cd(ω t)), k = sin(a/2)."""

import numpy as np
from scipy.special import ellipj, ellipk

import leastaction as la

length, gravity, release = 1.0, 9.81, 2.0

model = la.library.pendulum(length)
traj = la.simulate(model, q=[release], dt=1e-3, duration=10.0)

omega, k = np.sqrt(gravity / length), np.sin(release / 2)
_, cn, dn, _ = ellipj(omega * traj.t, k**2)
exact = 2 * np.arcsin(k * cn / dn)
error = np.abs(traj.q[:, 0] - exact).max()

print(f"period          {4 * ellipk(k**2) / omega:.6f} s (exact), a small swing takes {2 * np.pi / omega:.6f} s")
print(f"largest error   {error:.1e} rad in {traj.t[-1]:g} s")
print(f"energy error    {np.abs(traj.energy_error).max():.1e} of the peak kinetic energy")
assert error < 1e-4
