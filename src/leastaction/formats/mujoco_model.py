"""A model from a compiled MuJoCo model.

MuJoCo moves a body by its joints one after the other, each about an anchor that need not be the body's origin. Here a
body has one joint and its frame stands in it, so every joint but the last gets a massless body, and frames are moved
to the anchors. Angles and displacements keep MuJoCo's numbers: the reference is put into the placement.
"""

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leastaction.errors import ModelError
from leastaction.formats.convert import mujoco_names
from leastaction.formats.findings import Findings
from leastaction.formats.mujoco_actuators import add_actuators
from leastaction.formats.mujoco_equality import add_equalities
from leastaction.formats.mujoco_geometry import shapes_of
from leastaction.formats.mujoco_notes import note_all
from leastaction.model import Ball, Fixed, Free, Geometry, Inertia, Joint, Model, Prismatic, Revolute
from leastaction.model.arrays import about, product, rotated, rotation_matrix

FREE, BALL, SLIDE, HINGE = range(4)   # mjtJoint
NOWHERE, STANDING = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])


def require_mujoco() -> Any:
    """Import MuJoCo, or say how to get it."""
    if find_spec("mujoco") is None:
        raise ModelError("MJCF files are compiled by MuJoCo: pip install 'leastaction[models]'")
    return import_module("mujoco")


def from_mujoco(
    mjmodel: Any,
    *,
    root: str = "auto",
    gravity: ArrayLike | None = None,
    ignore: str | Iterable[str] = (),
    actuators: bool = True,
    strict: bool = False,
) -> Model:
    """Make a model of a compiled MuJoCo model; q keeps MuJoCo's numbers and order.

    Parameters
    ----------
    mjmodel : mujoco.MjModel
    root : "fixed" welds bodies with a free joint to the ground, "free" frees trees that stand on it; "auto": neither
    gravity : (3,) acceleration of free fall, world frame, m/s^2; None for MuJoCo's
    ignore : words for what may be left out, as in `load`
    actuators : whether actuators act, as far as there are such here
    strict : whether what would be a warning is an error
    """
    if root not in ("auto", "fixed", "free"):
        raise ValueError(f"root must be 'auto', 'fixed' or 'free', not {root!r}")
    name = mjmodel.names.split(b"\0", 1)[0].decode() or "mujoco"
    findings = Findings(name, ignore)
    return findings.settle(build(mjmodel, findings, root, gravity, None, name, actuators), strict)


def build(
    mj: Any, findings: Findings, base: str, gravity: ArrayLike | None, parents: list[int] | None, name: str,
    actuators: bool,
) -> Model:
    """Make a model of a compiled one; `parents` (nbody,) replaces its tree if given."""
    note_all(mj, findings)
    model = Model(mj.opt.gravity * _enabled(mj, "GRAVITY") if gravity is None else gravity, name)
    Builder(mj, model, base, parents).run(findings, actuators)
    return model


class Move(NamedTuple):
    """A joint and where it stands in the frame of its MuJoCo body: anchor (3,), then slip (3,), then twist (4,)."""

    joint: Joint
    anchor: np.ndarray = NOWHERE
    slip: np.ndarray = NOWHERE
    twist: np.ndarray = STANDING


class Builder:
    """Fills a model from a compiled one, body by body.

    Parameters
    ----------
    mj : mujoco.MjModel
    model : to fill
    base : "auto", "fixed" or "free"
    parents : (nbody,) the tree, if it is not that of mj
    """

    def __init__(self, mj: Any, model: Model, base: str, parents: list[int] | None) -> None:
        self.mj, self.model, self.base = mj, model, base
        self.parents = mj.body_parentid.tolist() if parents is None else parents
        self.bodies, self.joints = mujoco_names(mj, "body"), mujoco_names(mj, "jnt")
        self.ids = {name: j for j, name in enumerate(self.joints)}
        self.taken = set(self.bodies) | self.ids.keys()
        self.shift = np.zeros((mj.nbody, 3))     # from MuJoCo's body frame to ours, body axes
        self.carried = [""] * mj.njnt            # body that each joint carries
        self.freed: dict[str, np.ndarray] = {}   # free joints that the file does not have: where their bodies start
        self.springs, self.dampers = _enabled(mj, "SPRING"), _enabled(mj, "DAMPER")

    def run(self, findings: Findings, actuators: bool) -> None:
        """Add all bodies, the actuators if they are to act, and the states of the file."""
        shapes = shapes_of(self.mj)
        to_free = self._trees_to_free() if self.base == "free" else set()
        if self.base == "free" and not to_free and not (self.mj.jnt_type == FREE).any():
            findings.fault(None, "no tree can be freed: its bodies stand on the ground by joints of their own")
        if shapes[0]:
            self.model.add_body(self.bodies[0], geometry=shapes[0])
        for b in range(1, self.mj.nbody):
            self._add(b, shapes[b], b in to_free)
        if _enabled(self.mj, "EQUALITY"):
            flat = self.parents != self.mj.body_parentid.tolist()
            add_equalities(self.mj, self.model, findings, self.shift, self.bodies, self.carried, flat)
        states = [self._state(q, v) for q, v in zip(self.mj.key_qpos, self.mj.key_qvel, strict=True)]
        names = [self.mj.key(k).name or f"key{k}" for k in range(self.mj.nkey)]
        self.model.keyframes = dict(zip(names, states, strict=True))
        self.model.q0, self.model.v0 = states[0] if states else self._state(self.mj.qpos0, np.zeros(self.mj.nv))
        driven = add_actuators(self.mj, self.model, findings, self.joints, actuators)
        if driven and states:
            self.model.commands = {name: ctrl[driven] for name, ctrl in zip(names, self.mj.key_ctrl, strict=True)}
            self.model.command0 = self.model.commands[names[0]]

    def _add(self, b: int, shapes: list[Geometry], free: bool) -> None:
        """Add a body, and a massless one for every joint of it but the last."""
        mj, above = self.mj, self.parents[b]
        parent = self.bodies[above] if above else None
        moves = self._moves(b, free)
        place, turn = mj.body_pos[b] - self.shift[above], mj.body_quat[b]
        if isinstance(moves[0].joint, Free):   # its q is the pose in the world
            place, turn = NOWHERE, STANDING
        at = NOWHERE
        for move in moves:
            position = place + np.array(rotated(turn, move.anchor + move.slip - at))
            quaternion = np.array(product(turn, move.twist))
            place, turn, at = NOWHERE, STANDING, move.anchor
            last = move is moves[-1]
            word = self.bodies[b] if last else self._unused(f"{self.bodies[b]}.{move.joint.name}")
            if move.joint.name in self.ids:
                self.carried[self.ids[move.joint.name]] = word
            if not last:
                self.model.add_body(word, parent, move.joint, position, quaternion)
                parent = word
        self.shift[b] = at
        inertia = Inertia(mj.body_mass[b], matrix=np.diag(mj.body_inertia[b]))
        self.model.add_body(
            self.bodies[b], parent, moves[-1].joint, position, quaternion,
            inertia.moved(mj.body_ipos[b] - at, mj.body_iquat[b]),
            [replace(shape, position=shape.position - at) for shape in shapes],
        )

    def _moves(self, b: int, free: bool) -> list[Move]:
        """List the joints of a body."""
        ids = range(self.mj.body_jntadr[b], self.mj.body_jntadr[b] + self.mj.body_jntnum[b])
        if free:
            name = self._unused(f"{self.bodies[b]}_free")
            self.freed[name] = np.concatenate([self.mj.body_pos[b], self.mj.body_quat[b]])
            return [Move(Free(name=name))]
        if not ids or (self.base == "fixed" and self.mj.jnt_type[ids[0]] == FREE):
            return [Move(Fixed())]
        return [self._move(j) for j in ids]

    def _move(self, j: int) -> Move:
        """Read a joint."""
        mj = self.mj
        kind, dof, at = mj.jnt_type[j], mj.jnt_dofadr[j], mj.jnt_qposadr[j]
        said: dict[str, Any] = {
            "name": self.joints[j], "armature": mj.dof_armature[dof], "friction": mj.dof_frictionloss[dof],
            "damping": mj.dof_damping[dof] * self.dampers, "stiffness": mj.jnt_stiffness[j] * self.springs,
            "limits": tuple(mj.jnt_range[j]) if mj.jnt_limited[j] else None,
        }
        if mj.jnt_actfrclimited[j]:
            said["effort_limit"] = abs(mj.jnt_actfrcrange[j]).max()
        if kind == FREE:
            return Move(Free(**said, rest=mj.qpos_spring[at : at + 7]))
        if kind == BALL:
            if mj.jnt_limited[j] and mj.jnt_range[j, 1] >= np.pi:  # no rotation is by a greater angle
                said["limits"] = None
            return Move(Ball(**said, rest=mj.qpos_spring[at : at + 4]), mj.jnt_pos[j])
        axis, reference = mj.jnt_axis[j], mj.qpos0[at]
        if kind == SLIDE:
            return Move(Prismatic(axis, **said, rest=mj.qpos_spring[at]), slip=-reference * axis)
        return Move(Revolute(axis, **said, rest=mj.qpos_spring[at]), mj.jnt_pos[j], twist=about(axis, -reference))

    def _trees_to_free(self) -> set[int]:
        """Find the bodies that stand rigidly on the world and carry joints."""
        top = list(range(self.mj.nbody))
        for b in range(1, self.mj.nbody):
            top[b] = b if self.parents[b] == 0 else top[self.parents[b]]
        moving = {top[b] for b in self.mj.jnt_bodyid.tolist()}
        return {b for b in moving if not self.mj.body_jntnum[b]}

    def _state(self, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bring a state of MuJoCo, (nq,) and (nv,), to the layout of the model."""
        q, v = self.model.layout.neutral(), np.zeros(self.model.nv)
        for b, body in enumerate(self.model.bodies):
            mine, rates = self.model.layout.q_slice(b), self.model.layout.v_slice(b)
            joint = body.joint
            if joint.name in self.freed:
                q[mine] = self.freed[joint.name]
            elif joint.nv:
                j = self.ids[joint.name]
                q[mine] = qpos[self.mj.jnt_qposadr[j] :][: joint.nq]
                v[rates] = qvel[self.mj.jnt_dofadr[j] :][: joint.nv]
            if isinstance(joint, Free):   # MuJoCo: linear in world axes, then angular in body axes
                linear, angular = np.split(v[rates].copy(), 2)
                v[rates] = np.concatenate([angular, rotation_matrix(unit(q[mine][3:])).T @ linear])
            if joint.quaternion_at is not None:
                start = mine.start + joint.quaternion_at
                q[start : start + 4] = unit(q[start : start + 4])
        return q, v

    def _unused(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


def _enabled(mj: Any, force: str) -> bool:
    """Tell whether a force is not switched off; older versions of MuJoCo have one flag for all passive forces."""
    bits = require_mujoco().mjtDisableBit
    bit = getattr(bits, f"mjDSBL_{force}", None) or bits.mjDSBL_PASSIVE
    return not mj.opt.disableflags & int(bit)


def unit(quaternion: np.ndarray) -> np.ndarray:
    """Normalise a quaternion (4,); one of zeros, which MuJoCo reads as no turn, becomes that."""
    norm = np.linalg.norm(quaternion)
    return quaternion / norm if norm else STANDING
