"""A satellite with a long flexible boom rolls, then slews, by short burns of its thrusters; its arm moves a payload.

The boom is a row of rods on ball joints, stiff in bending and soft in torsion, as a slit tube is: rolling twists it, by
the bar at its end, and slewing bends it. Each pair of thrusters is a couple: it gives angular momentum and no linear
one, and its second burn takes back what the first gave. Servos in the joints of the arm push it against the hub.
Between the burns nothing from outside acts, so the total momentum must stand still to round-off, however the boom
swings and the arm moves.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import leastaction as la
from leastaction.plots.style import BLUE, GREEN, ORANGE, style

SEGMENTS, LENGTH = 10, 8.0   # of the boom, number and m
BENDING, TORSION = 1200.0, 48.0   # of the boom, EI and GJ, N m²
THRUST, LEVER = 12.0, 0.6   # N, m
ROLL, SLEW, DURATION = ((1.0, 1.5), (4.0, 4.5)), ((8.0, 11.0), (23.0, 26.0)), 40.0   # burns, s
GREY, GOLD, ORANGE_PAINT, DARK = (0.75, 0.77, 0.8, 1), (0.8, 0.62, 0.2, 1), (0.84, 0.45, 0.10, 1), (0.25, 0.27, 0.3, 1)
Z = (0, 0, 1)


def box(edges, color):
    """Return the picture of a box about the origin of its body."""
    return la.Geometry("box", np.array(edges) / 2, np.zeros(3), np.array([1.0, 0, 0, 0]), np.array(color),
                       np.zeros((0, 3)), np.zeros((0, 3), dtype=int))


model = la.Model(gravity=(0, 0, 0), name="satellite")
model.add_body("hub", joint=la.Free(), inertia=la.Inertia.box(300.0, (1.2, 1.2, 1.0)), geometry=[
    box((1.2, 1.2, 1.0), GOLD)])
piece = LENGTH / SEGMENTS
for k in range(SEGMENTS):
    joint = la.Ball(axis=(1, 0, 0), stiffness=(BENDING / piece, TORSION / piece), damping=4.0)
    model.add_body(f"boom {k}", f"boom {k - 1}" if k else "hub", joint, position=(piece if k else 0.6, 0, 0),
                   inertia=la.Inertia.capsule(1.2, 0.04, piece, com=(piece / 2, 0, 0), axis=(1, 0, 0)),
                   geometry=[la.Geometry.capsule((0, 0, 0), (piece, 0, 0), 0.05, GREY)])
model.add_body("bar", f"boom {SEGMENTS - 1}", la.Fixed(), position=(piece, 0, 0), inertia=la.Inertia.rod(3.0, 1.6),
               geometry=[la.Geometry.capsule((0, 0, -0.8), (0, 0, 0.8), 0.05, DARK)])
for name, above, at, length, mass in (("upper arm", "hub", (-0.6, 0, 0), 1.2, 8.0),
                                      ("forearm", "upper arm", (-1.2, 0, 0), 1.0, 6.0)):
    model.add_body(name, above, la.Revolute(Z), position=at, inertia=la.Inertia.capsule(
        mass, 0.06, length, com=(-length / 2, 0, 0), axis=(1, 0, 0)),
        geometry=[la.Geometry.capsule((0, 0, 0), (-length, 0, 0), 0.07, ORANGE_PAINT)])
    model.add_actuator(f"{name} servo", la.PD(joint=name, kp=600.0, kd=500.0, effort=60.0))
model.add_body("payload", "forearm", la.Fixed(), position=(-1.0, 0, 0), inertia=la.Inertia.box(40.0, (0.5, 0.5, 0.5)),
               geometry=[box((0.5, 0.5, 0.5), DARK)])
for turn, burns, along in (("roll", ROLL, (0, 0, -1)), ("slew", SLEW, (1, 0, 0))):
    for side in (1, -1):
        for burn, sign in zip(burns, (1, -1), strict=True):
            model.add_force(f"{turn} {side} {sign}", la.Thruster(
                body="hub", point=(0, -side * LEVER, 0), direction=side * sign * np.array(along), thrust=THRUST,
                burns=[burn]))


def command(t, q, v):
    """Fold the arm out, smoothly, between 13 and 21 s."""
    s = np.clip((t - 13) / 8, 0, 1)
    return np.array([0.9, -1.4]) * s * s * (3 - 2 * s)


traj = la.simulate(model, dt=1e-2, duration=DURATION, command=command, control_every=10)

momentum, coasting = traj.momentum[:, :3], (traj.t >= SLEW[0][1]) & (traj.t <= SLEW[1][0])
given = 2 * THRUST * LEVER * (SLEW[0][1] - SLEW[0][0])   # N m s
error = np.abs(momentum[coasting] - momentum[coasting][0]).max()


def turned(T):
    """Return the angles of poses, degrees: about x, and then about their own z."""
    return np.degrees(np.arctan2(-T[:, 1, 2], T[:, 2, 2])), np.degrees(np.arctan2(-T[:, 0, 1], T[:, 0, 0]))


hub = traj.poses("hub")
roll, slew = turned(hub)
twist, bend = turned(np.linalg.inv(hub) @ traj.poses("bar"))
print(f"the hub rolls by {roll[-1]:.1f}° and turns by {slew[-1]:.1f}°")
print(f"the boom bends by {np.abs(bend).max():.1f}° at most, and is twisted by {np.abs(twist).max():.1f}° at most")
print(f"coasting, the angular momentum is {np.linalg.norm(momentum[coasting][0]):.3f} N m s, of {given:.1f} given, and "
      f"changes by {error:.0e}; at the end it is {np.linalg.norm(momentum[-1]):.0e}")
print(f"the linear momentum is never more than {np.abs(traj.momentum[:, 3:]).max():.0e} N s")
assert error < 1e-9 and np.abs(traj.momentum[:, 3:]).max() < 1e-9
assert abs(np.linalg.norm(momentum[coasting][0]) - given) < 1e-3 and np.linalg.norm(momentum[-1]) < 1e-2
assert np.abs(traj.q[-1, -2:] - command(DURATION, None, None)).max() < 1e-3

with style():
    figure = plt.figure(figsize=(11, 5.4))
    layout = figure.subplot_mosaic([["poses"] * 3, ["angles", "bend", "momentum"]], height_ratios=[1.3, 2])
    sky = layout["poses"]
    chain = ["payload", "forearm", "upper arm", "hub", *(f"boom {k}" for k in range(SEGMENTS))]
    for place, t in enumerate((0, 8, 14, 18, 22, 40)):   # seen from above
        T = {name: traj.poses(name)[round(t / 1e-2)] for name in chain}
        x, y = np.array([T[name][:2, 3] for name in chain] + [(T[chain[-1]] @ (piece, 0, 0, 1))[:2]]).T
        x = x + 14 * place
        sky.plot(x[:4], y[:4], color=ORANGE, linewidth=3)
        sky.plot(x[3:], y[3:], color="0.45", linewidth=1.5)
        corners = T["hub"] @ np.array([(a, b, 0, 1) for a, b in ((-1, -1), (-1, 1), (1, 1), (1, -1))]).T
        sky.fill(0.8 * (corners[0] - T["hub"][0, 3]) + x[3], 0.8 * (corners[1] - T["hub"][1, 3]) + y[3], color=BLUE)
        sky.plot(x[0], y[0], "s", color="0.2", markersize=6)
        sky.text(14 * place + 2, -4.2, f"{t} s", ha="center")
    sky.set(aspect="equal", xlim=(-4, 80), ylim=(-5, 8), xticks=[], yticks=[])
    sky.grid(visible=False)
    sky.spines[:].set_visible(False)
    layout["angles"].plot(traj.t, roll, color=GREEN, label="hub, roll")
    layout["angles"].plot(traj.t, slew, color=BLUE, label="hub, slew")
    layout["angles"].plot(traj.t, np.degrees(traj.q[:, -2]), color=ORANGE, label="shoulder")
    layout["angles"].set(title="Angles", ylabel="°")
    layout["angles"].legend(fontsize="small")
    layout["bend"].plot(traj.t, twist, color=GREEN, label="twist")
    layout["bend"].plot(traj.t, bend, color=BLUE, label="bend")
    layout["bend"].set(title="Tip of the boom", ylabel="°")
    layout["bend"].legend(fontsize="small")
    layout["momentum"].plot(traj.t, np.linalg.norm(momentum, axis=1), color=BLUE)
    layout["momentum"].set(title="Angular momentum", ylabel="N m s")
    for name in ("angles", "bend", "momentum"):
        for burn in (*ROLL, *SLEW):
            layout[name].axvspan(*burn, color=ORANGE, alpha=0.15, linewidth=0)
        layout[name].set(xlabel="time (s); burns shaded", xlim=(0, DURATION))
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/space_manipulator.png")
