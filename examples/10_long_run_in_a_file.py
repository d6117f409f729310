"""A run that is written to a file as it goes, broken off, and resumed: the end is the same, bit for bit."""

from pathlib import Path

import numpy as np

import leastaction as la

Path("out").mkdir(exist_ok=True)
model = la.library.chain(10)
gusts = np.random.default_rng(0).normal(scale=0.02, size=(8_000, model.nv))
options = {"dt": 1e-3, "steps": 8_000, "record_every": 50}


class PowerCut(Exception):
    """Stands for whatever may happen to a long run."""


def gusty(t, q, v):
    step = round(t / options["dt"])
    if step == 4_321 and not resumed:
        raise PowerCut
    return gusts[step]


resumed = False
try:
    la.simulate(model, control=gusty, out="out/run.h5", overwrite=True, **options)
except PowerCut:
    print(f"broken off: {la.open('out/run.h5')}")
resumed = True
traj = la.resume("out/run.h5", control=gusty)
print(traj.report())

whole = la.simulate(model, control=gusts, **options)
assert np.array_equal(traj.q, whole.q) and np.array_equal(traj.energy, whole.energy)

node = traj.at(4.321)   # was not kept, and is made again
print(f"at {node.t:g} s the chain's end moves at {node.v[-1]:.3f} rad/s")
