"""A method on a mechanism: follow it, judge its energy and its loops, and set it beside others at equal CPU time."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import leastaction as la
from benchmarks.loops.mechanisms import Array, Mechanism
from benchmarks.peers.engine import Engine, quiet

LOOK = 10  # steps from one look at the state to the next
SANE = 1e6  # rad/s: a run with greater speeds has diverged
OURS = "leastaction order"  # how the names of variational runs begin; explicit methods of ours are baselines
BASELINE = "of leastaction"  # in their names


class UnfinishedError(Exception):
    """A run does not come to its end; the message is a predicate of its method."""


class States(NamedTuple):
    """What a run came by.

    q, v : (K, nv) every LOOK steps, the first at the start, rad and rad/s
    cpu : CPU time of all steps, s
    """

    q: Array
    v: Array
    cpu: float


def labelled(name: str, note: str) -> str:
    """Write a method down with what was chosen for it, if anything."""
    return f"{name} ({note})" if note else name


class Run(NamedTuple):
    """A method on a mechanism.

    name : of the method
    h : step, s
    error : greatest error of the energy, J
    quarters : (4,) mean errors of the energy in the quarters of the run, J
    gap : greatest distance of a loop's ends, m
    cpu : CPU time of the run, s
    duration : s
    note : what was chosen for the method, if anything
    """

    name: str
    h: float
    error: float
    quarters: Array
    gap: float
    cpu: float
    duration: float
    note: str = ""

    @property
    def label(self) -> str:
        """Name and note."""
        return labelled(self.name, self.note)

    @property
    def step_time(self) -> float:
        """CPU time of a step, s."""
        return self.cpu * self.h / self.duration


def follow(make: Callable[[la.Model, float], Engine], mechanism: Mechanism, h: float, duration: float,
           patience: float = np.inf) -> States:
    """Follow a mechanism by an engine.

    Raises
    ------
    UnfinishedError
        When the run diverges, or when by its first steps it would take more CPU time than ``patience``, s.
    """
    engine, looks = make(mechanism.model, h), round(duration / h) // LOOK
    engine.start(mechanism.q, mechanism.v)
    engine.timed(1)  # compiles what is compiled, and fills the caches
    if engine.timed(1) * looks * LOOK > patience:
        raise UnfinishedError(f"would take more than {patience:g} s")
    engine.start(mechanism.q, mechanism.v)
    states, cpu = [(mechanism.q, mechanism.v)], 0.0
    with quiet():
        for _ in range(looks):
            cpu += engine.timed(LOOK)
            q, v = engine.state()
            if not (np.isfinite(q).all() and np.abs(v).max() < SANE):
                raise UnfinishedError("diverges")
            states.append((q, v))
    q, v = zip(*states, strict=True)
    return States(np.array(q), np.array(v), cpu)


def energy_errors(model: la.Model, states: States) -> Array:
    """Return the energies of states less that of the first (K,), J."""
    energies = np.array([la.energy(model, q, v) for q, v in zip(states.q, states.v, strict=True)])
    errors: Array = energies - energies[0]
    return errors


def worst_energy(model: la.Model, states: States) -> float:
    """Greatest error of the energy, J."""
    return float(np.abs(energy_errors(model, states)).max())


def judged(name: str, h: float, duration: float, states: States, mechanism: Mechanism, note: str = "") -> Run:
    """Judge what a run came by."""
    errors = energy_errors(mechanism.model, states)
    gap = max(la.closure(mechanism.model, q).max() for q in states.q)
    quarters = np.array([part.mean() for part in np.array_split(errors, 4)])
    return Run(name, h, float(np.abs(errors).max()), quarters, float(gap), states.cpu, duration, note)


def beaten_by(runs: list[Run]) -> list[tuple[Run, Run | None]]:
    """Put beside every other run the best variational one that takes no more CPU time; None where there is none."""
    mine = [run for run in runs if run.name.startswith(OURS)]
    pairs = []
    for rival in runs:
        if rival not in mine:
            affordable = [run for run in mine if run.cpu <= rival.cpu]
            pairs.append((rival, min(affordable, key=lambda run: run.error) if affordable else None))
    return pairs


def duels(runs: list[Run]) -> list[tuple[Run, bool]]:
    """List the runs of other libraries, and whether ours beat them in error at no more CPU time."""
    return [(rival, own is not None and own.error < rival.error)
            for rival, own in beaten_by(runs) if BASELINE not in rival.name]
