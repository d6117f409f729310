"""The interface of every competitor, ours included: take a model and a state, make steps, return the state."""

import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

import leastaction as la
from leastaction.analysis.accuracy import distance

Array = np.ndarray
INTERVAL = 0.1  # s between two looks at a run whose precision is judged
AGREEMENT = 1e-9  # of the mass matrices, relative to their greatest entry


class UnsupportedError(Exception):
    """The library cannot represent the model; the message says why."""


class MismatchError(Exception):
    """The library's model differs from ours: timing it would compare different problems."""


class Engine(ABC):
    """A model, an integrator of some library and a time step.

    States go in and out in the layout of this library's Model, whatever the engine's own.
    """

    @abstractmethod
    def start(self, q: Array, v: Array) -> None:
        """Go to the configuration q (nq,), rad, m, unit quaternions, and velocity v (nv,), rad/s, m/s."""

    @abstractmethod
    def step(self, n: int) -> None:
        """Make n steps."""

    @abstractmethod
    def state(self) -> tuple[Array, Array]:
        """Configuration (nq,), rad, m, unit quaternions, and velocity (nv,), rad/s, m/s."""

    @abstractmethod
    def mass_matrix(self) -> Array:
        """Mass matrix (nv, nv) at the present state, SI units."""

    def timed(self, n: int) -> float:
        """Make n steps and tell their CPU time, s."""
        began = time.process_time()
        self.step(n)
        return time.process_time() - began


@contextmanager
def quiet() -> Iterator[None]:
    """Hide what C++ libraries print when a run of theirs blows up."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved, nowhere = [os.dup(1), os.dup(2)], os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        for number, copy in zip((1, 2), saved, strict=True):
            os.dup2(copy, number)
            os.close(copy)
        os.close(nowhere)


class Method(NamedTuple):
    """One integrator of one library.

    library : as people call it
    integrator : the same
    order : of the integrator
    make : from a model and a step, s, to an engine
    most : degrees of freedom up to which it is tried
    tolerances : of a method that chooses its steps; ``make`` is given one of them in the place of a step, and what its
        engine calls a step is an INTERVAL. Empty for others
    """

    library: str
    integrator: str
    order: int
    make: Callable[[la.Model, float], Engine]
    most: int = 1000
    tolerances: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """Library and integrator in one."""
        return f"{self.library} {self.integrator}".strip()


def checked(method: Method, model: la.Model, h: float) -> Engine:
    """Make an engine, and check at a state far from the initial one that its model is ours.

    Raises
    ------
    UnsupportedError
        When the library cannot represent the model.
    MismatchError
        When its mass matrix or the state that it gives back is not ours.
    """
    engine = method.make(model, h)
    rng = np.random.default_rng(0)
    q, v = la.increment(model, model.q0, rng.uniform(-1, 1, model.nv)), rng.uniform(-1, 1, model.nv)
    engine.start(q, v)
    got_q, got_v = engine.state()
    pairs = {"configuration": (distance(model, q[None], got_q[None]), np.zeros(1)), "velocity": (v, got_v),
             "mass matrix": (la.mass_matrix(model, q), engine.mass_matrix())}
    for what, (mine, theirs) in pairs.items():
        error = np.abs(mine - theirs).max()
        if not error <= AGREEMENT * max(1.0, np.abs(mine).max()):
            raise MismatchError(f"{method.name} has another {what} of '{model.name}': it differs by {error:.3g}")
    return engine
