"""An integrator of a user: the walk of docs/extending.md, as a module, in a notebook and as a script."""

import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import leastaction as la
from leastaction.integrators import base
from test_docs import walk


@pytest.fixture(scope="module")
def Heun(tmp_path_factory):
    """As a module that is imported."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "heun.py").write_text(walk("class Heun"), encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        from heun import Heun as kind
    finally:
        sys.path.remove(str(folder))
    return kind


def by_hand(model, h, steps):
    """The same method in NumPy, for joints of one degree of freedom."""
    q, v = model.q0.copy(), model.v0.copy()
    for _ in range(steps):
        a = la.forward_dynamics(model, q, v)
        a2 = la.forward_dynamics(model, q + h * v, v + h * a)
        q, v = q + 0.5 * h * (v + (v + h * a)), v + 0.5 * h * (a + a2)
    return q, v


def test_it_does_what_its_formula_says(Heun):
    model = la.library.paper_chain(4)
    run = la.simulate(model, dt=2e-3, steps=50, integrator=Heun())
    q, v = by_hand(model, 2e-3, 50)
    np.testing.assert_allclose(run.q[-1], q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.v[-1], v, rtol=0, atol=1e-11)
    assert (run.iterations == 2).all()


def test_second_order_on_free_joints(Heun):
    model = la.library.ragdoll()
    exact = la.poses(model, la.simulate(model, dt=0.1, steps=5, integrator="dop853").q[-1])
    errors = [np.abs(la.poses(model, la.simulate(model, dt=0.5 / n, steps=n, integrator=Heun()).q[-1]) - exact).max()
              for n in (250, 500)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def test_many_files_checkpoints_and_words(Heun, tmp_path, monkeypatch):
    model = la.library.paper_chain(4)
    whole = la.simulate(model, dt=1e-3, steps=40, integrator=Heun())
    many = la.simulate_many(model, v=np.stack([model.v0, model.v0 + 0.1]), dt=1e-3, steps=40, integrator=Heun())
    assert np.array_equal(many.q[0], whole.q)
    path = tmp_path / "run.h5"
    la.simulate(model, dt=1e-3, steps=25, integrator=Heun(), out=path)
    resumed = la.resume(path, steps=40)
    assert resumed.integrator == Heun() and np.array_equal(resumed.q, whole.q)
    certificate = la.audit(model, dt=1e-3, duration=0.1, integrator=Heun())
    assert "with Heun" in str(certificate)
    for where in [where for where in base.kinds if where[1] == "Heun"]:
        monkeypatch.delitem(base.kinds, where)
    with pytest.raises(la.FileError, match="'Heun' is a class of the module 'heun': import that first"):
        la.open(path)


def edited(code: str) -> str:
    """Of first order; the same in all tests, so that its loop is compiled once."""
    assert code.count("0.5 * h * (a[j] + a2[j])") == 1
    return code.replace("0.5 * h * (a[j] + a2[j])", "h * a2[j]")


def test_in_a_notebook():
    """Cells are executed in one namespace, whose name is that of a script, again after an edit."""
    namespace, (cell, _) = {"__name__": "__main__"}, walk("class Heun").split("\n\n\nif __name__")
    exec(compile(cell, "cell 1", "exec"), namespace)
    model = la.library.paper_chain(4)
    run = la.simulate(model, dt=2e-3, steps=10, integrator=namespace["Heun"]())
    exec(compile(edited(cell), "cell 2", "exec"), namespace)
    other = la.simulate(model, dt=2e-3, steps=10, integrator=namespace["Heun"]())
    assert np.abs(other.v[-1] - run.v[-1]).max() > 1e-6
    np.testing.assert_allclose(run.q[-1], by_hand(model, 2e-3, 10)[0], rtol=0, atol=1e-13)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compiles")
@pytest.mark.parametrize(("right", "wrong", "message"), [
    ("return made(2.0)", "return 2.0", "^the verb advance of HeunMethod must return what made.* gives, not float64$"),
    ("held, k, h):", "held, h):", r"^the verb advance of HeunMethod is called as advance.*too many positional"),
    ("HeunMethod, heun)", "dict, heun)", "a method is described by a NamedTuple, not <class 'dict'>"),
    ('"HeunMethod", "scratch"', '"HeunMethod", "scra__tch"', "field 'scra__tch' of HeunMethod: two underscores"),
])
def test_a_mistake_is_told_in_one_line(right, wrong, message):
    cell = walk("class Heun").split("\n\n\nif __name__")[0]
    assert cell.count(right) == 1
    namespace = {"__name__": "__main__"}
    with pytest.raises((TypeError, ValueError), match=message):
        exec(compile(cell.replace(right, wrong), "cell", "exec"), namespace)
        la.simulate(la.library.pendulum(), dt=1e-3, steps=1, integrator=namespace["Heun"]())


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done


def test_as_a_script_that_is_edited(tmp_path):
    """Compiled code is found again, also that of a notebook; and an edit is not run from old code."""
    code = walk("class Heun")
    python(code, tmp_path)
    again = python(code, tmp_path)
    assert not again.stderr
    errors = [float(line) for line in again.stdout.split()]
    assert np.divide(errors[:-1], errors[1:]) == pytest.approx([4, 4], abs=0.3)
    wrong = [float(line) for line in python(edited(code), tmp_path).stdout.split()]
    assert max(np.divide(wrong[:-1], wrong[1:])) < 3
