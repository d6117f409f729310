"""The actuators of a model as numbers: which servo every driven degree of freedom has, and what commands ask of it.

A servo exerts clip(kp (target − q) + kd (rate − v), ±effort). Actuators without bounds on the same degree of freedom
add up to one servo. A motor is a force that does not depend on the motion; where it shares the bound of its joint with
a servo, it becomes part of the servo, as a shift of its target or rate, so that the sum is clipped exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from leastaction.errors import ModelError
from leastaction.model.actuators import PD, Actuator, Motor, Velocity
from leastaction.model.joint import SCREW, Joint

if TYPE_CHECKING:
    from leastaction.model.model import Model

Array = np.ndarray


class Servos(NamedTuple):
    """The driven degrees of freedom with feedback, ns of them, those of parents before those of their children.

    q, v : (ns,) where they are in q and in v
    kp : (ns,) N m/rad or N/m
    kd : (ns,) N m s/rad or N s/m
    effort : (ns,) largest force, N m or N; infinite for no bound
    """

    q: Array
    v: Array
    kp: Array
    kd: Array
    effort: Array


class Drives:
    """What the commands (nu,) of a model ask of its joints.

    Attributes
    ----------
    nu : number of commands, one for each actuator
    servos : the degrees of freedom with feedback
    """

    def __init__(self, model: Model) -> None:
        actuators, named = list(model.actuators.values()), list(model.actuators)
        self.nu, self.nv = len(actuators), model.nv
        at = [place(model, one) for one in actuators]
        dofs = np.array([v for _, v in at], dtype=int)
        names = model.names
        rank = {names[b]: k for k, b in enumerate(model.order())}  # which is the order of the kernels' links
        groups: dict[int, list[int]] = {}
        for a in sorted(range(self.nu), key=lambda a: (rank[actuators[a].joint], actuators[a].dof)):
            groups.setdefault(int(dofs[a]), []).append(a)
        faults = [text for group in groups.values()
                  for text in conflict(model, {named[a]: actuators[a] for a in group})]
        if faults:
            raise ModelError(faults)
        ranges = np.array([one.command_range or (-math.inf, math.inf) for one in actuators]).reshape(-1, 2)
        self._low, self._high = ranges[:, 0].copy(), ranges[:, 1].copy()
        self._dof, self._scale = dofs, np.zeros(self.nu)  # of motors: gear; of servos: share of a target or of a rate
        self._servo = np.full(self.nu, -1)
        self._rates = np.array([isinstance(one, Velocity) for one in actuators], dtype=bool)
        self._motors = np.array([isinstance(one, Motor) for one in actuators], dtype=bool)
        self._own = np.full(self.nu, math.inf)  # effort of each motor by itself
        self._bound = np.full(self.nv, math.inf)  # of the motors that leave theirs to the joint, in sum
        self._shared = np.zeros(self.nu, dtype=bool)
        self._into: dict[int, int] = {}  # degrees of freedom whose shared motors are part of a servo
        rows: list[tuple[float, ...]] = []
        for dof, group in groups.items():
            servo = self._add(model, actuators, dof, group, len(rows))
            rows += [] if servo is None else [(at[group[0]][0], dof, *servo)]
        table = np.array(rows).reshape(-1, 5)
        whole = table[:, :2].astype(int)
        self.servos = Servos(whole[:, 0].copy(), whole[:, 1].copy(), *(table[:, k].copy() for k in (2, 3, 4)))

    def _add(self, model: Model, actuators: list[Actuator], dof: int, group: list[int], number: int
             ) -> tuple[float, float, float] | None:
        """Note the actuators of one degree of freedom. Gives kp, kd and effort of its servo, which has this number."""
        limit = _limit(model, actuators[group[0]])
        servos = [a for a in group if not self._motors[a]]
        for a in group:
            one = actuators[a]
            self._shared[a] = one.effort is None and limit < math.inf
            if self._motors[a]:
                self._scale[a] = one.gear
                self._own[a] = math.inf if one.effort is None else one.effort
        if not servos:
            self._bound[dof] = limit
            return None
        kp = sum(getattr(actuators[a], "kp", 0.0) for a in servos)
        kd = sum(actuators[a].kd for a in servos)  # type: ignore[attr-defined]
        effort = min(limit if actuators[a].effort is None else actuators[a].effort for a in servos)
        for a in servos:
            one = actuators[a]
            own, of_all = (one.kp, kp) if isinstance(one, PD) else (one.kd, kd)  # type: ignore[attr-defined]
            self._servo[a] = number
            self._scale[a] = own / (of_all * one.gear) if own else 0.0
        if self._shared[servos[0]]:
            self._into[dof] = number
        else:
            self._bound[dof] = limit
        return kp, kd, effort

    @property
    def has_motors(self) -> bool:
        """Whether some actuator is a motor: then commands are joint forces, too."""
        return bool(self._motors.any())

    def idle(self, command: Any) -> bool:
        """Tell whether nothing is exerted whatever the motion: there are but motors, and commands are zero or None."""
        return not len(self.servos.q) and not callable(command) and (command is None or not np.any(command))

    def asked(self, commands: Array) -> tuple[Array, Array]:
        """Turn commands (R, nu) into targets and rates of the servos (R, 2 ns), and joint forces of motors (R, nv)."""
        rows, ns = len(commands), len(self.servos.q)
        values = np.clip(commands, self._low, self._high) * self._scale
        target = np.zeros((rows, 2 * ns))
        follow = ~self._motors
        np.add.at(target.T, (ns * self._rates + self._servo)[follow], values.T[follow])
        tau = np.zeros((rows, self.nv))
        if self.has_motors:
            self._add_motors(values, target, tau)
        return target, tau

    def _add_motors(self, values: Array, target: Array, tau: Array) -> None:
        """Add the forces of motors, each within its own bound, to tau (R, nv) or to the target of a servo."""
        forces = np.clip(values, -self._own, self._own)
        alone = self._motors & ~self._shared
        np.add.at(tau.T, self._dof[alone], forces.T[alone])
        shared = np.zeros_like(tau)
        both = self._motors & self._shared
        np.add.at(shared.T, self._dof[both], forces.T[both])
        for dof, servo in self._into.items():
            kp, kd = self.servos.kp[servo], self.servos.kd[servo]
            target[:, servo if kp else len(self.servos.q) + servo] += shared[:, dof] / (kp or kd)
            shared[:, dof] = 0.0
        tau += np.clip(shared, -self._bound, self._bound)

    def forces(self, q: Array, v: Array, command: Array) -> Array:
        """Joint forces (nv,) of all actuators at q (nq,) and v (nv,), by the commands (nu,)."""
        s = self.servos
        asked, tau = self.asked(command[None])
        target, rate = asked.reshape(2, len(s.q))
        np.add.at(tau[0], s.v, np.clip(s.kp * (target - q[s.q]) + s.kd * (rate - v[s.v]), -s.effort, s.effort))
        found: Array = tau[0]
        return found


def place(model: Model, actuator: Actuator) -> tuple[int, int]:
    """Tell where the driven degree of freedom is in q and in v, or raise a ModelError."""
    body = model.body_index(actuator.joint)
    joint, name = model.bodies[body].joint, model.names[body]
    if not isinstance(joint, Joint) or joint.faults():
        raise ModelError(f"the joint of '{name}' has faults, which model.validate() names")
    parts = joint.parts()
    if not parts:
        raise ModelError(f"the joint of '{name}' is fixed, so nothing can drive it: give it a joint that moves")
    if any(part.kind != SCREW for part in parts):
        kind = type(joint).__name__.lower()
        raise ModelError(f"the joint of '{name}' is a {kind} joint, which has no angle to servo: drive it by "
                         "la.simulate(control=...) or wrench=..., or build it of joints with one degree of freedom")
    if actuator.dof >= len(parts):
        raise ModelError(f"the joint of '{name}' has {len(parts)} degree{'s' * (len(parts) > 1)} of freedom, so there "
                         f"is no dof {actuator.dof}")
    return int(model.layout.q_start[body]) + actuator.dof, int(model.layout.v_start[body]) + actuator.dof


def admitted(model: Model, name: str, actuator: Actuator) -> Actuator:
    """Return an actuator as the model takes it, or raise a ModelError that says why it cannot."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"the name of an actuator must be text, not {name!r}")
    if not isinstance(actuator, Actuator):
        raise ModelError(f"actuator '{name}' must be la.PD(...), la.Velocity(...) or la.Motor(...), not {actuator!r}")
    others = model.actuators
    if name in others:
        raise ModelError(f"there is an actuator '{name}' already: give each its own name")
    try:
        at = place(model, actuator)
    except ModelError as error:
        raise ModelError(f"actuator '{name}': {error}") from None
    # The name of a joint could become that of another body later.
    actuator = replace(actuator, joint=model.names[model.body_index(actuator.joint)])
    beside = {other: one for other, one in others.items() if one.joint == actuator.joint and place(model, one) == at}
    faults = list(conflict(model, {**beside, name: actuator}))
    if faults:
        raise ModelError(faults)
    return actuator


def conflict(model: Model, group: Mapping[str, Actuator]) -> Iterable[str]:
    """List why the actuators of one degree of freedom, by name, cannot act together; nothing if they can."""
    limit = _limit(model, next(iter(group.values())))
    joint = next(iter(group.values())).joint
    for name, one in group.items():
        if one.effort is None and limit == 0:
            yield (f"actuator '{name}': the effort_limit of the joint of '{joint}' is 0, which lets it do nothing; "
                   "give the actuator its own effort=, which may be infinite")
    servos = {name: one for name, one in group.items() if not isinstance(one, Motor)}
    bounded = [name for name, one in servos.items() if (limit if one.effort is None else one.effort) < math.inf]
    shared = all(one.effort is None for one in servos.values())
    if len(servos) > 1 and bounded and not shared:
        yield (f"the joint of '{joint}' has the servos {', '.join(map(repr, servos))}, of which {bounded[0]!r} has a "
               "bounded effort: a sum of servos can only be bounded as a whole. Give them no effort=, and the joint an "
               "effort_limit")


def _limit(model: Model, actuator: Actuator) -> float:
    """Return the effort limit of the joint that an actuator drives, N m or N."""
    limit = model.bodies[model.body_index(actuator.joint)].joint.effort_limit
    return math.inf if limit is None else float(limit)
