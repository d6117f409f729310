"""Ladders of many loops, cut in two ways, and rope ladders: how the time of a step grows with the number of loops."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import leastaction as la
from benchmarks.loops.mechanisms import Mechanism, posts_ladder, rail_ladder, rope_ladder
from leastaction.markdown import table
from leastaction.simulation.judgement import silent

KINDS: dict[str, Callable[[int, bool], Mechanism]] = {
    "posts first": posts_ladder, "rail first": rail_ladder, "rope ladder": rope_ladder}
SIZES = (16, 64, 256, 1024, 4096)
FIT_FROM, FIT_TO = 64, 1024  # loops; larger ladders are beyond the caches
BAR = 3.0  # a step relative to one of the open tree, aimed at
SLOPE_BAR = 1.12  # exponent of the growth with the number of loops, aimed at
DT = 1e-3  # s


class Cost(NamedTuple):
    """CPU time of a step, s, of a ladder and of its open tree."""

    kind: str
    loops: int
    closed: float
    tree: float


def step_time(mechanism: Mechanism, steps: int, repeats: int = 5) -> float:
    """CPU time of a step, s: the fastest of some runs."""
    best = np.inf
    for _ in range(repeats):
        sim = la.Simulator(*mechanism, dt=DT)
        sim.step(5)
        began = time.process_time()
        sim.step(steps)
        best = min(best, (time.process_time() - began) / steps)
    return float(best)


@silent()
def costs(sizes: tuple[int, ...] = SIZES, loop_steps: int = 20_000) -> list[Cost]:
    """Time the ladders of these sizes, about so many steps times loops of each."""
    return [Cost(kind, n, step_time(make(n, True), max(loop_steps // n, 10)),
                 step_time(make(n, False), max(loop_steps // n, 10)))
            for kind, make in KINDS.items() for n in sizes]


def slope(found: list[Cost], of: str = "closed") -> float:
    """Exponent with which the time of a ladder grows, ``closed`` or its open ``tree``, where it is fitted."""
    large = [cost for cost in found if FIT_FROM <= cost.loops <= FIT_TO]
    times = [getattr(cost, of) for cost in large]
    return float(np.polyfit(np.log([cost.loops for cost in large]), np.log(times), 1)[0])


def ratio_verdict(found: list[Cost]) -> str:
    """Say which ladders take more time than aimed at relative to their open trees."""
    over = [f"{cost.kind} of {cost.loops} loops by {cost.closed / cost.tree - BAR:.2f}"
            for cost in found if cost.closed > BAR * cost.tree]
    told = f"At most {BAR:g} times the open tree was aimed at: {len(found) - len(over)} of {len(found)} keep to it."
    return f"{told} Beyond it are {'; '.join(over)}." if over else told


def slope_verdict(found: list[Cost]) -> str:
    """Say which ladders' time grows faster with the number of loops than aimed at."""
    kinds = dict.fromkeys(cost.kind for cost in found)
    slopes = {kind: slope([cost for cost in found if cost.kind == kind]) for kind in kinds}
    over = [f"{kind} by {each - SLOPE_BAR:.2f}" for kind, each in slopes.items() if each > SLOPE_BAR]
    told = (f"An exponent of at most {SLOPE_BAR:g} from {FIT_FROM} to {FIT_TO} loops was aimed at: "
            f"{len(slopes) - len(over)} of {len(slopes)} keep to it.")
    return f"{told} Beyond it are {'; '.join(over)}." if over else told


def section(found: list[Cost]) -> str:
    """Write the table down."""
    rows = []
    for kind in dict.fromkeys(cost.kind for cost in found):
        mine = [cost for cost in found if cost.kind == kind]
        rows += [(kind, cost.loops, f"{1e6 * cost.closed:.4g}", f"{cost.closed / cost.tree:.2f}",
                  *((f"{slope(mine):.2f}", f"{slope(mine, 'tree'):.2f}") if cost is mine[-1] else ("", "")))
                 for cost in mine]
    return "\n\n".join([
        "Ladders at 1 ms, order 2:",
        table(("ladder", "loops", "µs a step", "relative to the open tree", f"exponent, {FIT_FROM}…{FIT_TO}",
               "that of the open tree"), rows),
        ratio_verdict(found), slope_verdict(found)])
