"""The model that MuJoCo gets has our mass matrix and our forces, whatever the joints and however thin the bodies."""

import mujoco
import numpy as np
import pytest

import leastaction as la
from leastaction.analysis.mujoco_peer import MujocoRun
from reference.forces import with_all_kinds
from reference.mechanisms import four_bar, gear_train
from reference.trees import random_state


def rods() -> la.Model:
    """Thin rods and a point mass on every kind of joint that can carry them, and a body without any mass."""
    model = la.Model(name="rods")
    rod = la.Inertia.rod(0.7, 0.5, com=(0, 0, -0.25))
    model.add_body("hinge", joint=la.Revolute((0, 1, 0)), inertia=rod)
    model.add_body("universal", "hinge", la.Universal((1, 0, 0), (0, 1, 0), name="cardan"), (0, 0, -0.5), inertia=rod)
    model.add_body("massless", "universal", la.Revolute((0, 1, 0)), (0, 0, -0.5))
    slanted = la.Inertia.rod(0.3, 0.4, axis=(1, 2, 3), com=(0, 0.1, 0))
    model.add_body("slanted", "massless", la.Revolute((1, 0, 0)), inertia=slanted)
    model.add_body("planar", None, la.Planar((1, 0, 0), (0, 0, 1)), (1, 0, 0), inertia=rod)
    model.add_body("point", "planar", la.Prismatic((0, 0, 1)), (0.1, 0.2, 0.3), inertia=la.Inertia(0.2, (0.1, 0, 0)))
    model.add_body("ball", None, la.Ball(armature=0.01), (0, 1, 0), inertia=rod)
    model.add_body("flying", None, la.Free(armature=0.01), (0, 2, 0), (0.6, 0, 0.8, 0), inertia=rod)
    return model


@pytest.mark.parametrize("seed", range(3))
def test_mass_matrix_and_forces_are_ours(seed):
    model = rods()
    mj = la.to_mujoco(model)
    data = mujoco.MjData(mj)
    q, v = random_state(np.random.default_rng(seed), model)
    data.qpos[:], data.qvel[:] = la.convert.to_mujoco(model, mj, q, v)
    mujoco.mj_forward(mj, data)
    B = la.convert.mujoco_basis(model, mj, q)
    M = np.zeros((mj.nv, mj.nv))
    mujoco.mj_fullM(mj, data, M)
    np.testing.assert_allclose(B.T @ M @ B, la.mass_matrix(model, q), atol=1e-14)
    np.testing.assert_allclose(mj.body_mass[1:], [body.inertia.mass for body in model.bodies])
    back = la.convert.from_mujoco(model, mj, data.qpos, data.qvel)
    np.testing.assert_allclose(np.abs(back[0]), np.abs(q), atol=1e-14)   # ±quaternions
    np.testing.assert_allclose(back[1], v, atol=1e-13)


def test_rods_move_in_mujoco_as_here():
    model = rods()
    q, v = random_state(np.random.default_rng(5), model)
    run = MujocoRun(model, q, v, 1e-5, 200, 100)
    ours = la.simulate(model, q, v, dt=1e-5, steps=200, record_every=100, integrator=la.RungeKutta4())
    assert np.abs(ours.v[-1] - ours.v[0]).max() > 1e-3
    np.testing.assert_allclose(run.v, ours.v, atol=2e-4)   # MuJoCo's step is of first order, and some links are light
    np.testing.assert_allclose(np.abs(run.q), np.abs(ours.q), atol=1e-6)


def test_a_mujoco_body_of_several_joints_survives_the_way_here_and_back():
    xml = """<mujoco><worldbody><body><joint name="a" type="slide" axis="1 0 0"/><joint name="b" axis="0 1 0"/>
    <joint name="c" axis="0 0 1" pos="0 0.1 0"/><inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.2 0.3 0.4"/></body>
    </worldbody></mujoco>"""
    theirs = mujoco.MjModel.from_xml_string(xml)
    model = la.from_mujoco(theirs)
    again = la.to_mujoco(model)
    q = np.array([0.3, -0.4, 0.5])
    matrices = []
    for mj in (theirs, again):
        data = mujoco.MjData(mj)
        data.qpos[:] = la.convert.to_mujoco(model, mj, q, np.zeros(3))[0]
        mujoco.mj_forward(mj, data)
        M = np.zeros((3, 3))
        mujoco.mj_fullM(mj, data, M)
        matrices.append(M)
    np.testing.assert_allclose(matrices[1], matrices[0], atol=1e-13)
    np.testing.assert_allclose(la.mass_matrix(model, q), matrices[0], atol=1e-13)


def test_what_mujoco_cannot_have_is_said_in_words():
    nut = la.Model()
    nut.add_body("nut", joint=la.Helical((0, 0, 1), 0.1), inertia=la.Inertia.sphere(1.0, 0.1))
    spinning = la.Model()
    spinning.add_body("needle", joint=la.Revolute((0, 0, 1)), inertia=la.Inertia.rod(1.0, 0.5))
    twice = la.Model(name="twice")
    twice.add_body("a", joint=la.Revolute((0, 1, 0), name="b"), inertia=la.Inertia.sphere(1.0, 0.1))
    twice.add_body("b", "a", joint=la.Revolute((0, 1, 0)), inertia=la.Inertia.sphere(1.0, 0.1))
    rod = la.Model()
    rod.add_body("rod", joint=la.Ball((0, 0, 1), stiffness=(2.0, 1.0)), inertia=la.Inertia.sphere(1.0, 0.1))
    for model, words in ((nut, "no helical joint, as 'nut' has"),
                         (rod, "no ball joint with bending and torsion apart, as 'rod' has"),
                         (spinning, "joint of body 'needle' has nothing to move"),
                         (twice, "MuJoCo refuses the model 'twice': .*repeated name 'b'")):
        with pytest.raises(la.ModelError, match=words):
            la.to_mujoco(model)


def test_springs_and_a_steady_thruster_act_in_mujoco_as_here():
    """Energy and accelerations at a random state; what MuJoCo has not is refused by name."""
    model = rods()
    model.add_force("tie", la.Spring("slanted", "flying", (0, 0.1, 0.2), (0.3, 0, 0), 40.0, 0.7, 3.0))
    model.add_force("leash", la.Spring("ball", None, (0, 0.1, 0.2), (0, 0, 2.0), 20.0, 0.5))
    model.add_force("jet", la.Thruster("flying", (1, 2, 2), 6.0, point=(0.1, 0, 0.2)))
    mj = la.to_mujoco(model)
    with_all_kinds(model)
    data = mujoco.MjData(mj)
    q, v = random_state(np.random.default_rng(1), model)
    data.qpos[:], data.qvel[:] = la.convert.to_mujoco(model, mj, q, v)
    mj.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    mujoco.mj_forward(mj, data)
    assert data.energy[0] == pytest.approx(la.potential_energy(model, q), rel=1e-12)
    B = la.convert.mujoco_basis(model, mj, q)
    theirs = B.T @ (data.qfrc_passive + data.qfrc_actuator)
    ours = la.inverse_dynamics(rods(), q, v, None) - la.inverse_dynamics(model, q, v, None)
    np.testing.assert_allclose(theirs, ours, atol=1e-11)
    for force, message in (
            (la.Thruster("ball", (0, 0, 1), 1.0, burns=[(0, 1)]), "schedule, as the thruster 'odd' does"),
            (la.Field(mu=1.0), "nothing like the field 'odd'")):
        other = rods()
        other.add_force("odd", force)
        with pytest.raises(la.ModelError, match=message):
            la.to_mujoco(other)


@pytest.mark.parametrize("closure", [la.Ball(), la.Revolute((0, 0, 1)), la.Rod(0.3), None], ids=str)
def test_loops_are_equality_constraints(closure):
    """MuJoCo finds our closed states closed and, with its constraints made stiff, accelerates them as we do."""
    model = gear_train() if closure is None else four_bar(closure)
    mj = la.to_mujoco(model)
    mj.eq_solimp[:], mj.eq_solref[:] = (0.9999, 0.9999, 0.001, 0.5, 2), (0.01, 1.0)
    mj.opt.tolerance, mj.opt.iterations = 1e-15, 500
    data = mujoco.MjData(mj)
    v = np.zeros(model.nv) if isinstance(closure, la.Rod) else model.v0  # MuJoCo's tendons know no centripetal term
    data.qpos[:], data.qvel[:] = la.convert.to_mujoco(model, mj, model.q0, v)
    mujoco.mj_forward(mj, data)
    assert len(data.efc_pos) and np.abs(data.efc_pos).max() < 1e-13 and np.abs(data.efc_vel).max() < 1e-13
    ours = la.convert.to_mujoco(model, mj, model.q0, la.forward_dynamics(model, model.q0, v))[1]
    np.testing.assert_allclose(data.qacc, ours, atol=5e-3 * np.abs(ours).max())


def test_a_weld_in_mujoco():
    model = la.Model()
    model.add_body("slab", None, la.Free(), inertia=la.Inertia.box(1.0, (0.1, 0.2, 0.3)))
    model.add_loop("glue", "slab", joint=la.Fixed(), position=(0.1, 0, 0), quaternion=(0.8, 0.6, 0, 0),
                   other_position=(1, 2, 3))
    q, _ = la.assemble(model)
    mj = la.to_mujoco(model)
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:] = la.convert.to_mujoco(model, mj, q, np.zeros(6))
    mujoco.mj_forward(mj, data)
    assert len(data.efc_pos) == 6 and np.abs(data.efc_pos).max() < 1e-13


def test_loops_that_mujoco_cannot_have():
    with pytest.raises(la.ModelError, match="MuJoCo has no equality constraint for loop 'pin', which is closed by a"):
        la.to_mujoco(four_bar(la.Cylindrical((0, 0, 1))))
