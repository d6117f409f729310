"""A chaotic double pendulum: how far the motion can be trusted, against 21 digits from a Taylor series."""

import numpy as np

import leastaction as la

# Angles from the vertical at 10 s: point masses of 1 kg on rods of 1 m, released at rest from (1, 1.5) rad, g = 9.81.
EXACT = np.array([-1.1815353147407161535, -0.9767003929128072994])

model = la.library.double_pendulum()
for order in (2, 4, 8):
    traj = la.simulate(model, dt=2e-3, duration=10.0, integrator=la.Variational(order=order))
    absolute = np.cumsum(traj.q[-1])   # the joints' angles are relative
    error = np.abs(absolute - EXACT).max()
    print(f"order {order}: off by {error:.1e} rad after 10 s, energy error {traj.max_energy_error:.1e}")
assert error < 1e-9

long = la.simulate(model, dt=2e-3, duration=60.0, integrator=la.Variational(order=8))
accuracy = long.accuracy()
print(accuracy.report())
assert accuracy.doubling_time is not None and accuracy.max_error < 1e-6
