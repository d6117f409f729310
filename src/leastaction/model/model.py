"""The description of a system: a tree of bodies, and what acts on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.errors import ModelError
from leastaction.model import model_data
from leastaction.model.actuators import Actuator
from leastaction.model.arrays import as_array
from leastaction.model.body_tree import BodyTree
from leastaction.model.drives import Drives, admitted
from leastaction.model.force import Force
from leastaction.model.joint import Joint
from leastaction.model.loops import Coupling, Loop, Rod, closed_by, coupled
from leastaction.model.show import drawn, html, summary
from leastaction.model.unhonoured import Found, acting, settled, unhonoured
from leastaction.model.validation import validate


class Model(BodyTree):
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
        super().__init__(gravity, name)
        self._told: set[object] = set()
        self._warned: set[object] = set()  # shared with the copies of `without`
        self._forces: dict[str, Force] = {}
        self._notes: Found = {}
        self._off: frozenset[str] = frozenset()
        self.keyframes: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.commands: dict[str, np.ndarray] = {}
        self._actuators: dict[str, Actuator] = {}
        self._command0: np.ndarray | None = None
        self._drives: tuple[int, Drives] | None = None
        self._loops: tuple[Loop | Coupling, ...] = ()

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
        loop = closed_by(name, body, other, joint, (position, quaternion), (other_position, other_quaternion))
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
        coupling = coupled(name, joint, to, coefficients, reference)
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

        Commands (nu,) are in the order in which actuators were added. Several on one degree of freedom add up; without
        an effort of their own they share the limit of the joint, and servos with bounds of their own are refused there.

        Parameters
        ----------
        name : unique among the actuators
        actuator : la.PD(...), la.Velocity(...) or la.Motor(...)
        """
        actuator = admitted(self, name, actuator)
        self._actuators = {**self._actuators, name: actuator}
        self._command0 = None if self._command0 is None else np.append(self._command0, 0.0)
        self.commands = {key: np.append(command, 0.0) for key, command in self.commands.items()}
        self._changed()
        return actuator

    @property
    def actuators(self) -> Mapping[str, Actuator]:
        """All actuators by name, in the order added; read-only."""
        return MappingProxyType(self._actuators)

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
    def loops(self) -> tuple[Loop | Coupling, ...]:
        """All closures and couplings, in the order added."""
        return self._loops

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
        self._warned.clear()

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
        off = acting(self._bodies, ignore) - self.switched_off
        if not off:
            return self
        other = copy(self)
        other._bodies, other._index, other._told = list(self._bodies), dict(self._index), set(self._told)
        other.keyframes, other._off = dict(self.keyframes), self._off | off
        settled(other)  # whoever asks for it knows
        return other

    def validate(self, strict: bool = False) -> None:
        """Raise a ModelError that lists everything wrong with the model.

        Parameters
        ----------
        strict : whether inertias that no rigid body can have (triangle inequality) are errors, not warnings
        """
        validate(self, strict)

    def to_dict(self) -> dict[str, Any]:
        """Write the model down as plain data that JSON can hold: all that it is made of, exactly."""
        return model_data.written(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Model:
        """Make the model that `to_dict` wrote down; keys that mean nothing are errors."""
        model = cls()
        model_data.read(model, data)
        return model

    def __eq__(self, other: object) -> bool:
        return model_data.equal(self, other) if isinstance(other, Model) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return summary(self)

    def __str__(self) -> str:
        return drawn(self, self._elimination())

    def _repr_html_(self) -> str:
        """Draw the tree for a notebook."""
        return html(self, self._elimination())

    def _elimination(self) -> str | None:
        """Say how rows of loops are eliminated; None without loops, or with faults."""
        from leastaction.closures import elimination

        return elimination(self) if self._loops else None

    def _add(self, loop: Loop | Coupling) -> None:
        self._loops = (*self._loops, loop)
        self._changed()

    def _refuse_loops(self, who: str, instead: str = "la.simulate and la.Simulator with la.Variational() do") -> None:
        """Raise a ModelError if loops or couplings act, which ``who`` does not keep."""
        if self._loops:
            names = ", ".join(f"'{loop.name}'" for loop in self._loops[:5]) + (", …" if len(self._loops) > 5 else "")
            raise ModelError(f"model '{self.name}' has loops or couplings ({names}), and {who} does not keep them: "
                             f"{instead}")
