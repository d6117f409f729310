"""The joints a user can ask for. Axes may have any length: only their direction counts."""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from leastaction.model.joint import BALL, FREE, SCREW, STILL, Joint, Motion, Part, are_numbers, axis_faults

ANGLE_TOLERANCE = 1e-6  # on the sine or cosine of the angle between two axes
QUATERNION = "unit quaternion"


def named(names: str, unit: str) -> tuple[tuple[str, str], ...]:
    """Give each of these names, which spaces separate, the unit."""
    return tuple((name, unit) for name in names.split())


@dataclass(frozen=True)
class Fixed(Joint):
    """No motion: the body is welded to its parent. Joint(q) = identity."""

    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0

    def _motions(self) -> list[Motion]:
        return []


@dataclass(frozen=True)
class _OneAxis(Joint):
    axis: Any

    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def _geometry_faults(self) -> list[str]:
        return axis_faults("axis", self.axis)


@dataclass(frozen=True)
class Revolute(_OneAxis):
    """Rotation by q (rad) about an axis.

    Parameters
    ----------
    axis : (3,) direction, joint frame
    """

    def _motions(self) -> list[Motion]:
        return [(SCREW, _unit(self.axis), STILL)]


@dataclass(frozen=True)
class Prismatic(_OneAxis):
    """Translation by q (m) along an axis.

    Parameters
    ----------
    axis : (3,) direction, joint frame
    """

    def _motions(self) -> list[Motion]:
        return [(SCREW, STILL, _unit(self.axis))]


@dataclass(frozen=True)
class Helical(_OneAxis):
    """Rotation by q (rad) about an axis with a translation by pitch*q along it.

    Parameters
    ----------
    axis : (3,) direction, joint frame
    pitch : number, m/rad
    """

    pitch: Any

    def _geometry_faults(self) -> list[str]:
        fine = isinstance(self.pitch, float) and math.isfinite(self.pitch)
        return super()._geometry_faults() + (
            [] if fine else [f"pitch must be a finite number, not {self.pitch!r}"]
        )

    def _motions(self) -> list[Motion]:
        axis = _unit(self.axis)
        return [(SCREW, axis, self.pitch * axis)]


@dataclass(frozen=True)
class Ball(Joint):
    """Any rotation: q is a unit quaternion (w, x, y, z), v the angular velocity in body axes (rad/s).

    Its spring has the energy ½ k ψ·ψ, ψ being the rotation vector from `rest` to q. With
    ``stiffness=(bending, torsion)``, N m, it has ½ bending (ψ·ψ − (a·ψ)²) + ½ torsion (a·ψ)², a being the unit vector
    along `axis`. Below half a turn from rest both are smooth.

    With ``limits=(0, a)``, 0 < a < π, the rotation from the zero orientation (1, 0, 0, 0) is by an angle of at most a,
    about whatever axis, as MuJoCo's range of a ball joint says.

    Parameters
    ----------
    axis : (3,) direction about which torsion acts, body axes, as a rod's from one end to the other; None if bending and
        torsion are not apart
    """

    axis: Any = None

    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3
    quaternion_at: ClassVar[int | None] = 0
    coordinates = named("w x y z", QUATERNION), named("ωx ωy ωz", "rad/s")

    def parts(self) -> list[Part]:
        """Return the one part; only for a joint without faults."""
        (part,) = super().parts()
        if self.limits is not None:
            part = replace(part, high=self.limits[1])
        if isinstance(self.stiffness, tuple) and self.stiffness[-1] != self.stiffness[0]:
            part = replace(part, torsion=self.stiffness[-1] - self.stiffness[0], axis=_unit(self.axis))
        return [part]

    def remark(self) -> str:
        """Return what the tree of a model says of bending and torsion, if they are apart."""
        if not isinstance(self.stiffness, tuple) or len(self.stiffness) != 2 or not are_numbers(self.stiffness):
            return ""
        return f", bending {self.stiffness[0]:.4g}, torsion {self.stiffness[1]:.4g} N m"

    @property
    def limits_act(self) -> bool:
        """They do: the range of its angle."""
        return True

    def _limit_faults(self) -> list[str]:
        if self.limits is None:
            return super()._limit_faults()
        ends = self.limits if isinstance(self.limits, tuple) else ()
        if len(ends) == 2 and are_numbers(ends) and ends[0] == 0.0 and 0.0 < ends[1] < math.pi:
            return super()._limit_faults()
        return ["limits of a ball joint must be (0, a), a being the largest angle of its rotation from the zero "
                f"orientation, 0 < a < π rad, not {self.limits!r}"]

    def _geometry_faults(self) -> list[str]:
        return [] if self.axis is None else axis_faults("axis", self.axis)

    def _choices(self, name: str) -> dict[int, str]:
        return super()._choices(name) | ({2: "(bending, torsion)"} if name == "stiffness" else {})

    def _passive_faults(self) -> list[str]:
        found = super()._passive_faults()
        if isinstance(self.stiffness, tuple) and len(self.stiffness) == 2 and self.axis is None:
            found.append(f"stiffness is that of bending and that of torsion, {self.stiffness!r}: give the axis of "
                         "torsion, as in Ball(stiffness=(20.0, 5.0), axis=(0, 0, 1)), or one number")
        return found

    def _motions(self) -> list[Motion]:
        return [(BALL, STILL, STILL)]


@dataclass(frozen=True)
class Free(Joint):
    """Any motion: q is position (m) then unit quaternion, v the twist (omega, v) in body axes."""

    nq: ClassVar[int] = 7
    nv: ClassVar[int] = 6
    quaternion_at: ClassVar[int | None] = 3
    coordinates = (named("x y z", "m") + named("qw qx qy qz", QUATERNION),
                   named("ωx ωy ωz", "rad/s") + named("vx vy vz", "m/s"))

    def _motions(self) -> list[Motion]:
        return [(FREE, STILL, STILL)]


@dataclass(frozen=True)
class Cylindrical(_OneAxis):
    """Rotation by q0 (rad) about an axis, then translation by q1 (m) along it.

    Parameters
    ----------
    axis : (3,) direction, joint frame
    """

    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2
    per_dof: ClassVar[bool] = True

    def _motions(self) -> list[Motion]:
        axis = _unit(self.axis)
        return [(SCREW, axis, STILL), (SCREW, STILL, axis)]


@dataclass(frozen=True)
class _TwoAxes(Joint):
    axis1: Any
    axis2: Any

    per_dof: ClassVar[bool] = True

    def _geometry_faults(self) -> list[str]:
        found = axis_faults("axis1", self.axis1) + axis_faults("axis2", self.axis2)
        return found or self._angle_faults(_unit(self.axis1), _unit(self.axis2))

    def _angle_faults(self, first: np.ndarray, second: np.ndarray) -> list[str]:
        raise NotImplementedError


@dataclass(frozen=True)
class Universal(_TwoAxes):
    """Rotation by q0 (rad) about axis1, then by q1 about axis2, which turns with the first.

    Parameters
    ----------
    axis1 : (3,) direction, joint frame
    axis2 : (3,) direction, joint frame at q0 = 0, not parallel to axis1
    """

    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2

    def _angle_faults(self, first: np.ndarray, second: np.ndarray) -> list[str]:
        sine = np.linalg.norm(np.cross(first, second))
        return ["axis1 and axis2 are parallel: use a Revolute joint"] if sine < ANGLE_TOLERANCE else []

    def _motions(self) -> list[Motion]:
        return [(SCREW, _unit(self.axis1), STILL), (SCREW, _unit(self.axis2), STILL)]


@dataclass(frozen=True)
class Planar(_TwoAxes):
    """Translation by q0 (m) along axis1 and q1 along axis2, then rotation by q2 (rad) about axis1 x axis2.

    Parameters
    ----------
    axis1 : (3,) direction, joint frame
    axis2 : (3,) direction, joint frame, orthogonal to axis1
    """

    nq: ClassVar[int] = 3
    nv: ClassVar[int] = 3

    def _angle_faults(self, first: np.ndarray, second: np.ndarray) -> list[str]:
        orthogonal = abs(first @ second) <= ANGLE_TOLERANCE
        return [] if orthogonal else ["axis1 and axis2 are not orthogonal: make them span the plane squarely"]

    def _motions(self) -> list[Motion]:
        along, across = _unit(self.axis1), _unit(self.axis2)
        normal = _unit(np.cross(along, across))
        return [(SCREW, STILL, along), (SCREW, STILL, across), (SCREW, normal, STILL)]


JOINT_KINDS: dict[str, type[Joint]] = {
    kind.__name__.lower(): kind
    for kind in (Revolute, Prismatic, Helical, Ball, Free, Fixed, Universal, Cylindrical, Planar)
}


def _unit(axis: Any) -> np.ndarray:
    x, y, z = axis
    norm = math.hypot(x, y, z)
    return np.array([x / norm, y / norm, z / norm])
