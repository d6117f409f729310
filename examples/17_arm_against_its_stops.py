"""An arm falls against the stops of its joints, and bounces less and less: where did the energy go?"""

import numpy as np

import leastaction as la

model = la.Model(name="arm against its stops")
rod = la.Inertia.rod(1.0, 0.5, com=(0, 0, -0.25))
stops = {"upper": (-0.4, 0.9), "fore": (0.0, 1.2), "hand": (-0.3, 0.3)}
parent = None
for name, limits in stops.items():
    joint = la.Revolute(axis=(0, 1, 0), limits=limits, limit_restitution=0.5, friction=0.05)
    model.add_body(name, parent, joint, position=(0, 0, -0.5 if parent else 0), inertia=rod)
    parent = name

traj = la.simulate(model, q=[0.8, 1.0, 0.2], v=[-3.0, 0.0, 4.0], dt=1e-3, duration=6.0)
print(traj.report())
traj.plot_energy().figure.savefig("arm.png", dpi=120, bbox_inches="tight")

low, high = np.transpose(list(stops.values()))
beyond = max((low - traj.q).max(), (traj.q - high).max())
print(f"furthest beyond a stop  {max(beyond, 0.0):.1e} rad")
print(f"hits and slow contact   {np.count_nonzero(np.any(traj.limit_force != 0, axis=1))} of {traj.steps} steps")
assert beyond < 1e-10
assert np.abs(traj.balance).max() < 1e-4 * traj.dissipated["limits"][-1]
