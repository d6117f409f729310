"""The four-bar of mechanisms.py in other libraries: each makes steps of it and tells its CPU time, states and closure.

MuJoCo and Drake hold the loop by constraints that give way or dissipate. Pinocchio has the constrained dynamics and no
integrator: Runge–Kutta 4 and semi-implicit Euler are made here on its calls, with Baumgarte's correction, and charged
the calls alone, each at its price less the price of a call on a model without joints.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.loops.mechanisms import BASE, COUPLER, CRANK, ROCKER, Array

LOOK = 10  # steps from one look at the state to the next
BLOCK, REPEATS = 0.002, 15  # s of calls timed at once, and how often: the fastest counts
PARTS = ((0, CRANK, 0.0), (1, COUPLER, CRANK), (0, ROCKER, BASE))  # parent, length and place of every rod
KP, KD = 2500.0, 100.0  # of Baumgarte's correction, 1/s² and 1/s


class Rival(NamedTuple):
    """A library with an integrator.

    run : from a start (q, v), a step, s, and a number of steps, to the states at every LOOK-th step, (K, 3) twice, and
        the CPU time of all steps, s
    mass_matrix : (3, 3) of the open tree at a configuration (3,), to see that it is the same mechanism
    """

    name: str
    run: Callable[[Array, Array, float, int], tuple[Array, Array, float]]
    mass_matrix: Callable[[Array], Array]


def moments(length: float) -> tuple[float, float, float]:
    """Return the moments of inertia of a rod about its centre, kg m²."""
    return 2e-4, length**2 / 12, length**2 / 12


def mujoco(name: str, integrator: str, stiff: bool) -> Rival:
    """MuJoCo with a connect constraint, at its default softness or the stiffest that it takes, two steps."""
    import mujoco as mj

    def body(k: int, inner: str = "") -> str:
        _, length, at = PARTS[k]
        return (f'<body name="b{k}" pos="{at} 0 0"><joint axis="0 0 1"/><inertial pos="{length / 2} 0 0" mass="1" '
                f'diaginertia="{" ".join(map(str, moments(length)))}"/>{inner}</body>')

    def made(h: float) -> Any:
        soft = f'solref="{2 * h} 1" solimp="0.9999 0.9999 0.001"' if stiff else ""
        m = mj.MjModel.from_xml_string(
            f'<mujoco><option timestep="{h}" integrator="{integrator}" gravity="0 -9.81 0"/>'
            f'<worldbody>{body(0, body(1))}{body(2)}</worldbody>'
            f'<equality><connect body1="b1" body2="b2" anchor="{COUPLER} 0 0" {soft}/></equality></mujoco>')
        # MuJoCo works the anchor on the second body out of a configuration in which the four-bar is open
        m.eq_data[0, :6] = COUPLER, 0, 0, ROCKER, 0, 0
        return m

    def mass_matrix(q: Array) -> Array:
        m, M = made(1e-3), np.zeros((3, 3))
        d = mj.MjData(m)
        d.qpos[:] = q
        mj.mj_forward(m, d)
        for column, unit in zip(M, np.eye(3), strict=True):
            mj.mj_mulM(m, d, column, unit)
        return M

    def run(q: Array, v: Array, h: float, steps: int) -> tuple[Array, Array, float]:
        m = made(h)
        d = mj.MjData(m)
        d.qpos[:], d.qvel[:] = q, v
        states, cpu = [(q, v)], 0.0
        for _ in range(steps // LOOK):
            began = time.process_time()
            mj.mj_step(m, d, LOOK)
            cpu += time.process_time() - began
            states.append((d.qpos.copy(), d.qvel.copy()))
        return *_stacked(states), cpu

    return Rival(name, run, mass_matrix)


def pinocchio(name: str, algorithm: str, runge_kutta: bool) -> Rival:
    """Pinocchio's `constraintDynamics` or `lcaba` with a point constraint and Baumgarte's correction."""
    import pinocchio as pin

    model, none = pin.Model(), np.zeros(3)
    model.gravity.linear = np.array([0, -9.81, 0])
    for k, (parent, length, at) in enumerate(PARTS):
        model.addJoint(parent, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([at, 0, 0])), f"j{k}")
        model.appendBodyToJoint(k + 1, pin.Inertia(1.0, np.array([length / 2, 0, 0]), np.diag(moments(length))),
                                pin.SE3.Identity())
    tip = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, 2, pin.SE3(np.eye(3), np.array([COUPLER, 0, 0])), 3,
        pin.SE3(np.eye(3), np.array([ROCKER, 0, 0])), pin.LOCAL)
    correction = tip.m_baumgarte_parameters
    correction.Kp, correction.Kd = KP, KD
    data, tips, settings = model.createData(), pin.StdVec_RigidConstraintModel(), pin.ProximalSettings(1e-14, 1e-8, 20)
    tips.append(tip)
    held = pin.StdVec_RigidConstraintData()
    held.append(tip.createData())
    if algorithm == "lcaba":
        pin.computeJointMinimalOrdering(model, data, tips)
        call = pin.lcaba
    else:
        pin.initConstraintDynamics(model, data, tips, held)
        call = pin.constraintDynamics

    def acceleration(q: Array, v: Array) -> Array:
        return np.array(call(model, data, q, v, none, tips, held, settings))

    def mass_matrix(q: Array) -> Array:
        M = np.triu(pin.crba(model, model.createData(), q))
        return np.array(M + np.triu(M, 1).T)

    def price(q: Array, v: Array) -> float:
        empty, nothing = pin.Model(), np.zeros(0)
        room = empty.createData()
        full = _fastest(lambda: call(model, data, q, v, none, tips, held, settings))
        return full - _fastest(lambda: pin.aba(empty, room, nothing, nothing, nothing))

    def run(q: Array, v: Array, h: float, steps: int) -> tuple[Array, Array, float]:
        each, states = price(q, v), []
        for k in range(steps + 1):
            if k % LOOK == 0:
                states.append((q, v))
            if not np.isfinite(q).all():
                break
            if not runge_kutta:
                v = v + h * acceleration(q, v)
                q = q + h * v
                continue
            k1 = acceleration(q, v)
            k2 = acceleration(q + h / 2 * v, v + h / 2 * k1)
            k3 = acceleration(q + h / 2 * (v + h / 2 * k1), v + h / 2 * k2)
            k4 = acceleration(q + h * (v + h / 2 * k2), v + h * k3)
            q, v = q + h * v + h * h / 6 * (k1 + k2 + k3), v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return *_stacked(states), steps * each * (4 if runge_kutta else 1)

    return Rival(name, run, mass_matrix)


def drake(name: str) -> Rival:
    """Drake's discrete solver SAP with a ball constraint."""
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant
    from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, RotationalInertia, SpatialInertia
    from pydrake.systems.analysis import Simulator

    def made(h: float) -> Any:
        plant = MultibodyPlant(h)
        bodies: list[Any] = []
        plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
        for k, (parent, length, at) in enumerate(PARTS):
            inertia = SpatialInertia.MakeFromCentralInertia(
                1.0, np.array([length / 2, 0, 0]), RotationalInertia(*moments(length)))
            body = plant.AddRigidBody(f"b{k}", inertia)
            frame = bodies[parent - 1].body_frame() if parent else plant.world_frame()
            placed = plant.AddFrame(FixedOffsetFrame(f"f{k}", frame, RigidTransform([at, 0, 0])))
            plant.AddJoint(RevoluteJoint(f"j{k}", placed, body.body_frame(), [0, 0, 1]))
            bodies.append(body)
        plant.AddBallConstraint(bodies[1], [COUPLER, 0, 0], bodies[2], [ROCKER, 0, 0])
        plant.mutable_gravity_field().set_gravity_vector([0, -9.81, 0])
        plant.Finalize()
        return plant

    def mass_matrix(q: Array) -> Array:
        plant = made(1e-3)
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, q)
        return np.array(plant.CalcMassMatrix(context))

    def run(q: Array, v: Array, h: float, steps: int) -> tuple[Array, Array, float]:
        plant = made(h)
        simulator = Simulator(plant)
        context = simulator.get_mutable_context()
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        simulator.Initialize()
        states, cpu = [(q, v)], 0.0
        for k in range(steps // LOOK):
            began = time.process_time()
            simulator.AdvanceTo((k + 1) * LOOK * h)
            cpu += time.process_time() - began
            states.append((plant.GetPositions(context), plant.GetVelocities(context)))
        return *_stacked(states), cpu

    return Rival(name, run, mass_matrix)


def rivals() -> Iterator[Rival]:
    """All of them that are installed."""
    makers: dict[str, Callable[[str], Rival]] = {
        "MuJoCo Euler, default": lambda name: mujoco(name, "Euler", False),
        "MuJoCo RK4, default": lambda name: mujoco(name, "RK4", False),
        "MuJoCo RK4, stiffest": lambda name: mujoco(name, "RK4", True),
        "Pinocchio constraintDynamics, RK4": lambda name: pinocchio(name, "constraintDynamics", True),
        "Pinocchio lcaba, RK4": lambda name: pinocchio(name, "lcaba", True),
        "Drake SAP": drake,
    }
    for name, make in makers.items():
        try:
            yield make(name)
        except ImportError:
            continue


def _stacked(states: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Configurations and velocities of states, (K, 3) each."""
    q, v = zip(*states, strict=True)
    return np.array(q), np.array(v)


def _fastest(call: Callable[[], object]) -> float:
    """CPU time of one call, s."""
    seconds: list[float] = []
    count = 1
    while len(seconds) < REPEATS:
        began = time.process_time()
        for _ in range(count):
            call()
        taken = time.process_time() - began
        if taken < BLOCK:
            count *= 2
        else:
            seconds.append(taken / count)
    return min(seconds)
