"""A mobile, body by body: a bar on a ball joint, and a rod with a weight hanging from either end."""

from pathlib import Path

import numpy as np

import leastaction as la

model = la.Model(gravity=(0, 0, -9.81), name="mobile")
model.add_body("bar", joint=la.Ball(), inertia=la.Inertia.rod(0.5, length=1.0, axis=(1, 0, 0), com=(0, 0, -0.1)))
for side, x in (("left", -0.5), ("right", 0.5)):
    rod = la.Inertia.rod(0.1, length=0.4, com=(0, 0, -0.2))
    cross = la.Universal((1, 0, 0), (0, 1, 0))
    model.add_body(f"{side} rod", parent="bar", joint=cross, position=(x, 0, -0.1), inertia=rod)
    model.add_body(f"{side} weight", parent=f"{side} rod", joint=la.Fixed(), position=(0, 0, -0.4),
                   inertia=la.Inertia.sphere(0.3, radius=0.05))
print(model)

v = np.zeros(model.nv)
v[model.v_slice("bar")] = 0.5, 0.0, 2.0      # a push, rad/s, about the bar's own axes
v[model.v_slice("left rod")] = 3.0, 0.0

traj = la.simulate(model, v=v, dt=2e-3, duration=5.0)
Path("out").mkdir(exist_ok=True)
traj.plot_energy().figure.savefig("out/mobile.png")

assert np.abs(traj.energy_error).max() < 1e-3
