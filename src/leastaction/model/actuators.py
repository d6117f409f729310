"""Actuators: what drives a joint by command. Descriptions only; drives.py turns commands into forces.

Forces, gains and efforts are those at the joint. A command is a number in the units of the drive: with a gear of g the
drive moves g times as far as the joint, so a target of the joint is command / g, and a motor's moment arrives g-fold.
"""

import math
from abc import ABC
from dataclasses import KW_ONLY, dataclass, fields
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from leastaction.arguments import shown
from leastaction.errors import ModelError


@dataclass(frozen=True)
class Actuator(ABC):
    """What all actuators have.

    Parameters
    ----------
    joint : name of the body whose joint it drives, or of the joint
    effort : largest force or moment at the joint, N or N m; infinite for no bound; None for the ``effort_limit`` of the
        joint, if it has one: it bounds the sum of the actuators that leave their effort to the joint
    gear : how far the drive moves per rad or m of the joint; negative if it moves the other way
    dof : which of the joint's degrees of freedom, from 0 on, where it has several
    command_range : (low, high) to which commands are clamped; None for no bounds
    """

    joint: str
    _: KW_ONLY
    effort: Any = None
    gear: Any = 1.0
    dof: int = 0
    command_range: Any = None

    gains: ClassVar[tuple[str, ...]] = ()  # of the fields, those that are gains

    def __post_init__(self) -> None:
        if isinstance(self.command_range, np.ndarray) and self.command_range.ndim == 1:
            object.__setattr__(self, "command_range", tuple(self.command_range.tolist()))
        faults = [*self._own_faults(), *self._gain_faults()]
        if faults:
            raise ModelError([f"la.{type(self).__name__} for the joint of {shown(self.joint)}: {text}"
                              for text in faults])
        for name in ("effort", "gear", *self.gains):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else float(value))
        if self.command_range is not None:
            object.__setattr__(self, "command_range", tuple(float(end) for end in self.command_range))
        object.__setattr__(self, "dof", int(self.dof))

    def _own_faults(self) -> list[str]:
        found = [] if isinstance(self.joint, str) and self.joint else [
            f"joint must be the name of a body or of its joint, not {shown(self.joint)}"]
        if self.effort is not None and not (_is_number(self.effort) and self.effort > 0):
            found.append(f"effort must be a positive number, N or N m, or None for that of the joint, not "
                         f"{shown(self.effort)}")
        if not (_is_number(self.gear) and math.isfinite(self.gear) and self.gear != 0):
            found.append(f"gear must be a finite number other than zero, not {shown(self.gear)}")
        if not (isinstance(self.dof, Integral) and self.dof >= 0):
            found.append(f"dof must be the index of a degree of freedom of the joint, from 0 on, not {shown(self.dof)}")
        ends = self.command_range
        if ends is not None and not (isinstance(ends, tuple | list) and len(ends) == 2 and all(map(_is_number, ends))
                                     and ends[0] <= ends[1]):
            found.append(f"command_range must be a pair (low, high) with low ≤ high, not {shown(ends)}")
        return found

    def _gain_faults(self) -> list[str]:
        wrong = [f"{name} must be a finite number that is not negative, not {shown(getattr(self, name))}"
                 for name in self.gains if not _is_gain(getattr(self, name))]
        if not wrong and self.gains and not any(getattr(self, name) for name in self.gains):
            wrong = [f"{' and '.join(self.gains)} must not be zero{' both' * (len(self.gains) > 1)}: it would exert "
                     "nothing"]
        return wrong


@dataclass(frozen=True)
class PD(Actuator):
    """Holds a joint at the position that is commanded: force = kp (command / gear − q) − kd v, within ± effort.

    The variational step of order 2 takes the force at its middle, implicitly, so no gain is too large for it. Higher
    orders refuse a kd that they do not resolve; explicit methods need steps that do, and warn.

    Parameters
    ----------
    joint, effort, gear, dof, command_range : as for every `Actuator`
    kp : force per unit of deflection, N m/rad or N/m
    kd : force per unit of rate, N m s/rad or N s/m; beside a target rate, add a `Velocity` to the same joint
    """

    _: KW_ONLY
    kp: Any
    kd: Any = 0.0

    gains: ClassVar[tuple[str, ...]] = ("kp", "kd")


@dataclass(frozen=True)
class Velocity(Actuator):
    """Moves a joint at the rate that is commanded: force = kd (command / gear − v), within ± effort.

    Parameters
    ----------
    joint, effort, gear, dof, command_range : as for every `Actuator`
    kd : force per unit of rate, N m s/rad or N s/m
    """

    _: KW_ONLY
    kd: Any

    gains: ClassVar[tuple[str, ...]] = ("kd",)


@dataclass(frozen=True)
class Motor(Actuator):
    """Exerts the force that is commanded: gear × command, within ± effort, held over the step.

    Parameters
    ----------
    joint, effort, gear, dof, command_range : as for every `Actuator`
    """


ACTUATOR_KINDS: dict[str, type[Actuator]] = {kind.__name__.lower(): kind for kind in (PD, Velocity, Motor)}


def described(actuator: Actuator) -> str:
    """Say in a few words what an actuator is: "pd on 'elbow', kp 100, kd 10, effort 87"."""
    said = [f"{type(actuator).__name__.lower()} on '{actuator.joint}'" + f"[{actuator.dof}]" * (actuator.dof > 0)]
    for field in fields(actuator):
        value = getattr(actuator, field.name)
        if field.name in ("joint", "dof") or value == field.default or value is None:
            continue
        numbers = value if isinstance(value, tuple) else (value,)
        said.append(f"{field.name.replace('_', ' ')} {' to '.join(f'{x:.4g}' for x in numbers)}")
    return ", ".join(said)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)


def _is_gain(value: object) -> bool:
    return _is_number(value) and math.isfinite(value) and value >= 0  # type: ignore[arg-type, operator]
