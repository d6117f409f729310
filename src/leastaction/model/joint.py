"""What all joints share, and the elementary parts the kernels know.

A joint moves its body's frame away from the placement in the parent. Every joint is a chain of elementary
parts (one-DoF screw, ball, free), so the kernels need to know only three kinds.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from leastaction.arguments import real_array
from leastaction.model.arrays import UNIT_TOLERANCE

SCREW, BALL, FREE = 0, 1, 2
PASSIVE = ("damping", "stiffness", "armature", "friction")

Motion = tuple[int, np.ndarray, np.ndarray]  # kind, turn and slide of a Part
Coordinate = tuple[str, str]  # name within the joint, empty if it has only one; and unit
STILL = np.zeros(3)
STILL.flags.writeable = False
OUTSIDE: dict[str, type["Joint"]] = {}  # joints defined outside the package, by module and name, the latest of each


@dataclass(frozen=True, eq=False)
class Part:
    """An elementary joint: a screw turns by turn*q and shifts by slide*q; ball and free parts use neither.

    Parameters
    ----------
    kind : SCREW, BALL or FREE; in general its place in KINDS of kernels/layout.py
    turn : (3,) rotation per unit q, joint frame, unit vector or zero
    slide : (3,) translation per unit q, joint frame, m/rad when turning, unit vector when only sliding
    damping : number, force or moment per unit v, N m s or N s/m
    stiffness : number, force or moment per unit displacement, N m or N/m
    rest : (nq,) configuration at which the spring is relaxed, rad, m or unit quaternion
    armature : number, inertia of the joint's own rates, kg m^2 or kg
    low, high : numbers, limits of q of a screw, rad or m, or of the angle of a ball; infinite where there is none
    restitution : number, of an impact at a limit
    friction : number, dry friction of a screw, N m or N
    nv : size of its velocity
    torsion : number, of a ball: stiffness about `axis` beyond that about the axes across it, N m
    axis : (3,) unit vector, of a ball with torsion apart, body axes
    """

    kind: int
    turn: np.ndarray
    slide: np.ndarray
    damping: float
    stiffness: float
    rest: np.ndarray
    armature: float
    low: float = -math.inf
    high: float = math.inf
    restitution: float = 0.0
    friction: float = 0.0
    nv: int = 1
    torsion: float = 0.0
    axis: np.ndarray = field(default_factory=lambda: STILL)

    @property
    def sprung(self) -> bool:
        """Whether the part has a spring."""
        return bool(self.stiffness or self.torsion)

    @property
    def nq(self) -> int:
        """Size of the part's configuration."""
        return len(self.rest)


@dataclass(frozen=True, kw_only=True)
class Joint(ABC):
    """A joint; its numbers are stored as floats and tuples, and judged by `faults`, not when given.

    Parameters
    ----------
    damping : number, tau = -damping v; Universal, Cylindrical and Planar also one per DoF
    stiffness : number, of the spring to `rest`; Universal, Cylindrical and Planar also one per DoF, Ball also
        (bending, torsion)
    rest : (nq,) configuration at which the spring is relaxed, rad, m, unit quaternion; None for neutral
    armature : number, kinetic energy 0.5 armature (v · v); Universal, Cylindrical and Planar also one per DoF
    limits : (low, high), each a number or one per DoF, rad or m, infinite for no limit; of a Ball (0, largest angle of
        its rotation from the zero orientation); those of free joints do not act
    limit_restitution : number from 0 to 1, speed after an impact at a limit relative to that before
    friction : number, dry friction, N m or N; Universal, Cylindrical and Planar also one per DoF; that of ball and free
        joints does not act
    effort_limit : number, largest force or moment of the joint's drive, N or N m; None if not known; it does not act
    velocity_limit : number, largest rate the drive allows, m/s or rad/s; None if not known; it does not act
    name : of the joint, as other programs call it; may be empty
    """

    damping: Any = 0.0
    stiffness: Any = 0.0
    rest: Any = None
    armature: Any = 0.0
    limits: Any = None
    limit_restitution: Any = 0.0
    friction: Any = 0.0
    effort_limit: Any = None
    velocity_limit: Any = None
    name: Any = ""

    nq: ClassVar[int]
    nv: ClassVar[int]
    per_dof: ClassVar[bool] = False  # whether passive coefficients may differ between the DoF
    quaternion_at: ClassVar[int | None] = None  # where in the joint's q its quaternion starts
    # What the numbers of q and of v are called, if the joint is not made of screws
    coordinates: ClassVar[tuple[tuple[Coordinate, ...], tuple[Coordinate, ...]] | None] = None

    def __init_subclass__(cls) -> None:
        if not cls.__module__.startswith("leastaction."):
            OUTSIDE[f"{cls.__module__}.{cls.__qualname__}"] = cls

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if type(value) is not float and value is not None and name != "name":
                object.__setattr__(self, name, _plain(value))

    @property
    def neutral(self) -> np.ndarray:
        """(nq,) configuration in which the body's frame is at its placement, rad, m or unit quaternion."""
        q = np.zeros(self.nq)
        if self.quaternion_at is not None:
            q[self.quaternion_at] = 1.0
        return q

    def parts(self) -> list[Part]:
        """List the elementary parts from the parent to the body; only for a joint without faults."""
        rest, motions = self._rest(), self._motions()
        screws = sum(kind == SCREW for kind, _, _ in motions)  # of one number each; another part has all other numbers
        parts, at = [], 0
        for dof, (kind, turn, slide) in enumerate(motions):
            nq, nv = (1, 1) if kind == SCREW else (self.nq - screws, self.nv - screws)
            damping, stiffness, armature, friction = (
                value[min(dof, len(value) - 1)] if isinstance(value, tuple) else value
                for value in (self.damping, self.stiffness, self.armature, self.friction)
            )
            own_rest = rest[at : at + nq]
            low, high = self.bounds(dof) if kind == SCREW else (-math.inf, math.inf)
            parts.append(Part(kind, turn, slide, damping, stiffness, own_rest, armature, low, high,
                              self.limit_restitution, friction if kind == SCREW else 0.0, nv))
            at += nq
        return parts

    @property
    def friction_acts(self) -> bool:
        """Whether dry friction acts: all parts have one degree of freedom."""
        return self.quaternion_at is None

    @property
    def limits_act(self) -> bool:
        """Whether limits act: likewise, and those of a ball."""
        return self.quaternion_at is None

    def bounds(self, dof: int) -> tuple[float, float]:
        """Return the limits of one degree of freedom, rad or m; infinite where there are none."""
        if self.limits is None:
            return -math.inf, math.inf
        low, high = (end[dof] if isinstance(end, tuple) else end for end in self.limits)
        return low, high

    def remark(self) -> str:
        """Return what the tree of a model says of the joint besides its kind and name; it need not be sound."""
        return ""

    def faults(self) -> list[str]:
        """List everything wrong with this joint, looked at alone."""
        geometry = self._geometry_faults()
        if not geometry and type(self) in OUTSIDE.values():  # those of the package are known to be sound
            geometry = self._chain_faults()
        return (
            geometry + self._passive_faults() + self._rest_faults() + self._limit_faults() + self._drive_faults()
        )

    @abstractmethod
    def _motions(self) -> list[Motion]:
        """List the kind, turn and slide of each part."""

    def _geometry_faults(self) -> list[str]:
        return []

    def _chain_faults(self) -> list[str]:
        """List what the kernels, which do not look, would get wrong numbers from."""
        where, motions = f"{type(self).__name__}: _motions()", self._motions()
        if not all(isinstance(motion, tuple | list) and len(motion) == 3 for motion in motions):
            return [f"{where} must give rows (SCREW, turn, slide), not {motions!r}"]
        found, screws = [], [motion for motion in motions if motion[0] == SCREW]
        if len(screws) == len(motions) and not len(screws) == self.nq == self.nv:
            found.append(f"{where} gives {len(screws)} screws, and nq is {self.nq}, nv {self.nv}: each screw has one "
                         "number")
        if len(screws) < len(motions) - 1:
            found.append(f"{where} gives {len(motions) - len(screws)} parts that are no screws, and may give one")
        for k, (_, *motion) in enumerate(screws):
            turn, slide = (np.asarray(vector) for vector in motion)
            for name, vector in (("turn", turn), ("slide", slide)):
                if vector.shape != (3,) or vector.dtype.kind not in "iuf" or not np.isfinite(vector).all():
                    return [*found, f"{where}: the {name} of screw {k} must be three finite numbers, not "
                            f"{vector.tolist()}"]
            name, unit = ("turn", turn) if turn.any() else ("slide", slide)
            if abs(np.linalg.norm(unit) - 1.0) > UNIT_TOLERANCE:
                found.append(f"{where}: the {name} of screw {k} has length {np.linalg.norm(unit):.6g}; give a unit "
                             f"vector, {name} / np.linalg.norm({name})")
        return found

    def _choices(self, name: str) -> dict[int, str]:
        """Return in how many numbers a passive coefficient may be given, and how to say so."""
        return {1: "a number", self.nv: f"{self.nv} numbers"} if self.per_dof else {1: "a number"}

    def _passive_faults(self) -> list[str]:
        found = []
        for name in PASSIVE:
            value = getattr(self, name)
            if type(value) is float and 0 <= value < math.inf:  # nearly always, and models may be large
                continue
            numbers = value if isinstance(value, tuple) else (value,)
            choices = self._choices(name)
            if len(numbers) not in choices or not are_numbers(numbers):
                found.append(f"{name} must be {' or '.join(choices.values())}, not {value!r}")
            elif not all(map(math.isfinite, numbers)):
                found.append(f"{name} is not finite: {value!r}")
            elif min(numbers) < 0:
                found.append(f"{name} is negative: {value!r}")
        return found

    def _rest_faults(self) -> list[str]:
        if self.rest is None:
            return []
        rest = self.rest if isinstance(self.rest, tuple) else (self.rest,)
        if len(rest) != self.nq or not are_numbers(rest):
            return [f"rest must have {self.nq} numbers, not {self.rest!r}"]
        if not all(map(math.isfinite, rest)):
            return [f"rest is not finite: {self.rest!r}"]
        if self.quaternion_at is not None:
            norm = math.hypot(*rest[self.quaternion_at :])
            if abs(norm - 1) > UNIT_TOLERANCE:
                return [f"rest has a quaternion of norm {norm:.6g}; give a unit quaternion (w, x, y, z)"]
        return []

    def _limit_faults(self) -> list[str]:
        e = self.limit_restitution
        if not (type(e) is float and 0.0 <= e <= 1.0):
            return [f"limit_restitution must be a number from 0 to 1, not {e!r}"]
        if self.limits is None:
            return []
        ends = self.limits if isinstance(self.limits, tuple) else ()
        bounds = [x if isinstance(x, tuple) else (x,) * self.nv for x in ends]
        if [len(x) for x in bounds] != [self.nv] * 2 or not are_numbers(bounds[0] + bounds[1]):
            form = "numbers" if self.nv == 1 else f"numbers or of {self.nv} numbers each"
            return [f"limits must be a pair (low, high) of {form}, not {self.limits!r}"]
        if any(map(math.isnan, bounds[0] + bounds[1])):
            return [f"limits are not numbers: {self.limits!r}"]
        pairs = zip(*bounds, strict=True)
        return [f"limits are in the wrong order: low {a:g} > high {b:g}" for a, b in pairs if a > b]

    def _drive_faults(self) -> list[str]:
        limits = {"effort_limit": self.effort_limit, "velocity_limit": self.velocity_limit}
        return [
            f"{name} must be a number that is not negative, not {value!r}"
            for name, value in limits.items()
            if value is not None and not (isinstance(value, float) and value >= 0)
        ]

    def _rest(self) -> np.ndarray:
        if self.rest is None:
            return self.neutral
        rest = np.array(self.rest, dtype=float).reshape(self.nq)
        if self.quaternion_at is not None:
            rest[self.quaternion_at :] /= np.linalg.norm(rest[self.quaternion_at :])
        return rest


def axis_faults(name: str, axis: Any) -> list[str]:
    """List what is wrong with an axis, which may have any length but zero."""
    if not isinstance(axis, tuple) or len(axis) != 3 or not are_numbers(axis):
        return [f"{name} must be three numbers, not {axis!r}"]
    if not all(map(math.isfinite, axis)):
        return [f"{name} is not finite: {axis!r}"]
    return [] if any(axis) else [f"{name} is zero: give it a direction"]


def are_numbers(values: tuple[object, ...]) -> bool:
    """Tell whether all values were understood as numbers."""
    return all(isinstance(x, float) for x in values)


def _plain(value: Any) -> Any:
    """Turn numbers into floats and tuples, so that joints compare and hash; the rest is left for `faults`."""
    try:
        plain = real_array(value, "value").tolist()
    except ValueError:
        return value
    if isinstance(plain, list):
        return tuple(tuple(x) if isinstance(x, list) else x for x in plain)
    return plain
