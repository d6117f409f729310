"""The same model in MuJoCo: it is built and run there, and the result is in this library's layout."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leastaction.analysis.mujoco_loops import add_equalities, set_lengths
from leastaction.dynamics import forward_dynamics
from leastaction.errors import ModelError
from leastaction.formats.convert import joint_names
from leastaction.model import BALL, FREE, PD, Actuator, Body, Force, Model, Motor, Part, Spring, Thruster
from leastaction.model.arrays import product, rotation_matrix

Array = np.ndarray
GREATEST = 1e10  # command


def to_mujoco(model: Model) -> Any:
    """Build the MuJoCo model (an MjModel) of a model: bodies, joints, inertias, passive and other forces.

    There are no contacts. A joint is called as here, or after its body if it has no name; the parts of a universal or
    planar joint are joints of their own, NAME.0, NAME.1 and so on. A spring between bodies is a tendon, a steady
    thruster an actuator. Loops and couplings are equality constraints with MuJoCo's default softness. Actuators come
    first, have our names, and take our commands as their ctrl.
    `leastaction.convert` turns states into those of this model and back.

    MuJoCo's compiler refuses moving bodies without mass and inertias with a zero moment, such as a thin rod's, although
    the simulation itself needs neither. So all bodies are compiled with mass and moments of one, and get their own
    afterwards, exactly.

    Raises
    ------
    ModelError
        Naming what MuJoCo cannot have: helical joints, free joints below a body, some springs, fields and
        scheduled thrust, some loops, some bounds of several actuators on a joint; joints that move nothing
    """
    import mujoco

    model.validate()
    try:
        mj = _spec(mujoco, model).compile()
    except ModelError:
        raise
    except ValueError as why:
        raise ModelError(f"MuJoCo refuses the model '{model.name}': {' '.join(str(why).split())}") from None
    if model.nv:
        forward_dynamics(model, None, None)  # which names a joint that moves nothing; the first call compiles kernels
    for body in model.bodies:
        b = mj.body(body.name).id
        mj.body_mass[b], mj.body_inertia[b] = body.inertia.mass, _principal(mujoco, body)[0]
    with _quiet(mujoco):
        mujoco.mj_setConst(mj, mujoco.MjData(mj))
    set_lengths(mj, model)
    if mj.nv:
        mj.stat.meaninertia = mj.dof_M0.mean()
    return mj


def _spec(mujoco: Any, model: Model) -> Any:
    """Describe the model to MuJoCo, without its masses and moments."""
    spec = mujoco.MjSpec()
    spec.option.gravity = model.gravity
    spec.compiler.degree = False
    made: dict[str | None, Any] = {None: spec.worldbody}
    for body in (model.bodies[i] for i in model.order()):
        new = made[body.parent].add_body(name=body.name, pos=body.position, quat=body.quaternion)
        made[body.name] = new
        new.mass, new.inertia, new.explicitinertial = 1.0, np.ones(3), True
        new.ipos, new.iquat = body.inertia.com, _principal(mujoco, body)[1]
        for name, part in zip(joint_names(body), body.joint.parts(), strict=False):
            _add_joint(mujoco, new, name, part, body)
    for name, actuator in model.actuators.items():
        _add_actuator(mujoco, spec, model, name, actuator)
    for name, force in model.forces.items():
        _add_force(mujoco, spec, made, name, force)
    add_equalities(mujoco, spec, made, model)
    return spec


def _add_actuator(mujoco: Any, spec: Any, model: Model, name: str, one: Actuator) -> None:
    """Add an actuator; MuJoCo bounds each by itself, and the sum of all on a joint."""
    body = model.bodies[model.body_index(one.joint)]
    joint = joint_names(body)[one.dof]
    beside = [other for other in model.actuators.values() if (other.joint, other.dof) == (one.joint, one.dof)]
    shared = [other.effort is None for other in beside]
    limit = body.joint.effort_limit
    effort = limit if one.effort is None and len(beside) == 1 else one.effort
    if limit is not None and len(beside) > 1 and any(shared):
        if not all(shared):
            raise ModelError(f"MuJoCo bounds the sum of all actuators on the joint of '{body.name}', or each alone, "
                             "not the sum of some: give all of them an effort, or none")
        sum_of = next(joint_ for joint_ in spec.joints if joint_.name == joint)
        sum_of.actfrclimited, sum_of.actfrcrange = True, (-limit, limit)
    gain, kp, kd = one.gear, getattr(one, "kp", 0.0), getattr(one, "kd", 0.0)
    if not isinstance(one, Motor):
        gain = (kp if isinstance(one, PD) else kd) / one.gear
    new = spec.add_actuator(name=name, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    new.gaintype, new.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
    new.gainprm[:3], new.biasprm[:3] = (gain, 0.0, 0.0), (0.0, -kp, -kd)
    if effort is not None and effort < np.inf:
        new.forcelimited, new.forcerange = True, (-effort, effort)
    if one.command_range is not None:
        ends = np.clip(one.command_range, -GREATEST, GREATEST)  # MuJoCo's ranges are finite
        new.ctrllimited, new.ctrlrange = True, ends


def _add_force(mujoco: Any, spec: Any, made: dict[str | None, Any], name: str, force: Force) -> None:
    """Add a spring as a tendon between two sites, a steady thruster as an actuator without a control."""
    if isinstance(force, Spring):
        ends = ((force.body, force.point), (force.other, force.other_point))
        tendon = spec.add_tendon(name=name)
        tendon.springlength = [force.rest, force.rest]
        for word in ("stiffness", "damping"):
            _set_linear(tendon, word, getattr(force, word))
        for k, (body, point) in enumerate(ends):
            made[body].add_site(name=f"{name}.{k}", pos=point)
            tendon.wrap_site(f"{name}.{k}")
    elif isinstance(force, Thruster) and not isinstance(force.thrust, tuple) and force.burns is None:
        made[force.body].add_site(name=name, pos=force.point)
        size = float(np.linalg.norm(force.direction))
        push = [force.thrust * x / size for x in force.direction]
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_SITE)
        actuator.gear = [*push, 0.0, 0.0, 0.0]
        actuator.gaintype, actuator.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        actuator.gainprm, actuator.biasprm = np.zeros(10), np.eye(10)[0]
    elif isinstance(force, Thruster):
        raise ModelError(f"MuJoCo has no thrust that follows a schedule, as the thruster '{name}' does: give it a "
                         "steady thrust, or drive it there by data.ctrl")
    else:
        raise ModelError(f"MuJoCo has nothing like the {force.kind} '{name}': leave it out to compare")


def _set_linear(target: Any, word: str, value: float) -> None:
    """Set a coefficient that is a number, or from MuJoCo 4 on the coefficients of a polynomial."""
    held = getattr(target, word)
    linear = np.append(value, np.zeros(np.size(held) - 1))
    setattr(target, word, linear if np.ndim(held) else float(linear[0]))


@contextmanager
def _quiet(mujoco: Any) -> Iterator[None]:
    """Stop MuJoCo from writing its warnings to a file in the working folder."""
    mujoco.set_mju_user_warning(lambda _: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(None)


def _principal(mujoco: Any, body: Body) -> tuple[Array, Array]:
    """Principal moments (3,) of a body, kg m², and the unit quaternion (4,) of their axes in its frame."""
    matrix, quaternion = body.inertia.matrix, np.array([1.0, 0.0, 0.0, 0.0])
    if not (matrix - np.diag(np.diag(matrix))).any():  # MuJoCo is faster where the axes are those of the body
        return np.diag(matrix), quaternion
    moments, axes = np.linalg.eigh(matrix)
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])  # right-handed
    mujoco.mju_mat2Quat(quaternion, axes.ravel())
    return np.maximum(moments, 0.0), quaternion


def _add_joint(mujoco: Any, new: Any, name: str, part: Part, body: Body) -> None:
    joint = new.add_joint(name=name, type=_kind(mujoco, part, body), armature=part.armature)
    for word in ("damping", "stiffness"):
        _set_linear(joint, word, getattr(part, word))
    if part.kind not in (BALL, FREE):
        joint.axis, joint.springref = part.turn + part.slide, float(part.rest[0])


def _kind(mujoco: Any, part: Part, body: Body) -> Any:
    kinds = mujoco.mjtJoint
    if part.kind == FREE and body.parent is not None:
        raise ModelError(f"MuJoCo has no free joint below a body, as '{body.name}' has")
    if part.kind in (BALL, FREE):
        if part.torsion:
            raise ModelError(f"MuJoCo has no ball joint with bending and torsion apart, as '{body.name}' has")
        if part.stiffness:
            raise ModelError(f"MuJoCo's springs of ball and free joints differ from that of '{body.name}'")
        return kinds.mjJNT_BALL if part.kind == BALL else kinds.mjJNT_FREE
    if part.turn.any() and part.slide.any():
        raise ModelError(f"MuJoCo has no helical joint, as '{body.name}' has")
    return kinds.mjJNT_HINGE if part.turn.any() else kinds.mjJNT_SLIDE


class MujocoRun:
    """A run of a model by MuJoCo's default integrator.

    Parameters
    ----------
    model : the system
    q : (nq,) initial configuration, rad, m, unit quaternions; model.q0 if None
    v : (nv,) initial velocity, body axes for ball and free joints, rad/s, m/s; model.v0 if None
    dt : time step, s
    steps : number of steps
    every : keep the start and every so many steps
    command : (nu,) commands of the actuators, held throughout; model.command0 if None

    Attributes
    ----------
    q : (N, nq) configurations, rad, m, unit quaternions
    v : (N, nv) velocities, body axes for ball and free joints, rad/s, m/s
    cpu_seconds : CPU time of all steps, s
    """

    def __init__(self, model: Model, q: ArrayLike | None, v: ArrayLike | None, dt: float, steps: int,
                 every: int, command: ArrayLike | None = None) -> None:
        import mujoco

        self.mj = to_mujoco(model)
        self.mj.opt.timestep = dt
        self.mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET  # a run that breaks down must not be reset
        data = mujoco.MjData(self.mj)
        self._lay_out(model)
        self._set(data, *model.check_state(q, v))
        data.ctrl[: model.nu] = model.command0 if command is None else command
        kept, self.cpu_seconds = [self._get(data)], 0.0
        with _quiet(mujoco):
            for _ in range(steps // every):
                start = time.thread_time()
                mujoco.mj_step(self.mj, data, every)
                self.cpu_seconds += time.thread_time() - start
                kept.append(self._get(data))
        self.q, self.v = (np.array(part) for part in zip(*kept, strict=True))

    def _lay_out(self, model: Model) -> None:
        """Find where MuJoCo keeps our coordinates, and the free joints, for which it uses other axes."""
        self.to_q, self.to_v = np.zeros(model.nq, dtype=int), np.zeros(model.nv, dtype=int)
        self.free: list[tuple[int, int, Body]] = []
        at_q = at_v = 0
        for body in model.bodies:
            for name, part in zip(joint_names(body), body.joint.parts(), strict=False):
                joint = self.mj.joint(name)
                q, v = int(joint.qposadr[0]), int(joint.dofadr[0])
                self.to_q[at_q : at_q + part.nq] = np.arange(q, q + part.nq)
                self.to_v[at_v : at_v + part.nv] = np.arange(v, v + part.nv)
                if part.kind == FREE:
                    self.free.append((at_q, at_v, body))
                at_q, at_v = at_q + part.nq, at_v + part.nv

    def _set(self, data: Any, q: Array, v: Array) -> None:
        for at_q, at_v, body in self.free:  # our pose is relative to the placement, our velocities are in body axes
            q[at_q : at_q + 3] = body.position + rotation_matrix(body.quaternion) @ q[at_q : at_q + 3]
            q[at_q + 3 : at_q + 7] = product(body.quaternion, q[at_q + 3 : at_q + 7])
            turn = rotation_matrix(q[at_q + 3 : at_q + 7])
            v[at_v : at_v + 6] = np.concatenate([turn @ v[at_v + 3 : at_v + 6], v[at_v : at_v + 3]])
        data.qpos[self.to_q], data.qvel[self.to_v] = q, v

    def _get(self, data: Any) -> tuple[Array, Array]:
        q, v = data.qpos[self.to_q], data.qvel[self.to_v]
        for at_q, at_v, body in self.free:
            turn = rotation_matrix(q[at_q + 3 : at_q + 7])
            v[at_v : at_v + 6] = np.concatenate([v[at_v + 3 : at_v + 6], turn.T @ v[at_v : at_v + 3]])
            w, x, y, z = body.quaternion
            q[at_q : at_q + 3] = rotation_matrix(body.quaternion).T @ (q[at_q : at_q + 3] - body.position)
            q[at_q + 3 : at_q + 7] = product((w, -x, -y, -z), q[at_q + 3 : at_q + 7])
        return q, v
