"""`python -m benchmarks.limits`: an arm against its stops beside MuJoCo. Writes its table to docs/performance.md.

Time of a simulated second, how far joints go beyond their limits, and how well the energies add up: the energy, and
what the stops have taken by the work of their own impulses, each times half the sum of the velocities before and after.
MuJoCo's limits are springs and dampers: at their default, and at the stiffest that a step takes, two steps of time
constant. And what limits cost that are far away: a step of a chain with limits at ±1000 rad beside one without.
"""

import argparse
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

import leastaction as la
from leastaction.files.environment import machine
from leastaction.markdown import fill, table
from leastaction.simulation.judgement import silent

Array = np.ndarray
MARK = "limits"
STOPS = ((-0.4, 0.9), (0.0, 1.2), (-0.3, 0.3))  # rad
LENGTH, MASS = 0.5, 1.0  # m, kg
START, SPEED = np.array([0.8, 1.0, 0.2]), np.array([-3.0, 0.0, 4.0])  # rad, rad/s
STEPS = (5e-4, 1e-3, 2e-3)  # s
ORDERS = (2, 4)
REPEATS = 5  # of which the fastest counts
CHAINS = {10: 20_000, 100: 2_000}  # links, and how many steps are timed
TURNS = 15  # of a chain with limits and one without; the median of their ratios counts


class Run(NamedTuple):
    """A method on the arm.

    name : of the method
    h : step, s
    beyond : greatest angle beyond a limit, rad; 0 if there is none
    missing : greatest sum of the energy and of what has left, less the energy at the start, J
    taken : what the stops have taken in all, J
    cpu : CPU time of a simulated second, s
    """

    name: str
    h: float
    beyond: float
    missing: float
    taken: float
    cpu: float


def arm() -> la.Model:
    """Three rods that hang and swing in a plane; their stops are inelastic."""
    model, parent = la.Model(name="arm"), None
    for k, limits in enumerate(STOPS):
        model.add_body(f"rod{k}", parent, la.Revolute((0, 1, 0), limits=limits), position=(0, 0, -LENGTH if k else 0.0),
                       inertia=la.Inertia.rod(MASS, LENGTH, com=(0, 0, -LENGTH / 2)))
        parent = f"rod{k}"
    return model


def beyond(q: Array) -> float:
    """Greatest angle of configurations (K, 3) beyond a limit, rad."""
    low, high = np.array(STOPS).T
    return float(max((low - q).max(), (q - high).max(), 0.0))


@silent()
def ours(order: int, h: float, duration: float) -> Run:
    """Follow the arm by a variational step of this order."""
    model, steps, integrator = arm(), round(duration / h), la.Variational(order=order)
    traj = la.simulate(model, START, SPEED, dt=h, steps=steps, integrator=integrator)
    times = []
    for _ in range(REPEATS):
        sim = la.Simulator(model, START, SPEED, dt=h, integrator=integrator)
        sim.step(2)  # compiles
        began = time.process_time()
        sim.step(steps - 2)
        times.append((time.process_time() - began) / (duration - 2 * h))
    return Run(f"leastaction, order {order}", h, beyond(traj.q), float(np.abs(traj.balance).max()),
               float(traj.dissipated["limits"][-1]), min(times))


def mujoco(stiff: bool, h: float, duration: float) -> Run:
    """Follow the arm by MuJoCo, its limits at their default softness or the stiffest that it takes, two steps.

    By its semi-implicit Euler, whose impulses of the limits are known: those of its Runge–Kutta 4 are not.
    """
    import mujoco as mj

    soft = f'solreflimit="{2 * h} 1" solimplimit="0.9999 0.9999 0.001"' if stiff else ""
    moment = MASS * LENGTH**2 / 12
    inner = ""
    for k in (2, 1, 0):
        low, high = STOPS[k]
        inner = (f'<body pos="0 0 {-LENGTH if k else 0.0}">'
                 f'<joint axis="0 1 0" limited="true" range="{low} {high}" {soft}/><inertial pos="0 0 {-LENGTH / 2}" '
                 f'mass="{MASS}" diaginertia="{moment} {moment} 1e-6"/>{inner}</body>')
    m = mj.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><option timestep="{h}" integrator="Euler"/>'
        f'<worldbody>{inner}</worldbody></mujoco>')
    d, model, steps = mj.MjData(m), arm(), round(duration / h)
    q, taken, missing = np.empty((1 + steps, 3)), 0.0, 0.0
    d.qpos[:], d.qvel[:] = START, SPEED
    q[0], first = START, la.energy(model, START, SPEED)
    for k in range(1, 1 + steps):
        before = d.qvel.copy()
        mj.mj_step(m, d)
        q[k], taken = d.qpos, taken - 0.5 * h * float((before + d.qvel) @ d.qfrc_constraint)
        missing = max(missing, abs(la.energy(model, d.qpos, d.qvel) + taken - first))
    times = []
    for _ in range(REPEATS):
        mj.mj_resetData(m, d)
        d.qpos[:], d.qvel[:] = START, SPEED
        began = time.process_time()
        mj.mj_step(m, d, steps)
        times.append((time.process_time() - began) / duration)
    name = f"MuJoCo, limits {'as stiff as it takes' if stiff else 'as by default'}"
    return Run(name, h, beyond(q), missing, taken, min(times))


def runs(duration: float = 20.0, steps: tuple[float, ...] = STEPS) -> Iterator[Run]:
    """Follow the arm by all methods at all steps."""
    for h in steps:
        for order in ORDERS:
            yield ours(order, h, duration)
        if find_spec("mujoco") is not None:
            for stiff in (False, True):
                yield mujoco(stiff, h, duration)


def far_away(n: int, steps: int, turns: int = TURNS) -> tuple[float, float]:
    """Time a step of a chain of n links, µs of CPU, and how many times that a step takes whose limits are far away."""
    free = la.library.chain(n)
    limited = la.Model(gravity=free.gravity, name=free.name)
    for body in free.bodies:
        joint = replace(body.joint, limits=(-1e3, 1e3))
        limited.add_body(body.name, body.parent, joint, body.position, body.quaternion, body.inertia)
    v = np.random.default_rng(1).standard_normal(free.nv)

    def timed(model: la.Model) -> float:
        sim = la.Simulator(model, free.q0, v, dt=1e-3)
        sim.step(2)  # compiles
        began = time.process_time()
        sim.step(steps)
        return 1e6 * (time.process_time() - began) / steps

    pairs = [(timed(free), timed(limited)) for _ in range(turns)]
    return statistics.median(one for one, _ in pairs), statistics.median(other / one for one, other in pairs)


def section(found: list[Run], duration: float, far: dict[int, tuple[float, float]]) -> str:
    """Write the tables down."""
    rows = [(run.name, f"{1e3 * run.h:g} ms", f"{1e3 * run.cpu:.3g}", f"{np.degrees(run.beyond):.1g}",
             f"{run.missing:.1g}", f"{run.taken:.4g}") for run in found]
    return "\n\n".join([
        f"An arm of three rods (0.5 m, 1 kg) against inelastic stops, for {duration:g} s:",
        table(("method", "step", "ms of CPU a simulated second", "degrees beyond a limit at worst",
               "energies miss by, J", "taken by the stops, J"), rows),
        "Limits that are far away, at ±1000 rad in every joint of a chain, against the same chain without limits:",
        table(("links", "µs of CPU a step without limits", "times that with limits"),
              [(n, f"{cpu:.3g}", f"{ratio:.2f}") for n, (cpu, ratio) in far.items()]),
        "Measured by `make bench-limits`: " + " · ".join(f"{name} {value}" for name, value in machine().items()) + ".",
    ])


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description="Time an arm against its stops.")
    parser.add_argument("--quick", action="store_true", help="2 s of it, at 1 ms")
    parser.add_argument("--out", type=Path, default=Path("docs/performance.md"), metavar="PAGE",
                        help="page to write the table to, between its marks")
    options = parser.parse_args()
    duration, steps = (2.0, (1e-3,)) if options.quick else (20.0, STEPS)
    far = {n: far_away(n, count // 10 if options.quick else count) for n, count in CHAINS.items()}
    text = section(list(runs(duration, steps)), duration, far)
    fill(options.out, text, MARK)
    print(text)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
