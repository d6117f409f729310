"""The error of a trajectory, estimated by a better run from the same start.

A run of order p at step h is off by about C hᵖ, at half the step by C (h/2)ᵖ; their difference times 2ᵖ / (2ᵖ − 1) is
the error of the first (Richardson). A run of the next order is so much better that the difference is the error.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from leastaction.dynamics import increment
from leastaction.errors import StepError
from leastaction.integrators import Integrator
from leastaction.model import Model
from leastaction.model.unhonoured import KNOWN
from leastaction.simulation.judgement import silent
from leastaction.simulation.single import simulate
from leastaction.trajectory import Control, Trajectory

Array = np.ndarray

LOST = 0.1  # rad or m: from here on two runs differ too much to tell how far either is from the truth
NEARBY = 1e-8  # rad or m: how far off to start in order to see whether motions part exponentially
REGULAR = 3.0  # regular motions part like t, or t² where they speed up; beyond t³ over a tenfold time it is exponential


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Estimated error of a trajectory; estimates beyond 0.1 only say that the motion is lost.

    Attributes
    ----------
    trajectory : the one in question
    better : the run it was compared with, kept at the same nodes
    method : "step", ``better`` has half the step; or "order", it has the next order
    factor : from their difference to the error
    """

    trajectory: Trajectory
    better: Trajectory
    method: str
    factor: float

    @property
    def t(self) -> Array:
        """(N,) times of the nodes at which the two were compared, s."""
        return self.trajectory.t[: len(self.better)]

    @cached_property
    def error(self) -> Array:
        """(N,) greatest error of a coordinate, or of a rotation as its angle, rad and m."""
        n = len(self.better)
        return self.factor * distance(self.trajectory.model, self.trajectory.q[:n], self.better.q)

    @cached_property
    def position_error(self) -> Array:
        """(N,) greatest error of the place of a body's origin in the world, m; takes a while for many nodes."""
        ours, theirs = (run.poses(steps=slice(len(self.better)))[..., :3, 3] for run in (self.trajectory, self.better))
        error: Array = self.factor * np.linalg.norm(ours - theirs, axis=-1).max(axis=1)
        return error

    @property
    def max_error(self) -> float:
        """Greatest error of a coordinate or angle over the run, rad and m."""
        return float(self.error.max())

    def good_until(self, tolerance: float = 1e-3) -> float:
        """Return the time of the last node before the error passes a tolerance, rad and m; the end if it never does."""
        return float(self.t[_before(self.error, tolerance) - 1])

    @cached_property
    def doubling_time(self) -> float | None:
        """Time in which any error doubles, s, when the motion is chaotic; None when no chaos shows within the run.

        An error may also grow fast for other reasons, for example when a body falls ever faster. So a second run starts
        nearby, and the motion is chaotic only if the two runs part exponentially.
        """
        if _doubling_time(self.t, self.error) is None:
            return None
        run = self.trajectory
        offset = np.random.default_rng(0).uniform(-NEARBY, NEARBY, run.model.nv)
        nearby = _again(run, increment(run.model, run.q[0], offset), run.integrator, 1)
        return _doubling_time(nearby.t, distance(run.model, run.q[: len(nearby)], nearby.q))

    def report(self) -> str:
        """Say in a few lines how far the motion can be trusted."""
        run, end = self.trajectory, float(self.t[-1])
        same = self.better.integrator == run.integrator
        with_ = f"half the step, {self.better.dt:g} s" if same else self.better.integrator.label
        lines = [f"{run.model.name}: estimated error of {end:g} s at {run.dt:g} s, by a run with {with_}",
                 f"  error            {self.max_error:.3g} at most, {self.error[-1]:.3g} at the end, rad or m"]
        for tolerance in (1e-3, 1e-2, LOST):
            if self.max_error >= tolerance:
                lines.append(f"  below {tolerance:<10g} until {self.good_until(tolerance):.4g} s")
        if self.doubling_time is not None:
            lines.append(f"  grows exponentially, doubling in about {self.doubling_time:.2g} s: the motion is chaotic")
        if self.better.failure:
            lines.append(f"  compared until {end:g} s only; there the better run ended: {self.better.failure}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Accuracy of '{self.trajectory.model.name}': estimated error within {self.max_error:.2g} rad or m>"


def accuracy(trajectory: Trajectory, method: str = "step") -> Accuracy:
    """Estimate the error of a trajectory by making the run again, better.

    Parameters
    ----------
    trajectory : from `simulate`; functions for control, wrench or command are called again, so they must depend on
        their arguments only
    method : "step", the same integrator at half the step; or "order", the next order at the same step
    """
    if method not in ("step", "order"):
        raise ValueError(f"method must be 'step' or 'order', not {method!r}")
    start, integrator, origin = trajectory.q[0], trajectory.integrator, trajectory.origin
    # A controller with ticks of its own is asked at the same times again, so it is exact at any step.
    asked = origin is not None and origin.control_every == 1 and (callable(origin.control) or callable(origin.command))
    sampled = asked or (origin is not None and callable(origin.wrench))
    if method == "order":
        return Accuracy(trajectory, _again(trajectory, start, _next_order(integrator, sampled), 1), method, 1.0)
    power = 2.0 ** (1 if sampled else integrator.order)  # forces sampled once a step are first order
    return Accuracy(trajectory, _again(trajectory, start, integrator.finer(), 2), method, power / (power - 1.0))


@silent()
def _again(run: Trajectory, q: Array, integrator: Integrator, parts: int) -> Trajectory:
    """Repeat a run from q (nq,) with each of its steps divided into several; the same nodes are kept."""
    if run.origin is None:
        raise ValueError("it is not known which forces drove this trajectory, so the run cannot be made again")
    if run.origin.revision != run.model.revision:
        raise ValueError(f"model '{run.model.name}' was changed after the run: simulate it again first")
    steps = run.steps
    control = _refined(run.origin.control, 1, steps, parts)
    wrench = _refined(run.origin.wrench, 2, steps, parts)
    command, tick = _refined(run.origin.command, 1, steps, parts), run.origin.control_every

    def made(count: int) -> Trajectory:
        return simulate(run.model, q, run.v[0], dt=run.dt / parts, steps=count, integrator=integrator,
                        control=control, wrench=wrench, command=command,
                        control_every=tick if tick == 1 else parts * tick, record_every=parts * run.record_every,
                        on_failure="truncate", ignore=KNOWN)

    try:
        return made(parts * steps)
    except Exception as error:  # a control that cannot be evaluated between the run's steps: compare until there
        if not isinstance(error.__cause__, StepError):
            raise
        return replace(made(error.__cause__.step), failure=error.__cause__)


def distance(model: Model, a: Array, b: Array) -> Array:
    """Greatest difference between configurations on their manifold.

    Parameters
    ----------
    a, b : (N, nq) configurations, rad, m, unit quaternions

    Returns
    -------
    (N,) greatest |difference| of a coordinate, or angle between two quaternions, rad and m
    """
    entries = model.layout.quaternions[:, None] + np.arange(4)
    x, y = a[:, entries], b[:, entries]
    # of x⁻¹ y; exact for small angles, where the scalar part says nothing
    vector = x[..., :1] * y[..., 1:] - y[..., :1] * x[..., 1:] - np.cross(x[..., 1:], y[..., 1:])
    scalar = np.sum(x * y, axis=-1)
    angles = 2 * np.arctan2(np.linalg.norm(vector, axis=-1), np.abs(scalar))
    plain = np.delete(np.abs(a - b), entries.ravel(), axis=1)
    greatest: Array = np.concatenate([plain, angles], axis=1).max(axis=1)
    return greatest


def _before(error: Array, tolerance: float) -> int:
    """Count the nodes before the error reaches the tolerance; the first is always one."""
    passed = np.flatnonzero(error[1:] >= tolerance)
    return int(passed[0]) + 1 if len(passed) else len(error)


def _doubling_time(t: Array, error: Array) -> float | None:
    """Time in which the error doubles, s, over the last tenfold of time before it is LOST; None if it is regular."""
    worst = np.maximum.accumulate(error)
    last = _before(worst, LOST) - 1
    first = max(last // 10, 1)
    if first >= last or worst[first] == 0.0:
        return None
    growth = np.log(worst[last] / worst[first])
    if growth < REGULAR * np.log(t[last] / t[first]):
        return None
    return float(np.log(2.0) * (t[last] - t[first]) / growth)


def _next_order(integrator: Integrator, sampled: bool) -> Integrator:
    higher = integrator.higher()
    if higher is None:
        raise ValueError(f"{type(integrator).__name__} has no order above {integrator.order}; use method='step'")
    if sampled:
        raise ValueError("forces given by a function are sampled once a step, which no order mends; use method='step'")
    return higher


def _refined(forces: Control, held: int, steps: int, parts: int) -> Control:
    """Forces of a run whose steps are divided into several; an array of ``held`` dimensions is constant in time."""
    if forces is None or callable(forces) or np.ndim(forces) == held:
        return forces
    return np.repeat(np.asarray(forces)[:steps], parts, axis=0)
