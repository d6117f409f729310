"""Joint limits and dry friction at length: many bounces, robots in their limits, and the balance over five halvings."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import leastaction as la
from leastaction.formats import zoo

sys.path.append(str(Path(__file__).parents[1] / "limits"))
from stopped import arm, gained, pendulum

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore::leastaction.errors.ModelWarning")]


@pytest.mark.parametrize("order", [2, 4])
def test_a_hundred_thousand_elastic_bounces(order):
    run = la.simulate(pendulum(-0.5, 0.7, 1.0), [0.2], [8.0], dt=0.01, steps=1_800_000, record_every=5,
                      integrator=la.Variational(order=order))
    assert np.count_nonzero(np.diff(np.sign(run.v[:, 0]))) > 100_000
    tenth = len(run) // 10
    assert abs(run.energy[:tenth].mean() - run.energy[-tenth:].mean()) < 1e-7 * run.peak_kinetic_energy


@pytest.mark.parametrize("friction", [0.0, 1.5])
def test_the_balance_over_five_halvings(friction):
    steps = 0.008 / 2.0 ** np.arange(6)
    worst = [np.abs(la.simulate(arm(0.3, friction), dt=dt, duration=1.0).balance).max() for dt in steps]
    assert np.polyfit(np.log(steps), np.log(worst), 1)[0] > 1.8


def robots() -> list:
    return [path for name in ("example-robot-data", "gymnasium") for path in zoo.paths(name)]


LIGHT = "it has links that nothing holds up without its couplings"
SKIPPED = {
    "ur3.urdf": "it has no links", "romeo.urdf": LIGHT, "romeo_laas_small.urdf": LIGHT,
    "human.urdf": "its shoulders and hips are chains through links without mass, which lock when two axes meet, after "
                  "1.26 s: the mass matrix is singular there",
}


@pytest.mark.parametrize("path", robots(), ids=lambda path: path.name)
def test_robots_stay_within_their_limits(path):
    """Shaken, with their couplings: no joint is beyond a limit, but those that started there and are on their way
    back."""
    if path.name in SKIPPED:
        pytest.skip(SKIPPED[path.name])
    robot = zoo.survey(path).load()
    v = 0.5 * np.random.default_rng(1).standard_normal(robot.nv)
    q, v = la.assemble(robot, robot.q0, v) if robot.loops else (robot.q0, v)
    run = la.simulate(robot, q, v, dt=1e-3, duration=4.0, record_every=10)
    assert run.failure is None and la.Status.CROWDED not in run.tally.statuses
    assert run.closure.max() < 1e-13
    for body in robot.bodies:
        joint = body.joint
        if joint.limits is not None and joint.quaternion_at is None and not isinstance(joint, la.Fixed):
            low, high = np.transpose([joint.bounds(k) for k in range(joint.nv)])
            q = run.q[:, robot.q_slice(body.name)]
            beyond = np.maximum(low - q, q - high)
            back = np.maximum(beyond[0] - 0.19 * run.t[:, None], 0.0)  # at 0.2 rad/s or m/s, or faster
            assert (beyond - back).max() < 1e-10, body.name


def ends(robot) -> list:
    """Every limit of a robot's joints: body, number of the coordinate in q and of its rate in v, limit, and side."""
    found = []
    for body in robot.bodies:
        joint = body.joint
        if joint.limits is None or joint.quaternion_at is not None or isinstance(joint, la.Fixed):
            continue
        for k in range(joint.nv):
            for side, end in zip((-1.0, 1.0), joint.bounds(k), strict=True):
                if np.isfinite(end):
                    at, rate = robot.q_slice(body.name).start + k, robot.v_slice(body.name).start + k
                    found.append((body.name, at, rate, end, side))
    return found


def inside(robot):
    """The robot's own configuration with all joints inside their limits, by 0.1 where the range is wide enough."""
    q, low, high = robot.q0.copy(), np.full(robot.nq, -np.inf), np.full(robot.nq, np.inf)
    for _, at, _, end, side in ends(robot):
        (low if side < 0.0 else high)[at] = end
    margin = np.minimum(0.5 * (high - low), 0.1)
    return np.clip(q, low + margin, high - margin), low, high


@pytest.mark.parametrize("path", robots(), ids=lambda path: path.name)
def test_no_limit_and_no_friction_of_a_robot_is_silent(path):
    """Thrown against either end of every joint's range it is stopped there: by that limit, or, where couplings move
    other joints along that come to theirs first, by one of theirs. Friction resists every joint that has some."""
    if path.name in SKIPPED:
        pytest.skip(SKIPPED[path.name])
    robot = zoo.survey(path).load()
    start, low, high = inside(robot)

    def thrown(body, q, v):
        q, v = la.assemble(robot, q, v, keep=body) if robot.loops else (q, v)
        return q, la.simulate(robot, q, v, dt=1e-3, steps=3)

    for body, at, rate, end, side in ends(robot):
        q, v = start.copy(), np.zeros(robot.nv)
        q[at], v[rate] = end, side
        q, run = thrown(body, q, v)
        first = np.any((q < low - 1e-9) | (q > high + 1e-9)) or np.any(run.limit_force)
        assert np.any(side * run.limit_force[:, rate] < 0.0) or (robot.loops and first), (body, end)
        assert (side * (run.q[:, at] - end)).max() < 1e-10, (body, end)
    for body in robot.bodies:
        joint = body.joint
        if joint.quaternion_at is None and not isinstance(joint, la.Fixed):
            for k in np.flatnonzero(np.broadcast_to(joint.friction, (joint.nv,))):
                v, rate = np.zeros(robot.nv), robot.v_slice(body.name).start + k
                v[rate] = 1.0
                _, run = thrown(body.name, start, v)
                assert run.dry_friction[0, rate] < 0.0, body.name


def test_the_humanoid_hangs_in_its_limits():
    """The base is fixed, no joint is damped, and a joint that starts beyond its limit comes back first."""
    path = next(path for path in zoo.paths("gymnasium") if path.name == "humanoid.xml")
    robot = zoo.survey(path).load()
    hanging = la.Model(name="hanging")
    for body in robot.bodies:
        joint = la.Fixed() if isinstance(body.joint, la.Free) else replace(body.joint, damping=0.0)
        hanging.add_body(body.name, body.parent, joint, body.position, body.quaternion, body.inertia)
    steps, worst = 4e-3 / 2.0 ** np.arange(6), []
    for dt in steps:
        run = la.simulate(hanging, dt=dt, duration=2.0)
        worst.append(np.abs(run.balance).max())
        for _, at, _, end, side in ends(hanging):
            beyond = side * (run.q[:, at] - end)
            back = np.maximum(beyond[0] - 0.19 * run.t, 0.0)
            assert (beyond - back).max() < 1e-10
        assert gained(run.energy + run.dissipated["recovery"]) < worst[-1]
    assert np.polyfit(np.log(steps), np.log(worst), 1)[0] > 1.8
