"""The time before the first step: of the import, and of the start of a small script, cold and warm."""

import json
import math
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks.fresh import run_fresh

SCRIPT = """\
import leastaction as la
model = la.library.chain(10)
la.simulate(model, dt=1e-3, steps=100)
"""
IMPORT = """\
import json, sys, time, numba
began = time.perf_counter()
import leastaction
leastaction.simulate
seconds = time.perf_counter() - began
print(json.dumps([seconds, [name for name in ("matplotlib", "mujoco") if name in sys.modules]]))
"""


# Numba imports SciPy if it is installed; leastaction does not need it
PLAIN = "import sys\nsys.modules['scipy'] = None\n"


class Startup(NamedTuple):
    """Wall-clock times, s.

    imported : of ``import leastaction`` and of what `simulate` needs, beyond ``import numba``
    heavy : the large optional libraries that this import brought along
    cold : of a whole script, with no kernel compiled yet
    warm : of the same script run again, as after a plain install, which has no SciPy
    beside_scipy : of the same script run again where SciPy is installed; NaN where it is not
    """

    imported: float
    heavy: list[str]
    cold: float
    warm: float
    beside_scipy: float = math.nan


def startup(repeats: int, script: str = SCRIPT) -> Startup:
    """Time the import and a script; the fastest of several, of the cold start of at most two.

    Parameters
    ----------
    repeats : how often
    script : Python code
    """
    imports = [json.loads(run_fresh(IMPORT)[0]) for _ in range(repeats)]
    cold, warm, beside = [], [], []
    for _ in range(2 if repeats > 2 else 1):
        with tempfile.TemporaryDirectory() as empty:
            cold.append(run_fresh(PLAIN + script, Path(empty))[1])
            for _ in range(repeats):
                warm.append(run_fresh(PLAIN + script, Path(empty))[1])
                beside.append(run_fresh(script, Path(empty))[1] if find_spec("scipy") else math.nan)
    return Startup(min(seconds for seconds, _ in imports), imports[0][1], min(cold), min(warm), min(beside))
