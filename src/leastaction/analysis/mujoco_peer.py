"""The same model in MuJoCo, run there, and told in this library's layout."""

import time
from typing import Any

import numpy as np

from leastaction.model import BALL, FREE, Body, Model, Part
from leastaction.model.arrays import product, rotation_matrix

Array = np.ndarray


def to_mujoco(model: Model) -> Any:
    """Build the MuJoCo model (an MjModel) of a model: bodies, joints, inertias, springs and damping; no contacts.

    Raises
    ------
    ValueError
        Naming what MuJoCo cannot have: helical joints, free joints below a body, some springs.
    """
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.gravity = model.gravity
    made: dict[str | None, Any] = {None: spec.worldbody}
    for body in (model.bodies[i] for i in model.order()):
        new = made[body.parent].add_body(name=body.name, pos=body.position, quat=body.quaternion)
        made[body.name] = new
        if body.inertia.mass > 0:
            new.mass, new.ipos, new.explicitinertial = body.inertia.mass, body.inertia.com, True
            new.fullinertia = body.inertia.matrix[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        for k, part in enumerate(body.joint.parts()):
            joint = new.add_joint(name=f"{body.name}.{k}", type=_kind(mujoco, part, body), armature=part.armature)
            for name in ("damping", "stiffness"):
                held = getattr(joint, name)  # a number, or from MuJoCo 4 on the coefficients of a polynomial
                linear = np.append(getattr(part, name), np.zeros(np.size(held) - 1))
                setattr(joint, name, linear if np.ndim(held) else float(linear[0]))
            if part.kind not in (BALL, FREE):
                joint.axis, joint.springref = part.turn + part.slide, float(part.rest[0])
    spec.compiler.degree = False
    spec.compiler.balanceinertia = False
    return spec.compile()


def _kind(mujoco: Any, part: Part, body: Body) -> Any:
    kinds = mujoco.mjtJoint
    if part.kind == FREE and body.parent is not None:
        raise ValueError(f"MuJoCo has no free joint below a body, as '{body.name}' has")
    if part.kind in (BALL, FREE):
        if part.stiffness:
            raise ValueError(f"MuJoCo's springs of ball and free joints differ from that of '{body.name}'")
        return kinds.mjJNT_BALL if part.kind == BALL else kinds.mjJNT_FREE
    if part.turn.any() and part.slide.any():
        raise ValueError(f"MuJoCo has no helical joint, as '{body.name}' has")
    return kinds.mjJNT_HINGE if part.turn.any() else kinds.mjJNT_SLIDE


class MujocoRun:
    """A run of a model by MuJoCo's default integrator.

    Parameters
    ----------
    model : the system, from its default state
    dt : time step, s
    steps : number of steps
    every : keep the start and every so many steps

    Attributes
    ----------
    q : (N, nq) configurations, rad, m, unit quaternions
    v : (N, nv) velocities, body axes for ball and free joints, rad/s, m/s
    seconds_a_step : time of a step, called from Python, s
    """

    def __init__(self, model: Model, dt: float, steps: int, every: int) -> None:
        import mujoco

        self.mj = to_mujoco(model)
        self.mj.opt.timestep = dt
        self.mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET  # what breaks down is to stay broken
        data = mujoco.MjData(self.mj)
        self._lay_out(model)
        self._set(data, *model.check_state(None, None))
        kept, spent = [self._get(data)], 0.0
        mujoco.set_mju_user_warning(lambda _: None)  # which otherwise go to a file in the working folder
        try:
            for _ in range(steps // every):
                start = time.perf_counter()
                mujoco.mj_step(self.mj, data, every)
                spent += time.perf_counter() - start
                kept.append(self._get(data))
        finally:
            mujoco.set_mju_user_warning(None)
        self.q, self.v = (np.array(part) for part in zip(*kept, strict=True))
        self.seconds_a_step = spent / max(steps, 1)

    def _lay_out(self, model: Model) -> None:
        """Find where MuJoCo keeps our coordinates, and the free joints, which it sees differently."""
        self.to_q, self.to_v = np.zeros(model.nq, dtype=int), np.zeros(model.nv, dtype=int)
        self.free: list[tuple[int, int, Body]] = []
        at_q = at_v = 0
        for body in model.bodies:
            for k, part in enumerate(body.joint.parts()):
                joint = self.mj.joint(f"{body.name}.{k}")
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
