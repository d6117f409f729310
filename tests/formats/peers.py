"""What MuJoCo and Pinocchio, reading the file themselves, say of it, in the layout of our model."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

import leastaction as la
from leastaction.model import Model
from leastaction.model.arrays import rotation_matrix

pin = pytest.importorskip("pinocchio")    # there is none for some systems


def random_state(model: Model, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    q = rng.uniform(-2, 2, model.nq)
    for at in model.layout.quaternions:
        q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
    return q, rng.normal(size=model.nv)


class Pinocchio:
    """A URDF in Pinocchio, which knows no damping here."""

    def __init__(self, path: Path, free: bool) -> None:
        self.theirs = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if free else []))
        self.data = self.theirs.createData()

    def __call__(self, model: Model, q, v) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Mass matrix, bias forces without damping, kinetic energy, energy of gravity of what can move."""
        their_q, their_v = la.convert.to_pinocchio(model, self.theirs, q, v)
        B = la.convert.pinocchio_basis(model, self.theirs, q)
        M = pin.crba(self.theirs, self.data, their_q)
        M = np.triu(M) + np.triu(M, 1).T
        bias = pin.rnea(self.theirs, self.data, their_q, their_v, np.zeros(self.theirs.nv))
        kinetic = pin.computeKineticEnergy(self.theirs, self.data, their_q, their_v)
        potential = pin.computePotentialEnergy(self.theirs, self.data, their_q)
        return B.T @ M @ B, B.T @ bias, kinetic, potential


class Mujoco:
    """An MJCF file in MuJoCo, with what we do not honour switched off."""

    def __init__(self, path: Path) -> None:
        self.theirs = mj = mujoco.MjModel.from_xml_path(str(path))
        off = mujoco.mjtDisableBit
        mj.opt.disableflags |= off.mjDSBL_CONSTRAINT | off.mjDSBL_ACTUATION
        mj.opt.density = mj.opt.viscosity = 0
        mj.body_gravcomp[:] = 0
        for field in (mj.tendon_stiffness, mj.tendon_damping, mj.tendon_armature):
            field[:] = 0
        self.data = mujoco.MjData(mj)

    def __call__(self, model: Model, q, v) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Mass matrix, bias forces with springs and damping, kinetic energy, energy of gravity and springs."""
        mj, data = self.theirs, self.data
        data.qpos[:], data.qvel[:] = la.convert.to_mujoco(model, mj, q, v)
        mujoco.mj_forward(mj, data)
        B = la.convert.mujoco_basis(model, mj, q)
        M = np.zeros((mj.nv, mj.nv))
        mujoco.mj_fullM(mj, data, M)
        qacc = np.zeros(mj.nv)   # what it takes for our v, in body axes, to be constant
        for j in np.flatnonzero(mj.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
            at, dof = mj.jnt_qposadr[j], mj.jnt_dofadr[j]
            omega = rotation_matrix(data.qpos[at + 3 : at + 7]) @ data.qvel[dof + 3 : dof + 6]
            qacc[dof : dof + 3] = np.cross(omega, data.qvel[dof : dof + 3])
        mujoco.mj_energyPos(mj, data)
        mujoco.mj_energyVel(mj, data)
        return B.T @ M @ B, B.T @ (M @ qacc + data.qfrc_bias - data.qfrc_passive), data.energy[1], data.energy[0]


def damping(model: Model) -> np.ndarray:
    """The damping of each degree of freedom (nv,)."""
    return np.concatenate([np.broadcast_to(body.joint.damping, body.joint.nv) for body in model.bodies])


def assert_close(ours, theirs, scale: float = 0.0, tolerance: float = 1e-10) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert abs(ours - theirs).max() <= tolerance * max(abs(theirs).max(), scale)


def agree(model: Model, theirs: Pinocchio | Mujoco, states: int = 20, seed: int = 0) -> None:
    """Mass matrix, bias forces and energy agree at random states, and the states survive the way there and back."""
    rng = np.random.default_rng(seed)
    urdf = isinstance(theirs, Pinocchio)
    ground = None
    for _ in range(states):
        q, v = random_state(model, rng)
        M, bias, kinetic, potential = theirs(model, q, v)
        assert_close(la.mass_matrix(model, q), M)
        ours = la.inverse_dynamics(model, q, v, None) - (damping(model) * v if urdf else 0.0)
        # Forces that cancel are compared with those that do: centrifugal ones are of the size of M v².
        assert_close(ours, bias, scale=abs(M).max() * max(abs(v)) ** 2 * 1e-3)
        assert_close(la.kinetic_energy(model, q, v), kinetic)
        if urdf and ground is None:   # Pinocchio leaves out what is fixed to the ground
            ground = la.potential_energy(model, q) - potential
        weight = model.total_mass * np.linalg.norm(model.gravity)
        assert_close(la.potential_energy(model, q) - (ground or 0.0), potential, scale=weight)
        back = la.convert.from_pinocchio if urdf else la.convert.from_mujoco
        there = la.convert.to_pinocchio if urdf else la.convert.to_mujoco
        q_back, v_back = back(model, theirs.theirs, *there(model, theirs.theirs, q, v))
        assert_close(q_back, q)
        assert_close(v_back, v)
