"""What the tests of files share: the same run in memory and in a file, and one that is broken off."""

import numpy as np
import pytest

import leastaction as la

NODES = ("t", "q", "v", "p", "energy", "momentum")
STEPS = ("iterations", "residual", "status", "substeps")
RANGES = ("energy_range", "momentum_range", "peak_kinetic_energy")


def same(a, b, names):
    for name in names:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def pair(path, model=None, **options):
    """The same run in memory and in a file."""
    model = la.library.chain(5) if model is None else model
    options = {"steps": 500, "dt": 2e-3, **options}
    return la.simulate(model, **options), la.simulate(model, out=path, **options)


def step_law(t, q, v):
    return -0.1 * v + np.sin(t)


class Interrupted(Exception):
    pass


def broken_off(path, control=None, **options):
    """A run whose control function gives up at 0.6 s, so that it can go on."""
    def law(t, q, v):
        if t > 0.6:
            raise Interrupted
        return step_law(t, q, v) if control is None else control(t, q, v)

    with pytest.raises(Interrupted):
        la.simulate(la.library.chain(5), steps=500, dt=2e-3, record_every=7, control=law, out=path, **options)
