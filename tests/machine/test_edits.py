"""An edited kernel is never run from old code, whichever file of which folder was edited."""

import shutil

import numba
import pytest
from test_cache import SOURCE, python

# What a run prints: numbers of the model, and the cache folder, whose name is the key. The energy, the closure and the
# search are compiled in two seconds each, the residual in seven, a step of Euler in nine, with limits in a minute.
BARE = """
import leastaction as la
from leastaction.kernels.machine import cache
model = la.library.pendulum()
(body,) = model.names
"""
MODEL = BARE + """
model.add_force("tie", la.Spring(body, point=(1, 0, 0), other_point=(3, 0, 0), stiffness=10.0, rest=0.5))
"""
ENERGY = MODEL + "print(la.energy(model, [0.1], [1.0]), cache.FOLDER)"
RESIDUAL = MODEL + "print(la.discrete_residual(model, [0.1], [0.2], [0.31], 0.1), cache.FOLDER)"
CLOSURE = BARE + """
model.add_loop("rod", body, joint=la.Rod(1.0), position=(0, 0, -0.5), other_position=(1.2, 0, -0.5))
print(la.closure(model, [0.3]).tolist(), cache.FOLDER)
"""
EULER = BARE + """
run = la.simulate(model, [0.1], [1.0], dt=1e-3, steps=1, integrator=la.SemiImplicitEuler())
print(run.v.tolist(), cache.FOLDER)
"""
# A step of Broyden's search alone, as the step around it takes half a minute
SEARCH = """
from functools import partial
import numba
import numpy as np
from leastaction.kernels.machine import cache, jit
from leastaction.kernels.peers import dense_root
from leastaction.kernels.settings import BROYDEN, DRNEA
step = jit.cached(partial(numba.njit, **jit.ENTRY), dense_root.broyden_step.py_func)
scratch = dense_root.scratch_of(np.zeros(0, dtype=np.int64), 2, np.zeros(0), DRNEA, BROYDEN)
scratch.matrix[:], scratch.f[:] = 1.0, 1.0
step(scratch, False)
print(scratch.step.tolist(), cache.FOLDER)
"""
STOP = """
import leastaction as la
from leastaction.kernels.machine import cache
model = la.Model()
model.add_body("arm", None, la.Revolute((0, 1, 0), limits=(-1.0, 0.15)),
               inertia=la.Inertia.sphere(1.0, 0.1, (0, 0, -1)))
print(la.simulate(model, [0.1], [1.0], dt=0.1, steps=2).q.tolist(), cache.FOLDER)
"""

# In each folder of kernels, something on which what is printed depends: what is run, file, text, other text.
CONSTANTS = {
    ".": (ENERGY, "rnea.py", "return 0.5 * twice", "return 0.75 * twice"),
    "constraints": (CLOSURE, "rows.py", "Ends(link(w, a).rotation, link(w, b).rotation, gap",
                    "Ends(link(w, b).rotation, link(w, a).rotation, gap"),
    "constraints/kinds": (CLOSURE, "dist.py", "return 0.5 * (dot(f, d)", "return 0.75 * (dot(f, d)"),
    "elements": (ENERGY, "springs.py", "0.5 * springs.stiffness", "0.75 * springs.stiffness"),
    "explicit": (EULER, "euler.py", "v[j] += h * a[j]", "v[j] += 2.0 * h * a[j]"),
    "joints": (ENERGY, "screw.py", "return scale(rates[k], L.axis_turn)", "return scale(2.0 * rates[k], L.axis_turn)"),
    "machine": (ENERGY, "float4.py", "builder.fadd(builder.fadd(a, b), builder.fadd(c, d))", "builder.fadd(c, d)"),
    "maths": (ENERGY, "vec3.py", "return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]", "return a[0] * b[0] + a[1] * b[1]"),
    "peers": (SEARCH, "linear.py", "result, done = 0.0, 0", "result, done = 1.0, 0"),
    "retractions": (RESIDUAL, "split.py", "scale(mass, move)", "scale(2.0 * mass, move)"),
}


# What takes long to compile
SLOW_CONSTANTS = {
    "limits": (STOP, "impacts.py", "return min(x - method.rows.low[r], method.rows.high[r] - x)",
               "return min(x - method.rows.low[r], method.rows.high[r] - x - 0.02)"),
}


def check_edits(tmp_path, constants):
    """See that each edit changes what its code prints, and the key; and that the first key comes back with the text."""
    package = tmp_path / "leastaction"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))

    def made(code):
        numbers, _, key = python(code, tmp_path / "cache", tmp_path).stdout.rpartition(" ")
        return numbers, key

    before = {code: made(code) for code, *_ in constants.values()}
    keys = {key for _, key in before.values()}
    assert len(keys) == 1
    for folder, (code, name, old, new) in constants.items():
        edited = package / "kernels" / folder / name
        text = edited.read_text(encoding="utf-8")
        assert text.count(old) == 1, folder
        edited.write_text(text.replace(old, new), encoding="utf-8")
        numbers, key = made(code)
        assert numbers != before[code][0], folder
        keys.add(key)
        edited.write_text(text, encoding="utf-8")
    assert len(keys) == 1 + len(constants)
    code, *_ = next(iter(constants.values()))
    again = python(code, tmp_path / "cache", tmp_path)
    assert again.stdout.rpartition(" ")[::2] == before[code]
    assert again.stderr == ""


def test_every_folder_of_kernels_has_a_constant():
    kernels = SOURCE / "kernels"
    folders = {path.parent.relative_to(kernels).as_posix() for path in kernels.rglob("*.py")}
    assert folders == set(CONSTANTS) | set(SLOW_CONSTANTS)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compiles")
def test_an_edit_in_any_folder_is_never_run_from_old_code(tmp_path):
    """Numba itself checks the file of the function that Python calls, and no other."""
    check_edits(tmp_path, CONSTANTS)


@pytest.mark.soak
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compiles")
def test_an_edit_of_what_compiles_slowly_is_never_run_from_old_code(tmp_path):
    check_edits(tmp_path, SLOW_CONSTANTS)
