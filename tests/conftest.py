"""Settings of the whole test run: reproducible hypothesis runs, and no test skipped unseen in CI."""

import os

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

CI = os.environ.get("CI") == "true"

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("local", deadline=None)   # the first example of a test may compile kernels
settings.load_profile("ci" if CI else "local")


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
