"""What a user waits for before the first step: the import, and the start of a small script, cold and warm."""

import json
import tempfile
from pathlib import Path
from typing import NamedTuple

from leastaction.bench.fresh import run_fresh

SCRIPT = """\
import leastaction as la
model = la.library.chain(10)
la.simulate(model, dt=1e-3, steps=100)
"""
IMPORT = """\
import json, sys, time, numba
began = time.perf_counter()
import leastaction
seconds = time.perf_counter() - began
print(json.dumps([seconds, [name for name in ("matplotlib", "mujoco") if name in sys.modules]]))
"""


class Startup(NamedTuple):
    """Wall-clock times, s.

    imported : of ``import leastaction`` beyond ``import numba``
    heavy : the large optional libraries that this import brought along
    cold : of a whole script, with no kernel compiled yet
    warm : of the same script run again
    """

    imported: float
    heavy: list[str]
    cold: float
    warm: float


def startup(repeats: int, script: str = SCRIPT) -> Startup:
    """Time the import and a script; the fastest of several, but for the cold start, which is made once.

    Parameters
    ----------
    repeats : how often
    script : Python code
    """
    imports = [json.loads(run_fresh(IMPORT)[0]) for _ in range(repeats)]
    with tempfile.TemporaryDirectory() as empty:
        _, cold = run_fresh(script, Path(empty))
        warm = min(run_fresh(script, Path(empty))[1] for _ in range(repeats))
    return Startup(min(seconds for seconds, _ in imports), imports[0][1], cold, warm)
