"""Settings of the whole test run: reproducible hypothesis runs, and no test skipped unseen in CI."""

import os

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

CI = os.environ.get("CI") == "true"

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("local", deadline=None)   # the first example of a test may compile kernels
settings.load_profile("ci" if CI else "local")

# Half a minute or more where nothing is compiled yet
LONG = {
    "test_an_edit_in_any_folder_is_never_run_from_old_code", "test_force_of_the_extending_page",
    "test_force_and_integrator_of_the_extending_page_in_a_notebook", "test_as_a_script_that_is_edited",
    "test_plugin_in_a_file",
    "test_both_processes_report_and_the_result_is_the_same", "test_coupled_wheels_on_a_spring_come_to_rest",
    "test_energy_and_forces_of_every_potential", "test_rivals_have_our_mechanism", "test_a_range_in_a_closed_loop",
    "test_any_moment_can_be_made_again", "test_energy_never_rises", "test_every_step_converges_or_raises",
    "test_lanes_agree_with_single_runs", "test_attack", "test_example", "test_numbas_own_way_gives_the_same_bits",
}


def pytest_collection_modifyitems(items):
    """Begin with the long tests, so that at the end no process waits for another."""
    items.sort(key=lambda item: getattr(item, "originalname", "") not in LONG)


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
