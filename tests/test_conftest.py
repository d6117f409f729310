"""Under CI=true a skipped test, or a skipped file, fails the run; elsewhere it does not."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SKIPPING = {
    "test": "import pytest\ndef test_one(): pytest.skip('no such library')",
    "file": "import pytest\npytest.importorskip('no_such_library')",
}


@pytest.mark.parametrize("kind", SKIPPING)
@pytest.mark.parametrize("ci", ["true", "false"])
def test_skips_fail_in_ci_only(pytester, monkeypatch, kind, ci):
    monkeypatch.setenv("CI", ci)
    pytester.makeconftest(Path(__file__).with_name("conftest.py").read_text())
    pytester.makepyfile(SKIPPING[kind])
    run = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    if ci == "true":
        assert run.ret != 0
        run.stdout.fnmatch_lines(["*counts as a failure under CI=true*"])
    else:
        run.assert_outcomes(skipped=1)


def test_expected_failure_is_not_a_skip(pytester, monkeypatch):
    monkeypatch.setenv("CI", "true")
    pytester.makeconftest(Path(__file__).with_name("conftest.py").read_text())
    pytester.makepyfile("import pytest\n@pytest.mark.xfail\ndef test_one(): assert False")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(xfailed=1)
