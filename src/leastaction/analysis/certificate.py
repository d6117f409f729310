"""The conservation certificate: what a run kept of physics, and a verdict in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction import markup
from leastaction.analysis.accuracy import LOST, Accuracy, accuracy
from leastaction.analysis.left_out import LeftOut, left_out
from leastaction.analysis.loops_kept import LoopsKept, loops_kept
from leastaction.analysis.spot_checks import Spot, at_rest_in_the_world, irreversibility, symplecticity
from leastaction.analysis.subject import run_of
from leastaction.analysis.symmetry import Symmetry, conserved
from leastaction.analysis.trend import Trend, trend
from leastaction.analysis.verdict import judge
from leastaction.dynamics import poses
from leastaction.errors import StepError
from leastaction.integrators import Integrator, IntegratorName, Status, point_to_integrator
from leastaction.model import Model
from leastaction.model.losses import rubs
from leastaction.model.unhonoured import LIMITS
from leastaction.simulation.judgement import silent
from leastaction.simulation.rest import at_rest
from leastaction.trajectory import Trajectory

Array = np.ndarray

SPOTS = 3  # states at which the step itself is examined
LARGEST = 1000  # degrees of freedom beyond which it is not, since that takes a dense mass matrix


@dataclass(frozen=True, eq=False)
class Kept:
    """How well one momentum was conserved.

    Attributes
    ----------
    symmetry : which one
    error : greatest change at a kept node, in its unit
    relative : the same, as a part of the largest momentum that the run's greatest kinetic energy allows
    """

    symmetry: Symmetry
    error: float
    relative: float


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """The findings of `audit` about a run; ``print`` it, or write it as a page with `html`.

    Attributes
    ----------
    run : the trajectory
    energy_trend : of the energy error, per second; None for very short runs
    momenta : the momenta that should be conserved
    momentum_reason : why there are none, if there are none
    symplecticity : greatest defect of the symplectic form at a few states; None where it does not apply
    irreversibility : how far the state is off after ten steps forward and ten back, relative to the distance covered;
        None where damping makes that ill-posed, or where it was not examined
    accuracy : the estimated error of the motion; None if it was not asked for or the run cannot be made again
    kept : whether physics was kept
    verdict : the findings in words, a sentence each
    """

    run: Trajectory
    energy_trend: Trend | None
    momenta: list[Kept]
    momentum_reason: str
    symplecticity: Spot | None
    irreversibility: Spot | None
    accuracy: Accuracy | None
    kept: bool = field(init=False)
    verdict: list[str] = field(init=False)

    def __post_init__(self) -> None:
        kept, sentences = judge(self)
        if self.run.failure is None and at_rest(self.run):
            kept = True
            sentences = ["The model is at rest.",
                         "Nothing moves, so there is nothing to examine; give q or v (--initial)."]
        object.__setattr__(self, "kept", kept)
        object.__setattr__(self, "verdict", sentences)

    @cached_property
    def left_out(self) -> LeftOut:
        """What the model has and the run did not honour, and which limits the motion passed."""
        return left_out(self.run)

    @cached_property
    def loops(self) -> LoopsKept | None:
        """How well loops stayed closed; None without loops."""
        return loops_kept(self.run)

    @property
    def steps(self) -> int:
        """Number of steps made."""
        return self.run.steps

    @property
    def energy_reason(self) -> str:
        """Why the energy is not meant to be constant; empty if it is."""
        return self.run.judgement.reason

    @property
    def momentum_error(self) -> float | None:
        """Greatest relative error of a momentum that should be conserved; None if there is none."""
        return max((kept.relative for kept in self.momenta), default=None)

    @property
    def evaluations(self) -> float:
        """Mean number of residual evaluations a step; 0 for explicit methods."""
        return self.run.tally.evaluations / max(self.steps, 1)

    @property
    def statuses(self) -> dict[Status, int]:
        """How many steps ended with each status."""
        return self.run.tally.statuses

    def rows(self) -> list[tuple[str, str]]:
        """Return the findings as names and numbers."""
        run, line = self.run, self.energy_trend
        rows = [("energy change" if self.energy_reason or run.loses_energy else "energy error",
                 f"{run.max_energy_error:.2e} of the peak kinetic energy at most, "
                 f"{run.energy_error[-1]:+.2e} at the end")]
        if run.loses_energy:
            went = ", ".join(f"{name.replace('_', ' ')} {lost[-1]:.3g} J" for name, lost in run.dissipated.items()
                             if lost[-1])
            rows += [("where it went", went), ("energy balance", f"{run.max_balance_error:.2e} of the peak kinetic "
                      f"energy at most, {run.balance[-1] / run.energy_scale:+.2e} at the end")]
            rows += [("not in it", what) for what in run.judgement.unnoted]
        if line is not None:
            rows.append(("energy drift", f"{line.slope:+.1e} ± {line.uncertainty:.1e} per second (95 %)"))
        rows += [(kept.symmetry.name, f"changed by {kept.error:.1e} {kept.symmetry.unit} at most, "
                                      f"{kept.relative:.1e} of the largest possible") for kept in self.momenta]
        rows += [self.loops.row()] if self.loops else []
        if self.evaluations:
            rows.append(("solver", f"{self.evaluations:.2f} evaluations a step, {run.tally.most} at most; "
                                   f"residual {run.residual.max():.1e} at most"))
            rows.append(("steps divided", f"{run.tally.divided} of {self.steps}"))
        if self.symplecticity is not None:
            rows.append(("symplecticity", f"form kept to {self.symplecticity.defect:.1e}, at {SPOTS} states"))
        if self.irreversibility is not None:
            rows.append(("reversibility", f"after 10 steps forward and 10 back, the state differs by "
                                          f"{self.irreversibility.defect:.1e} of the distance covered"))
        if self.accuracy is not None:
            most, until = self.accuracy.max_error, self.accuracy.good_until
            lost = f"motion right to 1e-3 rad or m until {until(1e-3):.4g} s, to {LOST:g} until {until(LOST):.4g} s"
            rows.append(("accuracy", lost if most > LOST else f"motion right to {most:.1e} rad or m, by estimate"))
        return rows + self.left_out.rows()

    @property
    def _title(self) -> str:
        return f"{self.run.model.name}: {self.steps} steps of {self.run.dt:g} s with {self.run.integrator.label}"

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.rows())
        return "\n".join([
            self._title, *(f"  {name:{width}}  {text}" for name, text in self.rows()), "", " ".join(self.verdict)])

    __repr__ = __str__  # at the prompt, show the verdict

    def _repr_html_(self) -> str:
        """Show verdict and findings in a notebook."""
        return markup.findings(self._title, self.kept, self.verdict, self.rows())

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers under plain names, as JSON can hold them."""
        run, line, better = self.run, self.energy_trend, self.accuracy
        return {
            "model": run.model.name, "integrator": run.integrator.label, "dt": run.dt, "steps": self.steps,
            "energy_error": {"max": run.max_energy_error, "end": float(run.energy_error[-1]),
                             "should_be_constant": not self.energy_reason, "kept": run.judgement.kept,
                             "wander": run.judgement.wander, "swing": run.judgement.swing},
            "dissipated": {name: float(lost[-1]) for name, lost in run.dissipated.items()},
            "balance": {"max": run.max_balance_error, "end": float(run.balance[-1] / run.energy_scale)},
            "energy_trend": line and {"per_second": line.slope, "interval": list(line.interval), "found": line.found},
            "momenta": [{"name": kept.symmetry.name, "unit": kept.symmetry.unit, "error": kept.error,
                         "relative": kept.relative} for kept in self.momenta],
            "loops": self.loops and self.loops.to_dict(),
            "residual": {"max": float(run.residual.max(initial=0.0))},
            "evaluations": {"mean": self.evaluations, "max": run.tally.most},
            "statuses": {status.name.lower(): count for status, count in self.statuses.items()},
            "divided": run.tally.divided,
            "symplecticity": self.symplecticity and self.symplecticity._asdict(),
            "irreversibility": self.irreversibility and self.irreversibility._asdict(),
            "accuracy": better and {"max": better.max_error, "good_until": better.good_until(),
                                    "doubling_time": better.doubling_time},
            "failure": str(run.failure) if run.failure else None,
            "left_out": self.left_out.to_dict(),
            "kept": self.kept, "verdict": " ".join(self.verdict),
        }

    def html(self, path: str | Path = "audit.html") -> Path:
        """Write the certificate as one self-contained page with plots."""
        from leastaction import pages

        return pages.write_certificate(self, path)


@point_to_integrator
def audit(
    subject: Model | Trajectory, q: ArrayLike | None = None, v: ArrayLike | None = None, *, dt: float = 1e-3,
    duration: float = 10.0, integrator: Integrator | IntegratorName | None = None, estimate_accuracy: bool = True,
    ignore: str | Iterable[str] = (),
) -> Certificate:
    """Examine how well physics was kept, by a finished run or by a model that is simulated for it.

    Parameters
    ----------
    subject : a trajectory; or a model, which is simulated
    q : (nq,) initial configuration of a model, rad, m, unit quaternions; model.q0 if None
    v : (nv,) initial velocity of a model, body axes for ball and free joints, rad/s, m/s; model.v0 if None
    dt, duration, integrator : of the simulation of a model, s, s; as for `simulate`
    estimate_accuracy : whether to make the run again at half the step, to see how right the motion is
    ignore : words of what does not act, or whose warning is silenced, as for `simulate`; the certificate names it
    """
    with silent():  # the certificate says whether the energy is kept
        run = run_of(subject, q, v, dt=dt, duration=duration, integrator=integrator, on_failure="truncate",
                     ignore=ignore)
    momenta, reason = conserved(run)
    checks = spot_checks(run) if run.model.nv <= LARGEST else (None, None)
    return Certificate(
        run, trend(run.t, run.balance / run.energy_scale), [_kept(run, symmetry) for symmetry in momenta], reason,
        *checks, accuracy(run) if estimate_accuracy and run.origin is not None and len(run) > 1 else None,
    )


def spot_checks(run: Trajectory) -> tuple[Spot | None, Spot | None]:
    """Return the worst defects of symplecticity and reversibility of a run's step at a few of its nodes.

    Neither means anything where joints are damped or have servos: damping shrinks the form, and a step back enlarges
    any error. Of a model with limits, what is examined is the step between two impacts.
    """
    nodes = sorted(set(np.linspace(0, len(run) - 1, SPOTS).astype(int).tolist()))
    model, joints = run.model.without(LIMITS), [body.joint for body in run.model.bodies]
    damped = (any(part.damping > 0 for joint in joints for part in joint.parts()) or rubs(model)
              or len(model.drives.servos.q) > 0 or not all(force.keeps_energy for force in run.model.forces.values()))

    def worst(check: Any) -> Spot | None:
        try:
            spots: list[Spot] = [
                check(model, run.integrator, *at_rest_in_the_world(model, run.q[k], run.v[k]), run.dt)
                for k in nodes]
            return max(spots)
        except StepError:  # the method breaks down at one of its own states: there is nothing to measure
            return None

    return (None, None) if damped else (worst(symplecticity), worst(irreversibility))


def _kept(run: Trajectory, symmetry: Symmetry) -> Kept:
    values = run.momentum @ symmetry.screw
    error = float(np.abs(values - values[0]).max())
    moving = [(body.inertia, T) for body, T in zip(run.model.bodies, poses(run.model, run.q[0]), strict=True)]
    mass = sum(inertia.mass for inertia, _ in moving)
    scale = np.sqrt(2.0 * mass * run.peak_kinetic_energy)
    if symmetry.screw[:3].any():
        axis_point = np.cross(symmetry.screw[:3], symmetry.screw[3:])
        second_moment = sum(
            inertia.mass * np.sum((T[:3, :3] @ inertia.com + T[:3, 3] - axis_point) ** 2)
            + 0.5 * np.trace(inertia.matrix) for inertia, T in moving)
        scale *= np.sqrt(second_moment / mass)
    return Kept(symmetry, error, error / float(scale) if scale > 0 else 0.0)
