"""`leastaction doctor` says what is installed, finds a step that goes wrong, and clears the cache of kernels alone."""

import json
import platform
import sys

import numba
import numpy as np
import pytest
from test_cache import python
from typer.testing import CliRunner

import leastaction as la
from leastaction import cli, doctor
from leastaction.cli.commands import app
from leastaction.kernels.machine import cache
from leastaction.reference import increment
from reference import action
from reference.dense import mass_matrix

CLEAR = "from leastaction.doctor import run; run(clear=True)"


def run(*arguments):
    return CliRunner().invoke(app, ["doctor", *arguments])


def test_a_sound_installation():
    result = run()
    assert result.exit_code == 0 and result.output.rstrip().endswith("This installation is sound.")
    for expected in (la.__version__, platform.python_version(), np.__version__, numba.__version__, cache.FOLDER,
                     "--clear-cache", "processor", "SIMD", "matplotlib", "self-test"):
        assert expected in result.output


def test_as_json():
    result = run("--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 0 and found["sound"] and found["faults"] == []
    assert found["required"]["numba"] == numba.__version__ and found["extras"]["view"]["viser"]
    assert found["cache"]["folder"] == cache.FOLDER
    assert 0 < found["cache"]["bytes"] <= found["cache"]["all_bytes"]


def test_the_known_step_is_known_independently():
    """The stored end of the step solves the discrete Euler–Lagrange equations, written without the kernels."""
    rod = la.Inertia.capsule(mass=1.0, radius=0.05, length=0.5, com=(0, 0, -0.25))
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("trunk", joint=la.Free(), inertia=rod)
    model.add_body("arm", parent="trunk", joint=la.Ball(), position=(0, 0, -0.5), inertia=rod)
    M, v = mass_matrix(model, model.q0), np.array(doctor.VELOCITY)
    q = increment(model, model.q0, doctor.STEP * v)
    for _ in range(20):    # quasi-Newton: the mass matrix over the step is nearly the Jacobian
        missing = action.momenta(model, model.q0, q, doctor.STEP, "split")[0] - M @ v
        q = increment(model, q, -doctor.STEP * np.linalg.solve(M, missing)).real
    assert np.abs(missing).max() < 1e-14
    np.testing.assert_allclose(doctor.KNOWN, q, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("name", "value", "fault"), [
    ("KNOWN", tuple(x + 1e-9 for x in doctor.KNOWN), "the state is off by 1.0e-09"),
    ("MOMENTUM", 0.0, "the momentum is off by"),
    ("ENERGY", 0.0, "the energy is off by"),
    ("self_test", lambda: 1 / 0, "self-test: ZeroDivisionError: division by zero"),
    ("_processor", lambda: float("x"), "processor: ValueError"),
], ids=["state", "momentum", "energy", "self-test", "processor"])
def test_a_fault_is_told_by_words_and_by_the_exit_code(monkeypatch, name, value, fault):
    monkeypatch.setattr(doctor, name, value)
    result = run()
    assert result.exit_code == 1 and f"FAULT {fault}" in result.output.replace("FAULT self-test: the", "FAULT the")
    assert "sound" not in result.output
    again = run("--json")
    assert again.exit_code == 1 and not json.loads(again.stdout)["sound"]


def test_a_step_that_is_not_a_number_is_a_fault(monkeypatch):
    monkeypatch.setattr(doctor, "self_test", lambda: dict.fromkeys(
        ("seconds", "state_error", "momentum_error", "energy_error"), float("nan")))
    assert len(doctor.examine()["faults"]) == 3


def test_only_kernels_are_cleared(tmp_path):
    cache, elsewhere = tmp_path / "cache", tmp_path / "elsewhere"
    for folder in (elsewhere, cache / "0123456789abcdef" / "kernels", cache / "photographs"):
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(bytes(2_000_000))
    (cache / "fedcba9876543210").symlink_to(elsewhere)
    (cache / "00000000000000ff").write_text("not a folder")
    done = python(CLEAR, cache)
    assert done.stdout.strip() == f"removed 2.0 MB of kernels from {cache}"
    assert {path.name for path in cache.iterdir()} == {"photographs", "fedcba9876543210", "00000000000000ff"}
    assert (elsewhere / "file").exists() and (cache / "photographs" / "file").exists()


def test_without_a_folder_to_write_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "FOLDER", "")
    assert "cache        no folder can be written" in run().output
    assert run("--clear-cache").output.strip() == doctor.NO_CACHE


def test_it_runs_where_the_command_itself_cannot(monkeypatch, capsys):
    """Whoever lacks an extra is told so by the doctor, which needs none."""
    monkeypatch.setattr(cli, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["leastaction", "doctor"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 0 and "This installation is sound." in capsys.readouterr().out
