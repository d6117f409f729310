"""A quadruped of 12 joints is dropped on the Moon, upside down, and comes down on its feet.

Its legs swing to one side while they point away from the trunk, and back while they lie along it, where their inertia
about the roll axis is small. So each swing turns the trunk, though the total angular momentum stays zero. Before the
fall, the mass matrix tells how wide four swings must be for half a turn; in the fall, computed torques make the joints
follow this plan.
"""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import leastaction as la
from leastaction.plots.style import BLUE, ORANGE, style
from leastaction.viewers.film import film
from leastaction.viewers.still import png

FALL, SWINGS = 3.0, 4   # s, number
STAND, STOWED = np.array([0.0, 0.3, -0.6]), np.array([0.0, 1.57, 0.0])   # hip roll, hip pitch, knee of a leg, rad
DARK, THIGH, SHANK = (0.25, 0.27, 0.30, 1), (0.10, 0.42, 0.70, 1), (0.84, 0.45, 0.10, 1)

model = la.Model(gravity=(0, 0, -1.62), name="quadruped")
model.add_body("trunk", joint=la.Free(), inertia=la.Inertia.box(8.0, (0.5, 0.16, 0.12)), geometry=[
    la.Geometry.capsule((-0.25, y, 0), (0.25, y, 0), 0.06, DARK) for y in (-0.03, 0.03)])
for x, end in ((0.28, "front"), (-0.28, "hind")):
    for y, side in ((0.08, "left"), (-0.08, "right")):
        leg, outwards = f"{end} {side}", 0.05 * np.sign(y)
        pitch = la.Revolute((0, -np.sign(x), 0))   # front and hind legs fold away from each other
        model.add_body(f"{leg} hip", "trunk", la.Revolute((1, 0, 0)), position=(x, y, 0),
                       inertia=la.Inertia.sphere(0.5, 0.05), geometry=[
                           la.Geometry.capsule((0, 0, 0), (0, outwards, 0), 0.045, DARK)])
        model.add_body(f"{leg} thigh", f"{leg} hip", pitch, position=(0, outwards, 0),
                       inertia=la.Inertia.capsule(1.0, 0.03, 0.25, com=(0, 0, -0.125)), geometry=[
                           la.Geometry.capsule((0, 0, 0), (0, 0, -0.25), 0.035, THIGH)])
        model.add_body(f"{leg} shank", f"{leg} thigh", pitch, position=(0, 0, -0.25),
                       inertia=la.Inertia.capsule(0.7, 0.02, 0.25, com=(0, 0, -0.125)), geometry=[
                           la.Geometry.capsule((0, 0, 0), (0, 0, -0.25), 0.025, SHANK)])


def legs(phase, width):
    """Return the 12 joint angles at a phase of the cycle, rad: swing by `width` to either side, stow, swing back."""
    leg = STAND + (STOWED - STAND) * (1 - np.cos(phase)) / 2 - (width * np.sin(phase), 0, 0)
    return np.tile(leg, 4)


def turn(width, samples=240):
    """Return the roll angle of one cycle that starts at rest, rad: no momentum means M_bb v_b + M_bj v_j = 0."""
    q, roll, change = model.q0, 0.0, 2 * np.pi / samples
    for phase in change * (np.arange(samples) + 0.5):
        q[7:] = legs(phase, width)
        M = la.mass_matrix(model, q)
        moved = legs(phase + change / 2, width) - legs(phase - change / 2, width)
        roll -= np.linalg.solve(M[:6, :6], M[:6, 6:] @ moved)[0]
    return roll


low, high = 0.0, 1.2
while high - low > 1e-4:   # bisection for the width that turns by half a turn in all
    width = (low + high) / 2
    low, high = (low, width) if turn(width) * SWINGS > np.pi else (width, high)


def phase(t):
    """Return the phase of the cycle at a time, rad: it starts and stops smoothly."""
    s = np.clip(t / FALL, 0, 1)
    return 2 * np.pi * SWINGS * s**3 * (10 - 15 * s + 6 * s**2)


def torques(t, q, v, d=1e-4):
    """Computed torques: the joints accelerate as planned and correct errors; the trunk takes what that leaves to it."""
    before, now, after = (legs(phase(time), width) for time in (t - d, t, t + d))
    a = (after - 2 * now + before) / d**2 + 400 * (now - q[7:]) + 40 * ((after - before) / (2 * d) - v[6:])
    M, bias = la.mass_matrix(model, q), la.inverse_dynamics(model, q, v, np.zeros(model.nv))
    trunk = -np.linalg.solve(M[:6, :6], bias[:6] + M[:6, 6:] @ a)
    return np.concatenate([np.zeros(6), M[6:, :6] @ trunk + M[6:, 6:] @ a + bias[6:]])


q = model.q0
q[:7] = 0, 0, 7.6, 0, 1, 0, 0   # on its back, 7.6 m up
q[7:] = STAND.tolist() * 4
traj = la.simulate(model, q, dt=2e-3, duration=FALL, control=torques)

R = traj.poses("trunk")[:, :3, :3]
roll = np.degrees(np.unwrap(np.arctan2(R[:, 2, 1], R[:, 2, 2])))
roll -= roll[0]
spin = np.abs(traj.momentum[:, :3]).max()   # about the world's origin, above which it falls straight down
print(f"the legs swing by {np.degrees(width):.1f}° to either side; the trunk turns by {roll[-1]:.1f}°")
print(f"the angular momentum is never more than {spin:.1e} kg m²/s")
assert abs(roll[-1] - 180) < 1 and R[-1, 2, 2] > 0.999
assert spin < 1e-12

# The trunk's share of the angular momentum, about the robot's centre of mass and in axes that fall with it.
mass, g = sum(body.inertia.mass for body in model.bodies), -model.gravity[2]
y, z = traj.q[:, 1], traj.q[:, 2] - la.potential_energy(model, q) / (mass * g) + g * traj.t**2 / 2
_, y_rate, z_rate = np.einsum("kij,kj->ik", R, traj.v[:, 3:6])
trunk = model.bodies[0].inertia
share = trunk.matrix[0, 0] * traj.v[:, 0] + trunk.mass * (y * (z_rate + g * traj.t) - z * y_rate)

with style():
    figure = plt.figure(figsize=(11, 4.3))
    layout = figure.subplot_mosaic([["poses"] * 3, ["angles", "parts", "total"]], height_ratios=[1, 3.2])
    poses, angles, parts, total = layout.values()
    shown = replace(film(traj, fps=100), floor=-1e3)   # the floor is out of sight
    frames = [np.argmin(np.abs(phase(shown.t) - x)) for x in np.linspace(0, 2 * np.pi * SWINGS, 10)]
    tiles = [plt.imread(BytesIO(png(shown, frame, 480, 480)))[120:360, 60:420] for frame in frames]
    poses.imshow(np.concatenate(tiles, axis=1))
    poses.set(xticks=180 + 360 * np.arange(10), xticklabels=[f"{shown.t[frame]:.2f} s" for frame in frames], yticks=[])
    poses.tick_params(length=0)
    poses.grid(visible=False)
    poses.spines[:].set_visible(False)

    angles.plot(traj.t, roll, color=BLUE, label="trunk, from upside down")
    angles.plot(traj.t, np.degrees(traj.q[:, 7]), color=ORANGE, label="hips, in the trunk")
    angles.set(title="Roll", ylabel="angle (°)", yticks=[-90, 0, 90, 180], ylim=(-90, 270))
    parts.plot(traj.t, share, color=BLUE, label="trunk")
    parts.plot(traj.t, traj.momentum[:, 0] - share, color=ORANGE, label="legs")
    parts.set(title="Angular momentum about the roll axis", ylabel="kg m²/s")
    for axis, values in zip("xyz", traj.momentum[:, :3].T, strict=True):
        total.plot(traj.t, 1e13 * values, label=axis, linewidth=0.8)
    total.set(title="Total angular momentum", ylabel="10⁻¹³ kg m²/s", ylim=(-3, 3))
    for panel in (angles, parts, total):
        panel.set(xlabel="time (s)", xlim=(0, FALL))
        panel.legend(fontsize="small", loc="upper left")
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/quadruped.png")
