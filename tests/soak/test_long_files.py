"""Ten million steps to a file: memory stays where it was, and the energy goes nowhere. `make soak` prints with -s."""

import resource

import numpy as np
import pytest

import leastaction as la

pytestmark = pytest.mark.soak

STEPS = 10_000_000


def peak_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024   # bytes, on Linux


def test_ten_million_steps_of_a_chain(tmp_path):
    """At 0.1 ms the whips of the hard chain are resolved, so that what is left would be a trend."""
    model, options = la.library.chain(10), {"dt": 1e-4, "record_every": 1000}
    la.simulate(model, steps=STEPS // 50, out=tmp_path / "warm.h5", **options)
    before = peak_memory()
    traj = la.simulate(model, steps=STEPS, out=tmp_path / "run.h5", **options)
    grown, size = peak_memory() - before, (tmp_path / "run.h5").stat().st_size
    blocks = np.median(traj.energy_error[1:].reshape(20, -1), axis=1)   # whips stand out of a block, not of its median
    at = np.linspace(-0.5, 0.5, len(blocks))
    (slope, _), covariance = np.polyfit(at, blocks, 1, cov=True)
    doubt = np.sqrt(covariance[0, 0])
    print(f"memory grew by {grown / 1e6:.1f} MB, the file has {size / 1e6:.1f} MB; "
          f"energy error {traj.max_energy_error:.2g} at most, trend over the run {slope:+.1g} ± {doubt:.1g}")
    assert grown < 20e6
    assert abs(slope) < 4 * doubt
    assert abs(slope) < 1e-6
