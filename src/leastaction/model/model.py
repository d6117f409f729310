"""The description of a tree of rigid bodies on a fixed ground."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.errors import ModelError
from leastaction.model.actuators import Actuator
from leastaction.model.arrays import UNIT_TOLERANCE, ByValue, as_array, same
from leastaction.model.description import (
    actuator_record,
    body_record,
    force_record,
    loop_record,
    mapping,
    numbers,
    plain,
    read_actuator,
    read_body,
    read_force,
    read_loop,
    read_state,
    refuse_unknown,
)
from leastaction.model.drives import Drives, conflict, place
from leastaction.model.force import Force
from leastaction.model.geometry import Geometry
from leastaction.model.inertia import Inertia
from leastaction.model.joint import Joint
from leastaction.model.joints import Fixed
from leastaction.model.loops import Coupling, Loop, Rod, listed
from leastaction.model.names import did_you_mean
from leastaction.model.show import drawn, html
from leastaction.model.state import Layout
from leastaction.model.unhonoured import (
    FRICTION,
    LIMITS,
    SWITCHES,
    Found,
    accepted,
    has_friction,
    has_limits,
    settled,
    unhonoured,
)
from leastaction.model.validation import validate


@dataclass(frozen=True, eq=False)
class Body(ByValue):
    """One body of a model and the joint that carries it.

    Parameters
    ----------
    name : unique within the model
    parent : name of the parent body, None for the ground
    joint : how the body moves against its parent
    position : (3,) joint frame's origin at the neutral configuration, parent's body frame, m
    quaternion : (4,) unit quaternion of the joint frame's axes, parent's body frame
    inertia : of the body, body frame
    geometry : what it looks like, for viewers
    """

    name: str
    parent: str | None
    joint: Joint
    position: np.ndarray
    quaternion: np.ndarray
    inertia: Inertia
    geometry: tuple[Geometry, ...] = ()


MASSLESS = Inertia(0.0)
WELD = Fixed()


class Model:
    """A tree of rigid bodies, whose branches may be joined to loops; several trees may stand on the ground.

    Parameters
    ----------
    gravity : (3,) acceleration of free fall, world frame, m/s^2
    name : of the model

    Attributes
    ----------
    keyframes : named states of the file, each q (nq,) and v (nv,)
    commands : commands (nu,) of the keyframes that have such, by name

    Notes
    -----
    q and v are laid out by bodies in the order added. Bodies may be added before their parents, so a parent that is
    not there is no fault when it is named; printing the model names it. Nothing is checked but shapes until
    `validate`, which lists every fault at once; the first use of a model calls it.

    Models are equal when they have the same name, gravity, bodies, loops, forces, actuators, initial state, keyframes
    and ``ignored``, number for number. As they may change, they cannot be keys of a dict.
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81), name: str = "model") -> None:
        self.name = name
        self._told: set[object] = set()
        self._forces: dict[str, Force] = {}
        self._notes: Found = {}
        self._off: frozenset[str] = frozenset()
        self.keyframes: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.commands: dict[str, np.ndarray] = {}
        self._actuators: dict[str, Actuator] = {}
        self._command0: np.ndarray | None = None
        self._drives: tuple[int, Drives] | None = None
        self._bodies: list[Body] = []
        self._loops: tuple[Loop | Coupling, ...] = ()
        self._index: dict[str, int] = {}
        self._revision = 0
        self._layout: Layout | None = None
        self._q0: np.ndarray | None = None
        self._v0: np.ndarray | None = None
        self.gravity = gravity

    def add_body(
        self,
        name: str,
        parent: str | None = None,
        joint: Joint = WELD,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        inertia: Inertia | None = None,
        geometry: Iterable[Geometry] = (),
    ) -> Body:
        """Add a body.

        Parameters
        ----------
        name : unique within the model
        parent : name of the parent body, which may be added later; None for the ground
        joint : how the body moves against its parent
        position : (3,) joint frame's origin at the neutral configuration, parent's body frame, m
        quaternion : (4,) unit quaternion of the joint frame's axes, parent's body frame
        inertia : of the body, body frame; None for a massless body
        geometry : what it looks like, for viewers
        """
        if not isinstance(name, str) or not isinstance(parent, str | None):
            raise ModelError(f"names of bodies must be text, not {name!r} with the parent {parent!r}")
        if not isinstance(inertia, Inertia | None):
            raise ModelError(f"the inertia of body '{name}' must be an Inertia, not {inertia!r}")
        body = Body(
            name,
            parent,
            joint,
            as_array(position, (3,), f"the position of body '{name}'"),
            _nearly_unit(as_array(quaternion, (4,), f"the quaternion of body '{name}'")),
            MASSLESS if inertia is None else inertia,
            tuple(geometry),
        )
        self._append(body)
        if isinstance(joint, Joint):
            self._q0 = None if self._q0 is None else np.append(self._q0, joint.neutral)
            self._v0 = None if self._v0 is None else np.append(self._v0, np.zeros(joint.nv))
        return body

    def add_loop(
        self,
        name: str,
        body: str,
        other: str | None = None,
        *,
        joint: Joint | Rod,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        other_position: ArrayLike = (0.0, 0.0, 0.0),
        other_quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    ) -> Loop:
        """Close a loop: join a body to another one, or to the ground, by a joint that is not in the tree.

        q and v stay those of the tree; `la.assemble` finds a state that is closed.

        Parameters
        ----------
        name : unique among the loops and couplings of the model
        body, other : names of the two bodies, which may be added later; other=None for the ground
        joint : Ball (3 rows), Fixed (6), Revolute, Prismatic (5), Universal, Cylindrical (4), Planar (3), la.Rod (1)
        position : (3,) origin of the joint's frame on ``body``, body frame, m
        quaternion : (4,) unit quaternion of its axes, body frame
        other_position : (3,) origin of the joint's frame on ``other``, its body frame or the world, m
        other_quaternion : (4,) unit quaternion of its axes, its body frame or the world
        """
        if not all(isinstance(text, str) for text in (name, body)) or not isinstance(other, str | None):
            raise ModelError(f"names of loops and bodies must be text, not {name!r} from {body!r} to {other!r}")
        what = f"of loop '{name}'"
        loop = Loop(
            name, body, other, joint,
            as_array(position, (3,), f"the position {what}"),
            _nearly_unit(as_array(quaternion, (4,), f"the quaternion {what}")),
            as_array(other_position, (3,), f"the other_position {what}"),
            _nearly_unit(as_array(other_quaternion, (4,), f"the other_quaternion {what}")),
        )
        self._add(loop)
        return loop

    def add_coupling(
        self,
        name: str,
        joint: str,
        to: str | None = None,
        coefficients: ArrayLike = (0.0, 1.0),
        reference: ArrayLike = (0.0, 0.0),
    ) -> Coupling:
        """Let a joint follow another: (q − ref) = Σ c_k (q_to − ref_to)^k.

        A gear has the coefficients (0, ratio), URDF's mimic (offset, multiplier).

        Parameters
        ----------
        name : unique among the loops and couplings of the model
        joint : name of a joint of one degree of freedom, or of the body it carries
        to : name of another, None if the joint is to keep the place ref + c_0
        coefficients : (c_0, …), at most five, rad or m over powers of rad or m
        reference : (ref, ref_to), rad or m
        """
        if not all(isinstance(text, str) for text in (name, joint)) or not isinstance(to, str | None):
            raise ModelError(f"names of couplings and joints must be text, not {name!r} of {joint!r} to {to!r}")
        given = np.atleast_1d(as_array(coefficients, np.shape(coefficients), f"the coefficients of coupling '{name}'"))
        own, other = as_array(reference, (2,), f"the reference of coupling '{name}'").tolist()
        coupling = Coupling(name, joint, to, tuple(given.ravel().tolist()), (own, other))
        self._add(coupling)
        return coupling

    def mobility(self, q: ArrayLike | None = None) -> int:
        """Count the degrees of freedom that the loops leave at a configuration: nv less the rank of their Jacobian.

        Parameters
        ----------
        q : (nq,) configuration, rad, m, unit quaternions; q0 if None
        """
        from leastaction.closures import mobility

        return mobility(self, q)

    def add_force(self, name: str, force: Force) -> Force:
        """Let a force act between bodies, or on one.

        Parameters
        ----------
        name : unique among the forces of the model
        force : Spring(...), Field(...), Thruster(...), or one of your own; the bodies it names may be added later
        """
        if not isinstance(name, str) or not name:
            raise ModelError(f"names of forces must be text, not {name!r}")
        if not isinstance(force, Force):
            raise ModelError(f"force '{name}' must be a la.Spring(...), la.Field(...), la.Thruster(...) or another "
                             f"la.Force, not {force!r}")
        if name in self._forces:
            raise ModelError(f"force '{name}' is added more than once; give each force its own name")
        self._forces = {**self._forces, name: force}
        self._changed()
        return force

    @property
    def forces(self) -> Mapping[str, Force]:
        """All forces between bodies and on them, by name, in the order added; read-only."""
        return MappingProxyType(self._forces)

    def add_actuator(self, name: str, actuator: Actuator) -> Actuator:
        """Let an actuator drive a joint of a body that is there.

        Commands (nu,) are in the order in which actuators were added. Without bounds on their efforts, several on one
        degree of freedom add up; of servos that saturate, it takes one.

        Parameters
        ----------
        name : unique among the actuators
        actuator : `PD`, `Velocity` or `Motor`
        """
        if not isinstance(name, str) or not name:
            raise ModelError(f"the name of an actuator must be text, not {name!r}")
        if not isinstance(actuator, Actuator):
            raise ModelError(f"actuator '{name}' must be la.PD(...), la.Velocity(...) or la.Motor(...), not "
                             f"{actuator!r}")
        if name in self._actuators:
            raise ModelError(f"there is an actuator '{name}' already: give each its own name")
        try:
            at = place(self, actuator)
        except ModelError as error:
            raise ModelError(f"actuator '{name}': {error}") from None
        # The name of a joint could become that of another body later.
        actuator = replace(actuator, joint=self.names[self.body_index(actuator.joint)])
        beside = {other: one for other, one in self._actuators.items()
                  if one.joint == actuator.joint and place(self, one) == at}
        faults = list(conflict(self, {**beside, name: actuator}))
        if faults:
            raise ModelError(faults)
        self._actuators = {**self._actuators, name: actuator}
        self._command0 = None if self._command0 is None else np.append(self._command0, 0.0)
        self.commands = {key: np.append(command, 0.0) for key, command in self.commands.items()}
        self._changed()
        return actuator

    @property
    def actuators(self) -> dict[str, Actuator]:
        """All actuators by name, in the order added (a copy)."""
        return dict(self._actuators)

    @property
    def nu(self) -> int:
        """Size of a command: the number of actuators."""
        return len(self._actuators)

    @property
    def command0(self) -> np.ndarray:
        """(nu,) copy of the command that is held when none is given; of a file that of its first keyframe, or zeros."""
        return np.zeros(self.nu) if self._command0 is None else self._command0.copy()

    @command0.setter
    def command0(self, value: ArrayLike) -> None:
        command = as_array(value, (self.nu,), "command0")
        if not np.isfinite(command).all():
            raise ModelError(f"command0 is not finite: {command.tolist()}")
        self._command0 = np.array(command)

    @property
    def drives(self) -> Drives:
        """What commands ask of the joints."""
        if self._drives is None or self._drives[0] != self._revision:
            self._drives = self._revision, Drives(self)
        return self._drives[1]

    @property
    def bodies(self) -> tuple[Body, ...]:
        """All bodies, in the order added."""
        return tuple(self._bodies)

    @property
    def loops(self) -> tuple[Loop | Coupling, ...]:
        """All closures and couplings, in the order added."""
        return self._loops

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the bodies, in the order added."""
        return tuple(body.name for body in self._bodies)

    @property
    def nb(self) -> int:
        """Number of bodies, fixed ones included."""
        return len(self._bodies)

    @property
    def nq(self) -> int:
        """Size of a configuration."""
        return self.layout.nq

    @property
    def nv(self) -> int:
        """Size of a velocity: the number of degrees of freedom."""
        return self.layout.nv

    @property
    def revision(self) -> int:
        """Grows with every change but of q0, v0, command0 and what comes from files; a key for caches."""
        return self._revision

    @property
    def gravity(self) -> np.ndarray:
        """(3,) acceleration of free fall, world frame, m/s^2; read-only, assign to change it."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._gravity = as_array(value, (3,), "gravity")
        self._changed()

    @property
    def q0(self) -> np.ndarray:
        """(nq,) copy of the default initial configuration, rad, m, unit quaternions; assign to change it."""
        return self.layout.neutral() if self._q0 is None else self._q0.copy()

    @q0.setter
    def q0(self, value: ArrayLike) -> None:
        self._q0 = self.check_state(value, None)[0]

    @property
    def v0(self) -> np.ndarray:
        """(nv,) copy of the default initial velocity, rad/s and m/s; assign to change it."""
        return np.zeros(self.nv) if self._v0 is None else self._v0.copy()

    @v0.setter
    def v0(self, value: ArrayLike) -> None:
        self._v0 = self.check_state(None, value)[1]

    @property
    def total_mass(self) -> float:
        """Mass of all bodies, those fixed to the ground included, kg."""
        return math.fsum(body.inertia.mass for body in self._bodies)

    @property
    def ignored(self) -> Found:
        """What the model has and the dynamics do not honour: a word of `load`'s ``ignore`` to the elements it concerns.

        Assign what a file has beyond bodies, joints and shapes; limits and friction are always read from the joints.
        """
        driven = {one.joint for one in self._actuators.values()}
        return unhonoured(self._bodies, self._notes, self.switched_off, driven)

    @ignored.setter
    def ignored(self, notes: Mapping[str, Iterable[str]]) -> None:
        self._notes = {word: tuple(names) for word, names in notes.items()}
        self._told.clear()

    @property
    def switched_off(self) -> frozenset[str]:
        """What the model has and is not to act: "limits", "friction"; see `without`."""
        return self._off

    def without(self, ignore: str | Iterable[str]) -> Model:
        """Return a copy of the model in which limits or dry friction do not act; itself if it has none that do.

        Parameters
        ----------
        ignore : words of `load`; only "limits" and "friction" matter here
        """
        words = (accepted(ignore) & SWITCHES) - self.switched_off
        acting = {word for word, has in ((LIMITS, has_limits), (FRICTION, has_friction)) if word in words and any(
            isinstance(body.joint, Joint) and body.joint.all_screws and has(body.joint) for body in self._bodies)}
        if not acting:
            return self
        other = copy(self)
        other._bodies, other._index, other._told = list(self._bodies), dict(self._index), set(self._told)
        other.keyframes, other._off = dict(self.keyframes), self._off | acting
        settled(other)  # whoever asks for it knows
        return other

    @property
    def layout(self) -> Layout:
        """Where each body's numbers are in q and v."""
        if self._layout is None:
            self._layout = Layout(self._bodies)
        return self._layout

    @property
    def parents(self) -> np.ndarray:
        """(nb,) index of each body's parent, -1 for the ground (and for a parent that does not exist)."""
        parents = [-1 if body.parent is None else self._index.get(body.parent, -1) for body in self._bodies]
        return np.array(parents, dtype=int)

    def body_index(self, name: str) -> int:
        """Return the index of a body in the order added; the name of its joint will do where no body has that name."""
        if name in self._index:
            return self._index[name]
        named = (b for b, body in enumerate(self._bodies) if isinstance(body.joint, Joint) and body.joint.name == name)
        index = next(named, None) if name else None
        if index is None:
            raise ModelError(f"there is no body '{name}' in {self.name}" + did_you_mean(name, self._index))
        return index

    def q_slice(self, name: str) -> slice:
        """Tell where the body's joint is in q."""
        return self.layout.q_slice(self.body_index(name))

    def v_slice(self, name: str) -> slice:
        """Tell where the body's joint is in v."""
        return self.layout.v_slice(self.body_index(name))

    def order(self) -> list[int]:
        """List body indices, parents first and otherwise as added; for a model without faults."""
        parents = self.parents.tolist()
        placed = [False] * len(parents)
        order: list[int] = []
        for body in range(len(parents)):
            path = []
            while body >= 0 and not placed[body]:
                placed[body] = True
                path.append(body)
                body = parents[body]
            order.extend(reversed(path))
        return order

    def check_state(self, q: ArrayLike | None, v: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
        """Copy a state to fresh float arrays with unit quaternions; None stands for q0 or v0.

        Parameters
        ----------
        q : (nq,) configuration, rad, m and unit quaternions
        v : (nv,) velocity, body axes for ball and free joints, rad/s and m/s

        Raises
        ------
        ValueError
            Listing every fault: shape, numbers that are not finite, quaternions that are not unit.
        """
        return self.layout.check_state(self.q0 if q is None else q, self.v0 if v is None else v)

    def validate(self, strict: bool = False) -> None:
        """Raise a ModelError that lists everything wrong with the model.

        Parameters
        ----------
        strict : whether inertias that no rigid body can have (triangle inequality) are errors, not warnings
        """
        validate(self, strict)

    def to_dict(self) -> dict[str, Any]:
        """Write the model down as plain data that JSON can hold: all that it is made of, exactly."""
        loops = {"loops": [loop_record(loop) for loop in self._loops]} if self._loops else {}
        off = {"switched_off": sorted(self._off)} if self._off else {}
        driven: dict[str, Any] = {} if not self._actuators else {
            "actuators": [{"name": name, **actuator_record(one, name)} for name, one in self._actuators.items()],
            "command0": plain(self._command0, "command0"),
            "commands": {name: plain(command, f"the command of '{name}'") for name, command in self.commands.items()},
        }
        data = {
            "name": self.name, "gravity": plain(self.gravity, "gravity"), "q0": plain(self._q0, "q0"),
            "v0": plain(self._v0, "v0"), "bodies": [body_record(body) for body in self._bodies], **loops,
            "ignored": {word: list(names) for word, names in self.ignored.items()}, **off,
            "keyframes": {name: plain(state, f"keyframe '{name}'") for name, state in self.keyframes.items()},
            **driven,
        }
        if self._forces:
            data["forces"] = [force_record(name, force) for name, force in self._forces.items()]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Model:
        """Make the model that `to_dict` wrote down; keys that mean nothing are errors."""
        known = ("name", "gravity", "q0", "v0", "bodies", "loops", "forces", "ignored", "switched_off", "keyframes",
                 "actuators", "command0", "commands")
        refuse_unknown(mapping(data, "a model"), known, "the model")
        model = cls(numbers(data.get("gravity", (0.0, 0.0, -9.81))), str(data.get("name", "model")))
        for body in data.get("bodies", ()):
            model._append(Body(**read_body(body)))
        model._loops = tuple(read_loop(loop) for loop in data.get("loops", ()))
        for force in data.get("forces", ()):
            model.add_force(*read_force(force))
        for data_of_one in data.get("actuators", ()):
            model.add_actuator(*read_actuator(data_of_one))
        if data.get("command0") is not None:
            model.command0 = numbers(data["command0"])
        for name, command in mapping(data.get("commands", {}), "commands").items():
            model.commands[name] = np.array(as_array(numbers(command), (model.nu,), f"the command of '{name}'"))
        model._q0, model._v0 = read_state(data, model.nq, model.nv)  # the setters would normalise once more
        model.check_state(None, None)
        model.ignored = mapping(data.get("ignored", {}), "ignored")
        model._off = frozenset(accepted(data.get("switched_off", ()), SWITCHES))
        for name, (q, v) in mapping(data.get("keyframes", {}), "keyframes").items():
            model.keyframes[name] = model.check_state(numbers(q), numbers(v))
        return model

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return (
            self.name == other.name and same(self.gravity, other.gravity) and self._bodies == other._bodies
            and self._loops == other._loops
            and list(self._forces.items()) == list(other._forces.items()) and same(self.q0, other.q0)
            and same(self.v0, other.v0) and self.ignored == other.ignored and self._off == other._off
            and self.keyframes.keys() == other.keyframes.keys()
            and all(all(map(same, state, other.keyframes[name])) for name, state in self.keyframes.items())
            and list(self._actuators.items()) == list(other._actuators.items())
            and same(self.command0, other.command0) and self.commands.keys() == other.commands.keys()
            and all(same(command, other.commands[name]) for name, command in self.commands.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        bodies = "1 body" if self.nb == 1 else f"{self.nb} bodies"
        missing = sorted({body.parent for body in self._bodies if body.parent is not None} - self._index.keys())
        closed = f", {listed(self._loops)}" if self._loops else ""
        awaited = f", no body yet for the parent {', '.join(map(repr, missing))}" if missing else ""
        driven = f", nu = {self.nu}" if self.nu else ""
        sizes = f"{bodies}, nq = {self.nq}, nv = {self.nv}{driven}, {self.total_mass:g} kg"
        return f"<Model '{self.name}': {sizes}{closed}{awaited}>"

    def __str__(self) -> str:
        return drawn(self, self._width())

    def _repr_html_(self) -> str:
        """Draw the tree for a notebook."""
        return html(self, self._width())

    def _append(self, body: Body) -> None:
        self._index.setdefault(body.name, len(self._bodies))
        self._bodies.append(body)
        self._changed()

    def _width(self) -> int | None:
        """Return how many numbers the widest front has in eliminating rows; None without loops, or with faults."""
        from leastaction.closures import width

        return width(self) if self._loops else None

    def _add(self, loop: Loop | Coupling) -> None:
        self._loops = (*self._loops, loop)
        self._changed()

    def _refuse_loops(self, who: str, instead: str = "la.simulate and la.Simulator with la.Variational() do") -> None:
        """Raise a ModelError if loops or couplings act, which ``who`` does not keep."""
        if self._loops:
            names = ", ".join(f"'{loop.name}'" for loop in self._loops[:5]) + (", …" if len(self._loops) > 5 else "")
            raise ModelError(f"model '{self.name}' has loops or couplings ({names}), and {who} does not keep them: "
                             f"{instead}")

    def _changed(self) -> None:
        self._revision += 1
        self._layout = None


def _nearly_unit(quaternion: np.ndarray) -> np.ndarray:
    """Remove round-off from the norm; what is further off is left for `validate` to name."""
    norm = math.hypot(*quaternion.tolist())
    if norm == 1 or not abs(norm - 1) <= UNIT_TOLERANCE:
        return quaternion
    unit = quaternion / norm
    unit.flags.writeable = False
    return unit
