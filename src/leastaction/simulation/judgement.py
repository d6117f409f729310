"""The judgement of a run's energy: it is judged by whether it wanders, not by its greatest error.

When a chain whips, the energy error is a spike that vanishes again, and a symplectic step oscillates about the true
energy for very long. Harmful is an error that stays: then the medians of the tenths of a run lie further apart than the
error swings within them. The loop takes the energies at steps that do not depend on which nodes are kept, so that a run
has one judgement however it was recorded, cut or resumed.

Where damping, a control or actuators work, the energies with what has left by the ledger are judged: they must add up,
too. What is lost in the first tenth stays lost, so there the start counts as well.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from leastaction.compiled import compile_model
from leastaction.errors import AccuracyWarning, warn_user
from leastaction.kernels.elements.lookahead import RESOLVED
from leastaction.kernels.record import LOOK
from leastaction.simulation.damping import decay_rates, lookaheads
from leastaction.simulation.engine import Engine
from leastaction.simulation.limits import columns
from leastaction.simulation.rest import at_rest

if TYPE_CHECKING:
    from leastaction.trajectory import Trajectory

Array = np.ndarray
_Run = TypeVar("_Run", bound="Trajectory")

SAMPLES = 512  # energies that are kept for the judgement, however long the run is
TENTHS = 10
FEWEST = 3 * TENTHS  # energies below which there is nothing to judge but the greatest error …
GROSS = 1e-2  # … and the error, of the peak kinetic energy, that is too great whatever becomes of it
WANDER = 4e-4  # of the peak kinetic energy: eight starts of hard chains lie at 2e-4 or less where the step resolves
# them, and at 7e-4 or more where it does not (docs/choosing.md)
DRIFT = 1e-4  # the same for methods that do not bound their error: what they lose, they go on losing
WORK = 2e-3  # where work is done, of the peak kinetic energy or of all that came in and left, by the kept nodes: damped
# and driven arms whose motion is right to 1e-2 rad lie at 2e-3 or less, and wrong ones at 3e-3 or more
NOISE = 1e3 * np.finfo(float).eps  # of the energy itself

_silent: ContextVar[bool] = ContextVar("silent", default=False)


class Looks(NamedTuple):
    """Energies of a run at evenly spaced steps.

    every : steps from one to the next
    energy : (M,) total energy, J, and what has left the mechanism by then; the start first
    """

    every: int
    energy: Array


class EnergyWatch:
    """Gathers the energies of a run by which it is judged.

    It takes the energy of every LOOK-th step; when the room is full, it drops every second one. So the energies that
    remain depend on the number of steps alone.

    Parameters
    ----------
    start : energy at the start, J
    """

    def __init__(self, start: float) -> None:
        self.energy = np.zeros(SAMPLES)
        self.energy[0] = start
        self.count = 1  # energies that were looked at

    @property
    def stride(self) -> int:
        """How many looks there are from one kept energy to the next."""
        return 1 << ((self.count - 1) // SAMPLES).bit_length()

    def take(self, looks: Array) -> None:
        """Add the energies (L,) of the next looks, J."""
        before, first = self.stride, self.count
        self.count += len(looks)
        kept = self.energy[:: self.stride // before].copy()
        self.energy[: len(kept)] = kept
        numbers = np.arange(first, self.count)
        chosen = numbers % self.stride == 0
        self.energy[numbers[chosen] // self.stride] = looks[chosen]

    def looks(self) -> Looks:
        """Return what was kept."""
        return Looks(LOOK * self.stride, self.energy[: (self.count - 1) // self.stride + 1].copy())

    def fields(self) -> dict[str, Any]:
        """Return all of it as numbers by name, for a checkpoint."""
        return {"looks": self.energy, "looked": self.count}

    @classmethod
    def of(cls, looks: Looks, steps: int) -> "EnergyWatch":
        """Return the watch that had gathered these looks after so many steps."""
        watch = cls(0.0)
        watch.energy[: len(looks.energy)], watch.count = looks.energy, 1 + steps // LOOK
        return watch

    def restore(self, saved: Mapping[str, Any]) -> "EnergyWatch":
        """Set everything from what `fields` returned."""
        self.energy, self.count = np.array(saved["looks"]), int(saved["looked"])
        return self


class Judgement(NamedTuple):
    """Whether a run kept its energy.

    kept : True also where there is nothing to keep
    reason : why the energy is not meant to be constant; empty if it is. If the ledger has all of it, the energy with
        what has left is judged instead
    wander : distance between the lowest and the highest median of the tenths of the run, of the peak kinetic energy, or
        of all that came in and left where that is more and work is done; None for runs of fewer than 30 looks, that is
        of 240 steps
    swing : how far the error swings within a tenth, from its 10th to its 90th percentile, the median of the tenths
    time : s, about when the median is furthest from that of the first tenth
    text : the finding, one sentence
    remedy : what to do about it; empty if nothing is to be done
    unnoted : what does work that the ledger does not have, a clause each
    """

    kept: bool
    reason: str
    wander: float | None
    swing: float | None
    time: float | None
    text: str
    remedy: str
    unnoted: tuple[str, ...] = ()


def judge_energy(run: "Trajectory") -> Judgement:
    """Judge the energy of a run."""
    reasons, bounded = dict(_reasons(run)), run.integrator.symplectic
    if at_rest(run):
        return Judgement(True, next(iter(reasons), ""), None, None, None, "Nothing moves but by round-off.", "")
    if reasons:
        return _judge_work(run, next(iter(reasons)), tuple(text for text, noted in reasons.items() if not noted))
    most = run.max_balance_error if run.loses_energy else run.max_energy_error
    error = (run.looks.energy[1:] - run.looks.energy[0]) / run.energy_scale
    if len(error) < FEWEST or not np.isfinite(error).all():
        kept = most <= GROSS
        text = (f"The energy {'stays within' if kept else 'is off by up to'} {part(most)} of the peak kinetic energy; "
                "the run is too short to tell whether it wanders.")
        return Judgement(kept, "", None, None, None, text, "" if kept else _remedy(run))
    medians, swing = _tenths(error)
    wander, time = float(np.ptp(medians)), _furthest(run, medians - medians[0])
    noise = NOISE * float(np.abs(run.looks.energy).max()) / run.energy_scale
    kept = wander <= max(WANDER if bounded else DRIFT, swing, noise)
    what = "energy, with what has left by the ledger," if run.loses_energy else "energy"
    within = f"The {what} stays within {part(most)} of the peak kinetic energy"
    if not kept:
        text = (f"The {what} {'wanders' if bounded else 'drifts'}: its level moves by {part(wander)} of the peak "
                f"kinetic energy, furthest around t = {time:.3g} s; the greatest error is {part(most)}.")
    elif bounded or wander <= max(swing, noise):
        text = f"{within} and does not wander."
    else:
        text = f"{within}, but drifts by {part(wander)} over the run; this method does not bound the drift."
    return Judgement(kept, "", wander, swing, time, text, "" if kept else _remedy(run))


def _judge_work(run: "Trajectory", reason: str, unnoted: tuple[str, ...]) -> Judgement:
    """Judge a run in which work is done, by its ledger if nothing is ``unnoted`` there."""
    head = f"The energy is not meant to be constant: {reason}."
    if unnoted or not run.integrator.keeps_ledger:
        return Judgement(True, reason, None, None, None, head, "", unnoted)
    if not _resolves_damping(run):
        text = f"{head} The step does not resolve how fast damping acts, so the ledger is too rough to judge by."
        return Judgement(True, reason, None, None, None, text, "")
    through = float(np.abs(np.diff(run.ledger, axis=0)).sum())
    scale, whole = max((run.energy_scale, "the peak kinetic energy"), (through, "all that came in and left"))
    error, most = (run.looks.energy - run.looks.energy[0]) / scale, float(np.abs(run.balance).max() / scale)
    if len(error) <= FEWEST or not np.isfinite(error).all():
        kept = most <= GROSS
        text = (f"{head} With what has left by the ledger it {'stays within' if kept else 'is off by up to'} "
                f"{part(most)} of {whole}; the run is too short to tell whether it wanders.")
        return Judgement(kept, reason, None, None, None, text, "" if kept else _remedy(run))
    medians, swing = _tenths(error[1:])
    wander, off = float(np.ptp(medians)), float(np.abs(medians).max())
    noise = NOISE * float(np.abs(run.looks.energy).max()) / scale
    steady = wander <= max(WORK, swing, noise)
    kept = steady and off <= max(GROSS, swing, noise)
    time = _furthest(run, medians if steady else medians - medians[0])
    if kept:
        text = f"{head} With what has left by the ledger it stays within {part(most)} of {whole} and does not wander."
    else:
        text = (f"{head} But with what has left by the ledger it {'is off' if steady else 'wanders'}: its level moves "
                f"by {part(max(wander, off))} of {whole}, furthest around t = {time:.3g} s; the greatest error is "
                f"{part(most)}.")
    return Judgement(kept, reason, wander, swing, time, text, "" if kept else _remedy(run))


def _remedy(run: "Trajectory") -> str:
    """Say what to do about an energy that is not kept; no higher order where damping or dry friction may refuse it.

    Whether it would needs its loops, which are not compiled for an advice.
    """
    integrator, c = run.integrator, compile_model(run.model)
    dampers = any(force.conservative and not force.keeps_energy for force in run.model.forces.values())
    if c.damped or dampers or (len(c.limits) and columns(c).friction.any()):
        while (above := integrator.higher()) is not None:
            integrator = above  # whose remedy has no higher one
    return integrator.remedy(run.dt)


def _resolves_damping(run: "Trajectory") -> bool:
    """Tell whether the first step of a run resolves the damping of all joints and of all dampers between bodies."""
    c = compile_model(run.model)
    if run.dt * decay_rates(c, run.q[0]).max(initial=0.0) > RESOLVED:
        return False
    if not c.damped:
        return True
    engine = Engine(run.model, run.dt, run.integrator)
    engine.start(run.q[0], run.v[0])
    return not lookaheads(c, engine.state.w)[0].any()


def _tenths(error: Array) -> tuple[Array, float]:
    """Medians (10,) of the tenths of errors (L,), and how far they swing within a tenth."""
    size = len(error) // TENTHS
    tenths = error[-size * TENTHS :].reshape(TENTHS, size)
    low, high = np.percentile(tenths, (10, 90), axis=1)
    return np.median(tenths, axis=1), float(np.median(high - low))


def _furthest(run: "Trajectory", moved: Array) -> float:
    """Return about when the level has moved (10,) furthest, s."""
    return (int(np.abs(moved).argmax()) + 0.5) / TENTHS * run.steps * run.dt


def keeps_energy(run: "Trajectory") -> bool:
    """Tell what `judge_energy` says of a run; an energy that never changes by as much as it may wander is kept."""
    energy = run.looks.energy
    bound = WANDER if run.integrator.symplectic else DRIFT
    if len(energy) > FEWEST and np.ptp(energy) < 0.99 * bound * run.energy_scale:  # 0.99: round-off
        return True
    return run.judgement.kept


def part(value: float) -> str:
    """Write a part of a whole so that it reads easily."""
    percent = 100 * value
    return f"{value:.1e}" if percent < 1e-2 else f"{percent:.0f} %" if 9.5 <= percent < 1e5 else f"{percent:.2g} %"


def _reasons(run: "Trajectory") -> Iterator[tuple[str, bool]]:
    """Why the energy of a run is not meant to be constant, and whether the ledger has the work of it."""
    if run.origin is None:
        yield "it is not known which forces drove the run", False
        return
    for name, forces, noted in (("a control", run.origin.control, True),
                                ("external wrenches", run.origin.wrench, False)):
        if forces is not None and (callable(forces) or np.any(forces)):
            yield f"{name} may do work", noted
    for name, force in run.model.forces.items():
        if not force.keeps_energy:
            what = "has damping" if force.conservative else "does work"
            yield f"the {force.kind} '{name}' {what}", force.conservative
    if not run.model.drives.idle(run.origin.command):
        yield "actuators may do work", True
    damped = [body.name for body in run.model.bodies if any(part.damping > 0 for part in body.joint.parts())]
    if damped:
        more = f"s of '{damped[0]}' and {len(damped) - 1} more have" if len(damped) > 1 else f" of '{damped[0]}' has"
        yield f"the joint{more} damping", True


@contextmanager
def silent() -> Iterator[None]:
    """Suppress the warnings of runs inside: the caller judges them, or compares runs that are expected to be bad."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def is_silent() -> bool:
    """Tell whether runs must not warn now."""
    return _silent.get()


def warn(run: _Run) -> _Run:
    """Warn if the energy of a run is not kept; return the run."""
    if not is_silent() and not run.judgement.kept:
        text, remedy = run.judgement.text, run.judgement.remedy
        warn_user(f"{run.model.name}: {text} {remedy}", AccuracyWarning)
    return run


def warn_of_many(runs: "Sequence[Trajectory]") -> None:
    """Warn once if the energies of some runs are not kept, by the worst of them."""
    bad = {} if is_silent() else {b: run.judgement for b, run in enumerate(runs) if not keeps_energy(run)}
    if bad:
        worst = max(bad, key=lambda b: bad[b].wander or np.inf)
        warn_user(f"{runs[0].model.name}: {len(bad)} of {len(runs)} members do not keep their energy. Member "
                  f"{worst}, the worst: {bad[worst].text} {bad[worst].remedy}", AccuracyWarning)
