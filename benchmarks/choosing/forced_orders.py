"""Observed orders of convergence under forces."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

import leastaction as la
from leastaction.analysis.accuracy import distance
from leastaction.integrators import Integrator
from leastaction.markdown import table

METHODS: dict[str, Integrator] = {
    "order 2": la.Variational(),
    "order 4": la.Variational(order=4),
    "order 6": la.Variational(order=6),
    "Runge–Kutta 4": la.RungeKutta4(),
}
DURATION = 1.0  # s
Forces = Callable[[float, int], dict[str, Any]]  # step (s), number of steps → control and wrench


def _chain(damping: float = 0.0, stiffness: float = 0.0) -> la.Model:
    """Two links on ball joints and one on a hinge."""
    model = la.Model()
    link = la.Inertia(1.0, (0, 0, -0.25), [[0.05, 0, 0], [0, 0.06, 0], [0, 0, 0.07]])
    passive = {"damping": damping, "stiffness": stiffness}
    model.add_body("upper", joint=la.Ball(**passive), inertia=link)
    model.add_body("middle", "upper", la.Ball(**passive), (0, 0, -0.5), inertia=link)
    model.add_body("lower", "middle", la.Revolute((0, 1, 0), **passive), (0, 0, -0.5), inertia=link)
    model.v0 = [1.0, 2.0, 0.5, -1.0, 0.5, 1.0, 2.0]
    return model


def _push(t: float) -> np.ndarray:
    return np.sin(3 * t + np.arange(7.0))


def _law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return _push(t) - 0.5 * v


CASES: dict[str, tuple[la.Model, Forces]] = {
    "none": (_chain(), lambda h, steps: {}),
    "springs": (_chain(stiffness=2.0), lambda h, steps: {}),
    "damping": (_chain(damping=0.3), lambda h, steps: {}),
    "constant joint forces": (_chain(), lambda h, steps: {"control": _push(0.0)}),
    "constant wrenches": (_chain(), lambda h, steps: {"wrench": np.outer([0.2, -0.5, 1.0], _push(0.0)[:6])}),
    "u(t) at the middle of each step, as an array": (
        _chain(), lambda h, steps: {"control": np.array([_push((k + 0.5) * h) for k in range(steps)])}),
    "u(t) as a function": (_chain(), lambda h, steps: {"control": lambda t, q, v: _push(t)}),
    "control law u(t, q, v)": (_chain(), lambda h, steps: {"control": _law}),
}


def observed_order(model: la.Model, forces: Forces, integrator: Integrator, dt: float) -> float:
    """Compare runs at dt, dt/2 and dt/4: each halving divides the error by 2 to the order."""
    ends = []
    for parts in (1, 2, 4):
        h, steps = dt / parts, round(parts * DURATION / dt)
        run = la.simulate(model, dt=h, steps=steps, integrator=integrator, progress=False, **forces(h, steps))
        ends.append(run.q[-1:])
    coarse, fine = (distance(model, a, b)[0] for a, b in pairwise(ends))
    return float(np.log2(coarse / fine))


def section(cases: Sequence[str], dt: float = 0.02) -> str:
    """Measure the orders and write what was found."""
    print("orders under forces…", flush=True)
    rows = [[name, *(f"{observed_order(*CASES[name], method, dt):.2f}" for method in METHODS.values())]
            for name in cases]
    return "\n\n".join([
        "### Order under forces",
        f"Observed order of convergence of a chain on ball joints and a hinge, from steps of {1e3 * dt:g}, "
        f"{5e2 * dt:g} and {2.5e2 * dt:g} ms.",
        table(("forces", *METHODS), rows),
    ])
