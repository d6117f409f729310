"""Ladders beside other libraries: time of a step, error of the energy and gap of the loops."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import leastaction as la
from benchmarks.loops.ladders import DT, KINDS
from benchmarks.loops.mechanisms import Mechanism
from benchmarks.loops.rivals import Rival, rivals
from benchmarks.loops.rivals.points import checked_loops
from benchmarks.loops.runs import OURS, Run, UnfinishedError, duels, follow, judged, labelled
from benchmarks.peers.ours import Ours
from leastaction.markdown import table
from leastaction.simulation.judgement import silent

SIZES = (16, 64, 256)
STEPS = (DT, 2e-3, 5e-3)  # s; the table has the first, the verdict all of them
ORDERS = (2, 4, 6, 8)
DURATION = 0.5  # s: later posts come to lie flat, where a ladder may go on in several ways
PATIENCE = 10.0  # s of CPU time that a run may take


class Entry(NamedTuple):
    """A method on a ladder.

    h : step, s
    name, note : of the method, and what was chosen for it, if anything
    outcome : its run, or why there is none, a predicate of the method
    """

    kind: str
    loops: int
    h: float
    name: str
    note: str
    outcome: Run | str


@silent()
def ours(order: int, mechanism: Mechanism, h: float, duration: float) -> Run | str:
    """Follow a ladder by variational steps, or say why they are left out."""
    try:
        states = follow(partial(Ours, la.Variational(order=order)), mechanism, h, duration)
    except (la.StepError, UnfinishedError):
        return "does not come to its end"
    return judged(f"{OURS} {order}", h, duration, states, mechanism)


def theirs(rival: Rival, mechanism: Mechanism, h: float, duration: float) -> Run | str:
    """Follow a ladder by a rival, or say why it is left out."""
    if mechanism.model.nv > rival.most:
        return f"has no room for more than {rival.most} degrees of freedom"
    checked_loops(rival.name, rival.make, mechanism.model, h)
    try:
        states = follow(rival.make, mechanism, h, duration, PATIENCE)
    except UnfinishedError as error:
        return str(error)
    return judged(rival.name, h, duration, states, mechanism, rival.note)


def beside(sizes: tuple[int, ...] = SIZES, steps: tuple[float, ...] = STEPS,
           duration: float = DURATION) -> list[Entry]:
    """Follow all ladders by all methods at all steps; settings of rivals are searched on the first size."""
    found = []
    for kind, make in KINDS.items():
        for h in steps:
            known = list(rivals(make(sizes[0], True), h, duration))
            for loops in sizes:
                mechanism = make(loops, True)
                found += [Entry(kind, loops, h, f"{OURS} {order}", "", ours(order, mechanism, h, duration))
                          for order in ORDERS]
                found += [Entry(kind, loops, h, rival.name, rival.note, theirs(rival, mechanism, h, duration))
                          for rival in known]
    return found


def verdict(found: list[Entry]) -> str:
    """Say how many runs of rivals are beaten, and name the others."""
    ladders: dict[tuple[str, int], list[Run]] = {}
    for entry in found:
        if isinstance(entry.outcome, Run):
            ladders.setdefault((entry.kind, entry.loops), []).append(entry.outcome)
    lost: list[tuple[str, str]] = []
    count = 0
    for (kind, loops), runs in ladders.items():
        fought = duels(runs)
        count += len(fought)
        lost += [(f"{rival.name} at {1e3 * rival.h:g} ms", f"{kind} {loops}") for rival, won in fought if not won]
    steps = ", ".join(f"{1e3 * h:g}" for h in dict.fromkeys(entry.h for entry in found))
    told = (f"Of {count} runs of rivals at {steps} ms, {count - len(lost)} are beaten: a variational run of ours at "
            "one of these steps errs less in no more CPU time.")
    return f"{told} Not beaten: {_gathered(lost)}." if lost else told


def absent(found: list[Entry]) -> str:
    """Name the runs that the table has not, and why."""
    left = _gathered((f"{entry.name} {entry.outcome}", f"{entry.kind} {entry.loops}") for entry in found
                     if isinstance(entry.outcome, str) and entry.h == found[0].h)
    return f"Left out: {left}." if left else ""


def _gathered(pairs: Iterable[tuple[str, str]]) -> str:
    """Write pairs of what and where down, all places of the same what in one bracket."""
    places: dict[str, list[str]] = {}
    for what, where in pairs:
        places.setdefault(what, []).append(where)
    return "; ".join(f"{what} ({', '.join(where)})" for what, where in places.items())


def section(found: list[Entry]) -> str:
    """Write the table down."""
    cells: dict[tuple[str, str], list[Run | None]] = {}
    shown = [entry for entry in found if entry.h == found[0].h]
    for entry in shown:
        run = entry.outcome if isinstance(entry.outcome, Run) else None
        cells.setdefault((entry.kind, labelled(entry.name, entry.note)), []).append(run)

    def row(runs: list[Run | None], told: Callable[[Run], str]) -> str:
        return " / ".join(told(run) if run else "–" for run in runs)

    rows = [(kind, label, row(runs, lambda run: f"{1e6 * run.step_time:.3g}"),
             row(runs, lambda run: f"{run.error:.1g}"), row(runs, lambda run: f"{run.gap:.1g}"))
            for (kind, label), runs in cells.items() if any(runs)]
    sizes = " / ".join(str(size) for size in dict.fromkeys(entry.loops for entry in shown))
    duration = next(entry.outcome.duration for entry in shown if isinstance(entry.outcome, Run))
    return "\n\n".join(filter(None, [
        f"Ladders of {sizes} loops for {duration:g} s at {1e3 * shown[0].h:g} ms, beside other libraries:",
        table(("ladder", "method", "µs a step", "greatest error of the energy, J", "greatest gap, m"), rows),
        "The stiffest constraints of MuJoCo are searched for as above, on the smallest ladder of each kind.",
        absent(found), verdict(found)]))
