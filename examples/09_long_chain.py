"""A hanging chain of 300 links swings as Bernoulli's continuous one: its slowest mode is a Bessel function."""

import numpy as np
from scipy.special import j0, jn_zeros

import leastaction as la

n, length, amplitude = 300, 1.0, 1e-3
model = la.Model(name="hanging chain")
link = la.Inertia.rod(1.0 / n, length / n, com=(0, 0, -length / n / 2))
for i in range(n):
    model.add_body(f"link{i + 1}", f"link{i}" if i else None, la.Revolute((0, 1, 0)), (0, 0, -length / n if i else 0),
                   inertia=link)

zero = jn_zeros(0, 1)[0]
period = 2 * np.pi / (zero / 2 * np.sqrt(9.81 / length))
height = length * (1 - np.arange(n + 1) / n)             # of the joints and the tip above the lowest point
shape = amplitude * j0(zero * np.sqrt(height / length))  # x of the mode
slope = np.diff(shape) * n / length
q = np.diff(np.concatenate([[0.0], -np.arcsin(slope)]))

traj = la.simulate(model, q, dt=period / 3340, steps=3340, record_every=10)
tip = traj.poses(model.names[-1], slice(None))
x = (tip[:, :3, 3] + tip[:, :3, :3] @ [0, 0, -length / n])[:, 0]
exact = amplitude * np.cos(2 * np.pi * traj.t / period)
error = np.abs(x - exact).max() / amplitude
print(f"{n} links, one period of {period:.4f} s: the tip is off by {error:.1e} of its swing")
assert error < 1e-3
