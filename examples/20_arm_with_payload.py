"""A Panda draws a figure eight under PD control, with a payload of 3 kg that its controller knows of, or not.

Every joint has servos for its angle and its rate, and a motor for the moment that the planned motion takes. They are
commanded 250 times a second, and together they stay within the effort limit of the joint that the robot's URDF file
gives. Servos are implicit in the step, so their gains set no bound on it: steps of 4 ms give nearly the same motion as
steps of 1 ms.
"""

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import leastaction as la
from leastaction.plots.style import BLACK, BLUE, ORANGE, QUIET, VERMILION, style

TICK, DURATION, PAYLOAD = 4e-3, 6.0, 3.0   # s, s, kg
KP = (600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 50.0)   # N m/rad, as the robot's own controllers have them
KD = (50.0, 50.0, 50.0, 50.0, 30.0, 25.0, 15.0)   # N m s/rad
HOME = np.array([0.0, -0.5, 0.0, -2.1, 0.0, 1.6, 0.8])   # rad
LEFT_OUT = ("mimic", "limits", "effort", "collision", "extensions", "mesh")


def panda():
    """Load the robot from the package example-robot-data, or build an arm with seven axes where it is missing."""
    try:
        found = [file for file in files("example-robot-data") or () if file.name == "panda.urdf"]
    except PackageNotFoundError:
        found = []
    if found:
        robot = la.load(str(found[0].locate()), ignore=LEFT_OUT)
        return robot, [f"panda_link{k}" for k in range(1, 8)], "panda_hand"
    robot, before, height = la.Model(name="arm"), None, 0.33
    lengths, masses = (0.0, 0.32, 0.0, 0.38, 0.0, 0.09, 0.1), (5.0, 2.0, 3.0, 3.5, 1.2, 1.7, 0.7)
    for k, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
        axis = (0, 0, 1) if k % 2 == 0 else (0, 1 if k == 1 else -1, 0)   # elbow and wrist bend back, as a Panda's
        joint = la.Revolute(axis, effort_limit=87.0 if k < 4 else 12.0)
        robot.add_body(f"link{k + 1}", before, joint, (0, 0, height),
                       inertia=la.Inertia.cylinder(mass, radius=0.06, length=0.12, com=(0, 0, length / 2)))
        before, height = f"link{k + 1}", length
    robot.add_body("hand", before, position=(0, 0, height))
    return robot, [f"link{k}" for k in range(1, 8)], "hand"


bare, links, hand = panda()
model, _, _ = panda()
if bare.name == "arm":
    print("The package example-robot-data is not installed: this is a plainer arm with seven axes, not a Panda.")
model.add_body("payload", hand, position=(0, 0, 0.1), inertia=la.Inertia.sphere(PAYLOAD, radius=0.06))
for link, kp, kd in zip(links, KP, KD, strict=True):
    model.add_actuator(f"{link} angle", la.PD(link, kp=kp))
    model.add_actuator(f"{link} rate", la.Velocity(link, kd=kd))
    model.add_actuator(f"{link} moment", la.Motor(link))
fingers = [body.name for body in model.bodies if isinstance(body.joint, la.Prismatic)]
for finger in fingers:
    model.add_actuator(finger, la.PD(finger, kp=2000.0, kd=50.0))
print(repr(model), "\n")

at = model.v_slice(links[0]).start
start = np.zeros(model.nq)
start[at : at + 7] = HOME
centre = la.poses(bare, start)[bare.body_index(hand), :3, 3]


def wanted(t):
    """Where the hand should be, m: a figure eight, begun gently."""
    phase = 2 * np.pi * (t - np.sin(2 * np.pi * t / DURATION) * DURATION / (2 * np.pi)) / (DURATION / 2)
    return centre + np.array([0.0, 0.25 * np.sin(phase), 0.12 * np.sin(2 * phase)])


def plan(count):
    """Joint angles (count, 7) that bring the hand there, its orientation kept: Newton's method on the pose."""
    q, angles = start.copy(), []
    upright = la.poses(bare, q)[bare.body_index(hand), :3, :3]
    for k in range(count):
        for _ in range(3):
            pose = la.poses(bare, q)[bare.body_index(hand)]
            R, J = pose[:3, :3], la.jacobian(bare, q, hand)[:, at : at + 7]
            turn = R.T @ upright
            error = np.concatenate([0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0],
                                                    turn[1, 0] - turn[0, 1]]), R.T @ (wanted(k * TICK) - pose[:3, 3])])
            q[at : at + 7] += J.T @ np.linalg.solve(J @ J.T + 1e-6 * np.eye(6), error)
        angles.append(q[at : at + 7].copy())
    return np.array(angles)


angles = plan(round(DURATION / TICK) + 1)
rates = np.gradient(angles, TICK, axis=0)
accelerations = np.gradient(rates, TICK, axis=0)


def commands(known):
    """Return the commands (ticks, nu): of each joint its angle, its rate, and the moment that a model would take."""
    found = []
    for motion in zip(angles[:-1], rates[:-1], accelerations[:-1], strict=True):
        whole = [start.copy(), np.zeros(model.nv), np.zeros(model.nv)]
        for part, values in zip(whole, motion, strict=True):
            part[at : at + 7] = values
        moment = la.inverse_dynamics(known, *whole)[at : at + 7] if known else np.zeros(7)
        found.append([*np.stack([*motion[:2], moment], axis=1).ravel(), *np.zeros(len(fingers))])
    return np.array(found)


def track(known, dt):
    """Follow the path with this step."""
    return la.simulate(model, start, dt=dt, duration=DURATION, command=commands(known),
                       control_every=round(TICK / dt), record_every=round(TICK / dt), ignore=LEFT_OUT)


def error(traj):
    """Distance of the hand from where it should be, m."""
    return np.linalg.norm(traj.poses(hand)[:, :3, 3] - np.array([wanted(t) for t in traj.t]), axis=1)


runs = {"servos alone": track(None, 1e-3), "moments for the bare arm": track(bare, 1e-3),
        "moments for arm and payload": track(model, 1e-3)}
for name, run in runs.items():
    print(f"{name:27s} {1e3 * error(run).max():6.1f} mm from the path at most")
traj, coarse = runs["moments for arm and payload"], track(model, TICK)
difference = 1e3 * np.linalg.norm(traj.poses(hand)[:, :3, 3] - coarse.poses(hand)[:, :3, 3], axis=1).max()
print(f"with steps of {1e3 * TICK:g} ms the hand is {difference:.2f} mm elsewhere at most")
assert difference < 0.5
worst = [error(run).max() for run in runs.values()]
assert worst[0] > worst[1] > 5 * worst[2]

Path("out").mkdir(exist_ok=True)
with style():
    figure = plt.figure(figsize=(10, 4.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.1, 1))
    view, far, load = figure.add_subplot(grid[:, 0], projection="3d"), *(figure.add_subplot(grid[k, 1]) for k in (0, 1))
    chain = [model.body_index(name) for name in (*links, hand)]
    for k in np.linspace(0, len(traj) - 1, 9).astype(int):
        points = np.concatenate([np.zeros((1, 3)), traj.poses(steps=slice(k, k + 1))[0][chain, :3, 3]])
        view.plot(*points.T, color=QUIET, lw=2.5, alpha=0.35 + 0.6 * (k == 0), marker="o", ms=3)
    path = np.array([wanted(t) for t in traj.t])
    view.plot(*path.T, color=BLACK, lw=1.0, ls="--", label="wanted", zorder=9)
    colors = (VERMILION, ORANGE, BLUE)
    for (name, run), color in zip(runs.items(), colors, strict=True):
        view.plot(*run.poses(hand)[:, :3, 3].T, color=color, lw=1.5, label=name)
        far.semilogy(run.t, 1e3 * np.maximum(error(run), 1e-6), color=color, label=name)
    view.set_aspect("equal")
    view.set(xlabel="x, m", ylabel="y, m", zlabel="z, m")
    view.legend(loc="upper left", fontsize=7)
    far.set(ylabel="distance from the path, mm", ylim=(0.03, 300), xlim=(0, DURATION))
    forces = np.array([la.actuator_forces(model, *node) for node in zip(
        traj.q[:-1], traj.v[:-1], commands(model), strict=True)])[:, at : at + 7]
    limits = [model.bodies[model.body_index(link)].joint.effort_limit for link in links]
    for k in range(7):
        load.plot(traj.t[:-1], 100 * forces[:, k] / limits[k], lw=1, label=f"{k + 1}")
    load.set(xlabel="t, s", ylabel="effort, % of its limit", xlim=(0, DURATION), ylim=(-115, 100))
    load.legend(title="joint", ncols=7, fontsize=6, title_fontsize=6, loc="lower center")
    figure.savefig("out/arm.png", dpi=150)
