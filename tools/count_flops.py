"""Count the floating-point operations and the memory of a step's kernels, a link of a chain.

    python tools/count_flops.py [--publish docs/performance.md]

The kernels run as plain Python on numbers that count what is done to them, so the formulas are counted as written; a
fused multiply-add counts as two.
"""

import argparse
import os
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"

import numpy as np

import leastaction as la
from leastaction.compiled import compile_model
from leastaction.kernels import drnea, kinematics, stiffness, sweep
from leastaction.kernels.joints import set_motion
from leastaction.kernels.layout import LANES, ROWS
from leastaction.kernels.machine.memory import BLOCK
from leastaction.markdown import fill, table

N, H = 7, 1e-3  # links; with the ground they fill two blocks of four


class Counted(float):
    """A number that counts the operations on it."""

    done = 0


def _counting(name):
    plain = getattr(float, name)

    def operation(a, b):
        Counted.done += 1
        return Counted(plain(float(a), float(b)))

    return operation


for _name in ("add", "sub", "mul", "truediv", "radd", "rsub", "rmul", "rtruediv"):
    setattr(Counted, f"__{_name}__", _counting(f"__{_name}__"))
Counted.__neg__ = lambda a: Counted(-float(a))


def counted() -> str:
    """The table and the memory, as the page has them."""
    model = la.library.chain(N)
    compiled = compile_model(model)
    tree = compiled.tree
    w = np.array([Counted(x) for x in compiled.workspace()], dtype=object)
    q = [Counted(0.3 * i) for i in range(N)]
    epsilon = [Counted(0.01 * (1 + i)) for i in range(N)]
    kinematics.place(tree, w, q)
    set_motion(tree, w, epsilon)
    phases = {
        "place": lambda: kinematics.place(tree, w, q),
        "factor_mass": lambda: sweep.factor_mass(tree, w, 0.0),
        "drnea, exp": lambda: drnea.drnea(tree, w, H, stiffness.EXP, True),
        "drnea, split": lambda: drnea.drnea(tree, w, H, stiffness.SPLIT, True),
        "K, exp, to second order": lambda: sweep.begin_stiffnesses(tree, w, H, stiffness.EXP, False),
        "K, exp, exactly": lambda: sweep.begin_stiffnesses(tree, w, H, stiffness.EXP, True),
        "K, split": lambda: sweep.begin_stiffnesses(tree, w, H, stiffness.SPLIT, True),
        "factor_jacobian, without K": lambda: sweep.factor_jacobian(tree, w, H, stiffness.SPLIT, True),
        "up and down": lambda: (sweep.up(tree, w, w, None), sweep.down(tree, w, w, None, True, None)),
    }
    counts = {}
    for name, phase in phases.items():
        Counted.done = 0
        phase()
        counts[name] = Counted.done
    counts["factor_jacobian, without K"] -= counts["K, split"]
    rows = [(name, round(count / (N + 1))) for name, count in counts.items()]
    memory = f"The workspace of a link is {8 * (BLOCK // LANES + ROWS):,} bytes."
    return f"{table(('kernel', 'operations a link'), rows)}\n\n{memory}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--publish", type=Path, metavar="PAGE", help="write the table between the marks of a page")
    options = parser.parse_args()
    text = counted()
    print(text)
    if options.publish:
        fill(options.publish, text, "counted")


if __name__ == "__main__":
    main()
