"""Settings of the whole test run: reproducible hypothesis runs, and no test skipped unseen in CI."""

import os

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

CI = os.environ.get("CI") == "true"

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("local", deadline=None)   # the first example of a test may compile kernels
settings.load_profile("ci" if CI else "local")

# Where nothing is compiled yet, most of the time goes into compiling loops, each for a kind of method, limits, closed
# loops and forces. xdist's worksteal gives each of two processes one half of the list. So long tests are at the
# beginning of a half, that at its end no process waits for the other, and tests that need the same loops are in one.

# What is the same for all models without loops and limits, forces between bodies, and what users add; then what runs in
# processes of its own, which find most of that compiled
FIRST = (
    "simulation/test_controls.py", "simulation/test_commands.py", "simulation/test_forces.py", "kernels/test_seam.py",
    "simulation/test_rescue.py", "integrators/test_outside.py", "test_docs.py::test_force", "files/test_runs.py",
    "attack/test_attack.py", "test_any_model.py", "reproduce/", "examples/", "files/test_kill.py",
)
# What has a cache of its own, while the other process compiles what is the same for all; then limits and loops
SECOND = (
    "machine/", "simulation/test_ahead.py", "limits/", "kernels/constraints/", "benchmarks/test_loops_bench.py",
    "simulation/test_multipliers.py", "simulation/test_runs_with_loops.py", "simulation/test_damping.py",
    "analysis/test_to_mujoco.py",
)


def pytest_collection_modifyitems(items):
    """Put each half of what begins first at the beginning of its half."""
    def begin(names):
        return [item for name in names for item in items if item.nodeid.removeprefix("tests/").startswith(name)]

    first, second = begin(FIRST), begin(SECOND)
    placed = {*first, *second}
    rest = [item for item in items if item not in placed]
    middle = max(len(items) // 2 - len(first), 0)
    items[:] = first + rest[:middle] + second + rest[middle:]


def _fail_if_skipped(report):
    if CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid}: skipped, which counts as a failure under CI=true. {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return _fail_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return _fail_if_skipped((yield))
