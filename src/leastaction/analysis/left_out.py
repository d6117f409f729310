"""What a run left out of its model, and which limits of the model the motion passed."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from leastaction.model import SCREW, Ball, Fixed, Free, Joint
from leastaction.model.unhonoured import PICTURES, counted
from leastaction.simulation.checks import unresolved_damping
from leastaction.trajectory import Trajectory

Array = np.ndarray

NAMED = 5  # joints named in a sentence
ROUND_OFF = 1e-10  # rad or m, by which a limit may be passed that acts


class Passed(NamedTuple):
    """A limit that the motion passed at a kept node.

    joint : its name, or that of its body
    kind : "position" or "velocity"
    excess : greatest distance beyond the limit
    unit : of the excess: rad, m, rad/s or m/s
    """

    joint: str
    kind: str
    excess: float
    unit: str


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What a run left out.

    Attributes
    ----------
    ignored : what the model has and the dynamics do not honour: a word, and the elements it concerns; without meshes
    passed : the limits that the motion passed, the furthest first
    damping : which damping the step cannot resolve; empty if there is none
    """

    ignored: dict[str, tuple[str, ...]]
    passed: list[Passed]
    damping: str

    def head(self, kept: bool) -> str:
        """Return the first sentence of a verdict."""
        if not kept:
            return "Physics is not kept."
        if self.ignored:
            return f"Physics of the model as simulated is kept; left out: {counted(self.ignored)}."
        return "Physics of the model as simulated is kept." if self.damping else "Physics is kept."

    def sentences(self, kept: bool) -> list[str]:
        """Return what else there is to say, a sentence each."""
        found = [] if kept or not self.ignored else [f"Left out: {counted(self.ignored)}."]
        for kind in ("position", "velocity"):
            these = [limit for limit in self.passed if limit.kind == kind]
            named = ", ".join(f"'{limit.joint}' by {limit.excess:.3g} {limit.unit}" for limit in these[:NAMED])
            more = f" and {len(these) - NAMED} more" if len(these) > NAMED else ""
            found += [f"The motion passed the {kind} limits of {named}{more}."] if these else []
        return found + ([f"Beware: {self.damping}."] if self.damping else [])

    def rows(self) -> list[tuple[str, str]]:
        """Return the findings as names and texts."""
        rows = [("left out", counted(self.ignored))] if self.ignored else []
        if self.passed:
            joint, kind, excess, unit = self.passed[0]
            furthest = f"{kind} of '{joint}' by {excess:.3g} {unit}"
            rows.append(("limits passed", f"{len(self.passed)}, the furthest: {furthest}"))
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return everything under plain names, as JSON can hold it."""
        return {"ignored": {word: list(names) for word, names in self.ignored.items()},
                "limits_passed": [limit._asdict() for limit in self.passed], "damping": self.damping or None}


def left_out(run: Trajectory) -> LeftOut:
    """Find what a run left out of its model."""
    found = {word: names for word, names in run.model.ignored.items() if word != PICTURES}
    return LeftOut(found, passed_limits(run), unresolved_damping(run.model, run.q[0], run.dt, run.integrator))


def passed_limits(run: Trajectory) -> list[Passed]:
    """List the limits of positions and rates that the kept nodes of a run pass, the furthest first."""
    found: list[Passed] = []
    for body in run.model.bodies:
        joint, name = body.joint, body.joint.name or body.name
        if isinstance(joint, Fixed | Free):
            continue
        unit = _unit(joint)
        if joint.limits is not None:
            low, high = (np.array(end) for end in joint.limits)
            q = _position(joint, run.q[:, run.model.q_slice(body.name)])
            found.append(Passed(name, "position", _excess(q, low, high), unit))
        if joint.velocity_limit is not None:
            v = run.v[:, run.model.v_slice(body.name)]
            found.append(Passed(name, "velocity", _excess(np.abs(v), 0.0, joint.velocity_limit), f"{unit}/s"))
    return sorted((limit for limit in found if limit.excess > ROUND_OFF), key=lambda limit: -limit.excess)


def _position(joint: Joint, q: Array) -> Array:
    """The numbers (N, ...) that a joint's limits bound: coordinates, or the angle of rotation of a ball joint, rad."""
    if isinstance(joint, Ball):
        angle: Array = 2.0 * np.arctan2(np.linalg.norm(q[:, 1:], axis=1), np.abs(q[:, 0]))[:, None]
        return angle
    return q


def _excess(values: Array, low: Any, high: Any) -> float:
    """Greatest distance of values (N, ...) beyond the bounds; negative if all are within."""
    return float(np.maximum(low - values, values - high).max())


def _unit(joint: Joint) -> str:
    slides = [part.kind == SCREW and not part.turn.any() for part in joint.parts()]
    return "m" if all(slides) else "rad or m" if any(slides) else "rad"
