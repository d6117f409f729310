"""States to and from the layouts of MuJoCo and Pinocchio.

Joints are matched by name (a joint without one by the name of its body), so the other program may have read the same
file in its own way. A joint of several parts may be several joints there, NAME.0, NAME.1 and so on, as `la.to_mujoco`
makes them. Both directions are exact but for round-off.

MuJoCo: a free joint is position and quaternion in the world; its velocity is linear in world axes, then angular in body
axes. Pinocchio: quaternions are (x, y, z, w); a free joint's velocity is linear, then angular, in body axes; continuous
joints are (cos, sin); a planar joint is (x, y, cos, sin) with its velocity in body axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leastaction.arguments import real_array
from leastaction.errors import ModelError
from leastaction.model import Body, Free, Model, Planar
from leastaction.model.arrays import product, rotated, rotation_matrix

Array = np.ndarray


class Match(NamedTuple):
    """A joint of ours and where the other program keeps its numbers: (nq,) and (nv,) indices of the joint's own."""

    body: Body
    q: slice
    v: slice
    their_q: Array
    their_v: Array


def to_mujoco(model: Model, mjmodel: Any, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Turn a state into MuJoCo's.

    Parameters
    ----------
    mjmodel : mujoco.MjModel with the joints of `model`
    q : (nq,) configuration, rad, m, unit quaternions
    v : (nv,) velocity, body axes for ball and free joints, rad/s, m/s

    Returns
    -------
    qpos (mjmodel.nq,) and qvel (mjmodel.nv,); joints that the model does not have stay at their reference
    """
    q, v = model.check_state(q, v)
    qpos = mjmodel.qpos0.copy()
    for match in _mujoco(model, mjmodel):
        qpos[match.their_q] = _in_world(match.body, q[match.q]) if isinstance(match.body.joint, Free) else q[match.q]
    return qpos, mujoco_basis(model, mjmodel, q) @ v


def from_mujoco(model: Model, mjmodel: Any, qpos: ArrayLike, qvel: ArrayLike) -> tuple[Array, Array]:
    """Turn a state of MuJoCo, qpos (mjmodel.nq,) and qvel (mjmodel.nv,), into q (nq,) and v (nv,)."""
    theirs, q = _sized(qpos, mjmodel.nq, "qpos"), np.zeros(model.nq)
    for match in _mujoco(model, mjmodel):
        local = theirs[match.their_q]
        q[match.q] = _in_placement(match.body, local) if isinstance(match.body.joint, Free) else local
    return model.check_state(q, mujoco_basis(model, mjmodel, q).T @ _sized(qvel, mjmodel.nv, "qvel"))


def mujoco_basis(model: Model, mjmodel: Any, q: ArrayLike) -> Array:
    """Return B (mjmodel.nv, nv), from our v to qvel; its columns are orthonormal, so tau = Bᵀ qfrc."""
    q = model.check_state(q, None)[0]
    B = np.zeros((mjmodel.nv, model.nv))
    for match in _mujoco(model, mjmodel):
        B[match.their_v, match.v] = np.eye(match.body.joint.nv)
        if isinstance(match.body.joint, Free):
            R = rotation_matrix(_in_world(match.body, q[match.q])[3:])
            B[match.their_v, match.v] = _swapped(R)
    return B


def to_pinocchio(model: Model, pinmodel: Any, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Turn a state into Pinocchio's.

    Parameters
    ----------
    pinmodel : pinocchio.Model with the joints of `model`
    q : (nq,) configuration, rad, m, unit quaternions
    v : (nv,) velocity, body axes for ball and free joints, rad/s, m/s

    Returns
    -------
    q (pinmodel.nq,) and v (pinmodel.nv,); joints that the model does not have stay at zero
    """
    q, v = model.check_state(q, v)
    theirs = np.zeros(pinmodel.nq)
    for match in _pinocchio(model, pinmodel):
        mine, joint = q[match.q], match.body.joint
        if joint.quaternion_at is not None:
            at = joint.quaternion_at
            mine = np.concatenate([mine[:at], np.roll(mine[at:], -1)])
        elif len(theirs[match.their_q]) == joint.nq + 1:   # the last angle is on a circle there
            mine = np.concatenate([mine[:-1], [np.cos(mine[-1]), np.sin(mine[-1])]])
        theirs[match.their_q] = mine
    return theirs, pinocchio_basis(model, pinmodel, q) @ v


def from_pinocchio(model: Model, pinmodel: Any, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Turn a state of Pinocchio, (pinmodel.nq,) and (pinmodel.nv,), into q (nq,) and v (nv,).

    The angles of continuous and planar joints come back between -pi and pi.
    """
    theirs, mine = _sized(q, pinmodel.nq, "q"), np.zeros(model.nq)
    for match in _pinocchio(model, pinmodel):
        local, joint = theirs[match.their_q], match.body.joint
        if joint.quaternion_at is not None:
            at = joint.quaternion_at
            local = np.concatenate([local[:at], np.roll(local[at:], 1)])
        elif len(local) == joint.nq + 1:
            local = np.concatenate([local[:-2], [np.arctan2(local[-1], local[-2])]])
        mine[match.q] = local
    return model.check_state(mine, pinocchio_basis(model, pinmodel, mine).T @ _sized(v, pinmodel.nv, "v"))


def pinocchio_basis(model: Model, pinmodel: Any, q: ArrayLike) -> Array:
    """Return B (pinmodel.nv, nv), from our v to Pinocchio's; its columns are orthonormal, so tau = Bᵀ theirs."""
    q = model.check_state(q, None)[0]
    B = np.zeros((pinmodel.nv, model.nv))
    for match in _pinocchio(model, pinmodel):
        joint = match.body.joint
        block = np.eye(joint.nv)
        if isinstance(joint, Free):
            block = _swapped(np.eye(3))
        elif isinstance(joint, Planar):
            c, s = np.cos(q[match.q][2]), np.sin(q[match.q][2])
            block[:2, :2] = [[c, s], [-s, c]]
        B[match.their_v, match.v] = block
    return B


def mujoco_names(mj: Any, kind: str) -> list[str]:
    """Name all bodies ("body"), joints ("jnt") or "actuator"s of an MjModel, those without a name by their number."""
    given = [bytes(mj.names[start : mj.names.index(b"\0", start)]).decode() for start in getattr(mj, f"name_{kind}adr")]
    taken, names = set(given), []
    for i, name in enumerate(given):
        word = name or f"{kind}{i}"
        while not name and word in taken:
            word += "_"
        taken.add(word)
        names.append(word)
    return names


def _mujoco(model: Model, mj: Any) -> Iterator[Match]:
    """Match our joints to those of MuJoCo."""
    ids = {name: j for j, name in enumerate(mujoco_names(mj, "jnt"))}
    sizes = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}

    def place(j: int) -> tuple[Array, Array]:
        nq, nv = sizes[int(mj.jnt_type[j])]
        return mj.jnt_qposadr[j] + np.arange(nq), mj.jnt_dofadr[j] + np.arange(nv)

    return _matched(model, ids, place, "MuJoCo")


def _pinocchio(model: Model, pinmodel: Any) -> Iterator[Match]:
    """Match our joints to those of Pinocchio."""
    ids = {name: j for j, name in enumerate(pinmodel.names) if j}

    def place(j: int) -> tuple[Array, Array]:
        joint = pinmodel.joints[j]
        return joint.idx_q + np.arange(joint.nq), joint.idx_v + np.arange(joint.nv)

    return _matched(model, ids, place, "Pinocchio")


def joint_names(body: Body) -> list[str]:
    """Name the joint of a body, or its parts where it has several, as `la.to_mujoco` does."""
    name, count = body.joint.name or body.name, len(body.joint.parts())
    return [name] if count == 1 else [f"{name}.{k}" for k in range(count)]


def _matched(
    model: Model, ids: dict[str, int], place: Callable[[int], tuple[Array, Array]], program: str
) -> Iterator[Match]:
    layout = model.layout
    for b, body in enumerate(model.bodies):
        if not body.joint.nv:
            continue
        wanted = body.joint.name or body.name
        choices = ([wanted], joint_names(body), [body.name])
        names = next((names for names in choices if all(name in ids for name in names)), None)
        if names is None:
            raise ModelError(f"{program}'s model has no joint '{wanted}'; is it of the same file?")
        places = [place(ids[name]) for name in names]
        their_q, their_v = np.concatenate([q for q, _ in places]), np.concatenate([v for _, v in places])
        if len(their_v) != body.joint.nv:
            raise ModelError(f"joint '{wanted}' has not {body.joint.nv} degrees of freedom in {program}'s model")
        yield Match(body, layout.q_slice(b), layout.v_slice(b), their_q, their_v)


def _sized(values: ArrayLike, size: int, name: str) -> Array:
    array = real_array(values, name)
    if array.shape != (size,):
        raise ValueError(f"{name} must have the shape ({size},), not {array.shape}")
    return array


def _swapped(R: Array) -> Array:
    """Return the matrix (6, 6) from (angular, linear) to (R linear, angular)."""
    zero = np.zeros((3, 3))
    return np.block([[zero, R], [np.eye(3), zero]])


def _in_world(body: Body, q: Array) -> Array:
    """Turn the q (7,) of a free joint into the pose of its body in the world."""
    if body.parent is not None:
        raise ModelError(f"body '{body.name}' has a free joint on another body, which MuJoCo has not")
    turn = product(body.quaternion, q[3:])
    return np.concatenate([body.position + np.array(rotated(body.quaternion, q[:3])), turn])


def _in_placement(body: Body, pose: Array) -> Array:
    """Turn the pose (7,) of a body in the world into the q of its free joint."""
    w, x, y, z = body.quaternion
    back = (w, -x, -y, -z)
    return np.concatenate([rotated(back, pose[:3] - body.position), product(back, pose[3:])])
