"""A cat that falls without spin and turns over: two halves and a bend of the back that goes round once.

Seen by someone who falls beside it there is no gravity. Nobody pushes it, so its momentum stays zero; it turns all the
same.
"""

from pathlib import Path

import numpy as np

import leastaction as la

DURATION, BEND = 1.0, 1.1   # s, rad
half = {"radius": 0.08, "length": 0.22, "axis": (1, 0, 0)}

model = la.Model(gravity=(0, 0, 0), name="cat")
model.add_body("front", joint=la.Free(), inertia=la.Inertia.capsule(2.0, com=(-0.15, 0, 0), **half))
model.add_body("rear", parent="front", joint=la.Universal((0, 1, 0), (0, 0, 1)), position=(-0.3, 0, 0),
               inertia=la.Inertia.capsule(2.0, com=(-0.15, 0, 0), **half))
back = model.v_slice("rear")


def bend(t):
    """Angles of the back and their rates: bent first, then round once, smoothly."""
    phase = 2 * np.pi * t / DURATION
    turn = phase - np.sin(phase)
    rate = 2 * np.pi / DURATION * (1 - np.cos(phase))
    return BEND * np.array([np.cos(turn), np.sin(turn)]), BEND * rate * np.array([-np.sin(turn), np.cos(turn)])


def muscles(t, q, v):
    wanted, rate = bend(t)
    tau = np.zeros(model.nv)
    tau[back] = 60.0 * (wanted - q[model.q_slice("rear")]) + 2.0 * (rate - v[back])
    return tau


q = model.q0
q[model.q_slice("rear")] = bend(0.0)[0]
traj = la.simulate(model, q, dt=1e-3, duration=DURATION, control=muscles)

first, last = traj.poses("front")[[0, -1], :3, :3]   # the back is bent as at the start, so the whole cat turned so
turned = np.degrees(np.arccos((np.trace(last @ first.T) - 1) / 2))
print(f"momentum: never more than {np.abs(traj.momentum).max():.1e}")
print(f"and yet it has turned by {turned:.0f}°")
assert np.abs(traj.momentum).max() < 1e-9
assert turned > 170

Path("out").mkdir(exist_ok=True)
traj.animate("out/cat.gif", fps=20)
