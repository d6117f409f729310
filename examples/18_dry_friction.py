"""A mass on a spring with dry friction turns at points that are known, then stands still for good.

Friction F shifts the centre of every half swing by F/k against the motion, so the turning points come closer by 2F/k
each time, and the mass stays where the spring pulls with less than F.
"""

import numpy as np

import leastaction as la

mass, stiffness, friction, start = 1.0, (2 * np.pi) ** 2, 2.0, 1.0

model = la.Model(gravity=(0, 0, 0), name="mass on a spring")
model.add_body("mass", joint=la.Prismatic(axis=(1, 0, 0), stiffness=stiffness, friction=friction),
               inertia=la.Inertia(mass, (0, 0, 0), np.eye(3)))
traj = la.simulate(model, q=[start], dt=5e-3, duration=7.0)

turning = [start]
while stiffness * abs(turning[-1]) > friction:
    turning.append(2 * np.sign(turning[-1]) * friction / stiffness - turning[-1])
error = max(abs(traj.at(0.5 * k).q[0] - x) for k, x in enumerate(turning))

print(f"turning points   {', '.join(f'{x:+.4f}' for x in turning)} m")
print(f"largest error    {error:.1e} m")
print(f"rests at         {traj.q[-1, 0]:+.6f} m, with the velocity {abs(traj.v[-1, 0]):g} m/s")
print(f"lost to friction {traj.dissipated['dry_friction'][-1]:.6f} J of {traj.energy[0]:.6f} J")
traj.plot_energy().figure.savefig("friction.png", dpi=120, bbox_inches="tight")
assert error < 1e-4 and np.all(traj.v[-50:] == 0.0) and np.all(traj.q[-50:] == traj.q[-1])
