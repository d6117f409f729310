"""A ragdoll adrift in space: it tumbles and flails, and its momentum does not change."""

from pathlib import Path

import numpy as np

import leastaction as la

model = la.library.ragdoll()
model.gravity = (0, 0, 0)
traj = la.simulate(model, dt=1e-3, duration=3.0)

angular, linear = traj.momentum[:, :3], traj.momentum[:, 3:]
print("largest change of the momentum, relative to its size")
for name, part in (("angular", angular), ("linear", linear)):
    change = np.linalg.norm(part - part[0], axis=1).max() / np.linalg.norm(part[0])
    print(f"  {name:8} {change:.1e}")
    assert change < 1e-9

Path("out").mkdir(exist_ok=True)
traj.animate("out/ragdoll.gif", fps=10)
