"""What a call from Python costs beyond the work that it asks for.

A step by `Simulator.step()` and one under a control in Python take turns with steps that the compiled loop makes alone,
so that all see the same machine; the fastest turn of each counts. Their difference is what Python takes. The other two
are whole calls, of which the kernel is a small part.
"""

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import leastaction as la

BODIES, DT = 10, 1e-3  # of the hard chain; s
CALLS, STEPS = 2000, 20_000  # of each in a turn: single calls, and steps of the loop alone


class Calls(NamedTuple):
    """CPU time of one call, s; NaN if it was not measured.

    step : of `Simulator.step()`, beyond the step
    control : of a step under a function in Python, beyond the step under the same forces
    forward_dynamics, poses : whole calls
    """

    step: float = math.nan
    control: float = math.nan
    forward_dynamics: float = math.nan
    poses: float = math.nan


def calls(turns: int, count: int = CALLS, steps: int = STEPS) -> Calls:
    """Time so many turns of ``count`` calls each, and of ``steps`` steps of the loop alone."""
    model, zero = la.library.chain(BODIES), np.zeros(BODIES)
    q, v = model.q0.copy(), model.v0.copy()
    single, whole = la.Simulator(model, dt=DT), la.Simulator(model, dt=DT)

    def one_by_one() -> None:
        for _ in range(count):
            single.step()

    def run(control: Any, n: int) -> None:
        la.simulate(model, dt=DT, steps=n, record_every=n, control=control, progress=False)

    def each(call: Callable[[], object]) -> None:
        for _ in range(count):
            call()

    timed: dict[str, tuple[Callable[[], object], int]] = {
        "step": (one_by_one, count), "loop": (lambda: whole.step(steps), steps),
        "control": (lambda: run(lambda t, q, v: zero, count), count), "held": (lambda: run(zero, count), count),
        "forward_dynamics": (lambda: each(lambda: la.forward_dynamics(model, q, v)), count),
        "poses": (lambda: each(lambda: la.poses(model, q)), count)}
    least = dict.fromkeys(timed, math.inf)
    for turn in range(turns + 1):
        for name, (work, size) in timed.items():
            began = time.process_time()
            work()
            if turn:  # the first compiles
                least[name] = min(least[name], (time.process_time() - began) / size)
    return Calls(least["step"] - least["loop"], least["control"] - least["held"], least["forward_dynamics"],
                 least["poses"])
