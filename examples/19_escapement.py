"""A clock that ticks: a hammer is pressed against one stop or the other, as the pendulum swings to the left or right.

Each change of sides is a tick: the hammer flies over, hits the other stop, bounces a few times and rests there.
"""

import numpy as np

import leastaction as la

TOOTH, MOMENT = 0.2, 0.3  # rad, N m

model = la.Model(name="clock")
model.add_body("pendulum", joint=la.Revolute(axis=(0, 1, 0)), inertia=la.Inertia.rod(1.0, 1.0, com=(0, 0, -0.5)))
model.add_body("hammer", joint=la.Revolute(axis=(0, 1, 0), limits=(0.0, TOOTH), limit_restitution=0.2),
               position=(1, 0, 0), inertia=la.Inertia(0.5, (0, 0, 0), 0.01 * np.eye(3)))


def escapement(t, q, v):
    """Press the hammer to the one stop while the pendulum is on the left, to the other while it is on the right."""
    return np.array([0.0, MOMENT if q[0] > 0 else -MOMENT])


traj = la.simulate(model, q=[0.3, TOOTH], dt=2e-3, duration=10.0, control=escapement)
blows = np.any(np.abs(traj.limit_force) > 10 * MOMENT, axis=1)
at_stop = np.isin(traj.q[:, 1], (0.0, TOOTH))
ticks = np.count_nonzero(np.diff(np.sign(traj.q[:, 0])))
print(f"{ticks} ticks, {np.count_nonzero(blows)} blows; the hammer rests {100 * at_stop.mean():.0f} % of the time")
print(f"lost in blows  {traj.dissipated['limits'][-1]:.4f} J")
assert ticks == np.count_nonzero(np.diff(at_stop.astype(int)) < 0)
assert np.all((traj.q[:, 1] >= -1e-12) & (traj.q[:, 1] <= TOOTH + 1e-12))
