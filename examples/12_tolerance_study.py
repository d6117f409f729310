"""A tolerance study of a six-joint arm: how many of the arms that are built miss a window of 5 mm?

Every arm gets the same torques, made for the arm of the drawing, and servos hold it to the path. But links weigh a
little more or less than drawn, their centres of mass are off, and gears rub differently, so 2 s after the start the
tool is not quite where it should be. An ensemble tells how far it is off, how sure the answer is, and which part is to
blame. A second one tells what it is worth to make that part three times as well.
"""

import matplotlib.pyplot as plt
import numpy as np

import leastaction as la
from leastaction.plots.style import BLACK, BLUE, ORANGE, SKY, VERMILION, style

MEMBERS, DT, STEPS, WINDOW = 2000, 4e-3, 500, 5e-3   # arms, s, steps, m
Z, Y = (0, 0, 1), (0, 1, 0)
END = np.array([0.9, 0.8, 0.9, -0.5, 0.8, 0.6])   # where the joints go from upright, rad
LAWS = {"mass": la.Normal(relative=0.03), "com": la.Normal(std=4e-3), "damping": la.Normal(relative=0.10)}

# name, axis, length (m), mass (kg), and of its servo: stiffness (N m/rad), damping (N m s/rad), rotor (kg m²)
LINKS = [("base", Z, 0.15, 4.0, 800, 80, 1.0), ("upper arm", Y, 0.43, 8.0, 800, 80, 1.0),
         ("forearm", Y, 0.39, 4.0, 500, 40, 0.5), ("wrist", Y, 0.10, 1.5, 200, 12, 0.1),
         ("hand", Z, 0.09, 1.2, 80, 4, 0.05), ("tool", Y, 0.20, 2.0, 80, 4, 0.05)]
model = la.Model(name="arm")
before, height = None, 0.0
for (name, axis, length, mass, stiffness, damping, rotor), angle in zip(LINKS, END, strict=True):
    servo = la.Revolute(axis, stiffness=stiffness, damping=damping, armature=rotor, rest=angle)
    model.add_body(name, before, servo, position=(0, 0, height),
                   inertia=la.Inertia.cylinder(mass, radius=0.05, length=length, com=(0, 0, length / 2)))
    before, height = name, length
model.add_body("tip", "tool", position=(0, 0, height))


def drawn(t, takes=1.6):
    """Joint angles, velocities and accelerations of the drawing: smoothly to the end, then rest."""
    s = min(t / takes, 1.0)
    return (END * s**3 * (10 - 15 * s + 6 * s**2), END * 30 * (s * (1 - s))**2 / takes,
            END * 60 * s * (1 - s) * (1 - 2 * s) / takes**2)


torque = np.array([la.inverse_dynamics(model, *drawn((k + 0.5) * DT)) for k in range(STEPS)])
options = {"dt": DT, "steps": STEPS, "control": torque, "record_every": 10}
nominal = la.simulate(model, **options)


def build(tolerances, folder):
    """Build arms: return the ensemble, and how far each tip is from its place at the end, (arms, 3), m."""
    arms = la.Ensemble(model, MEMBERS, tolerances, seed=1, **options).run(folder, progress=False)
    return arms, np.array([la.poses(model, q)[-1, :3, 3] for q in arms.q[:, -1]]) - nominal.poses("tip")[-1, :3, 3]


def missed(off, z=1.96):
    """Return which part of the arms misses the window, and between what it lies with 95 % confidence (Wilson)."""
    part = np.mean(np.linalg.norm(off, axis=1) > WINDOW)
    middle, n = part + z**2 / (2 * len(off)), len(off)
    half = z * np.sqrt(part * (1 - part) / n + (z / (2 * n))**2)
    return np.array([part, (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n)])


def shares(arms, off):
    """Return which part of the mean square of the errors each tolerance makes, and the part that is not explained.

    The tolerances are small, so the error is nearly linear in them: least squares tell what each contributes.
    """
    columns = {name: values.reshape(MEMBERS, -1) for name, values in arms.parameters.items()}
    spread = np.concatenate([(x - x.mean(axis=0)) / x.std(axis=0) for x in columns.values()], axis=1)
    slopes, *_ = np.linalg.lstsq(spread, off, rcond=None)
    square = np.sum(slopes**2, axis=1) / np.mean(np.sum(off**2, axis=1))
    ends = np.cumsum([x.shape[1] for x in columns.values()])
    parts = dict(zip(columns, map(np.sum, np.split(square, ends[:-1])), strict=True))
    return parts, np.sum((off - spread @ slopes)**2) / np.sum(off**2)


tolerances = {f"{kind}:{link[0]}": law for kind, law in LAWS.items() for link in LINKS}
arms, off = build(tolerances, "out/arms")
part, low, high = 100 * missed(off)
print(f"the tip is {1e3 * np.median(np.linalg.norm(off, axis=1)):.1f} mm off at the median; {part:.1f} % of the arms "
      f"miss the window, which is {low:.1f} to {high:.1f} % with 95 % confidence")

blame, unexplained = shares(arms, off)
worst = max(blame, key=blame.get)
print(f"{100 * blame[worst]:.0f} % of the mean square of the error are due to {worst}; {100 * unexplained:.1f} % "
      "are not explained by linear effects")

_, off_better = build({**tolerances, worst: la.Normal(relative=0.01)}, "out/better_arms")
part_better, low_better, high_better = 100 * missed(off_better)
print(f"with {worst} to 1 %: {part_better:.1f} % miss it, {low_better:.1f} to {high_better:.1f} %")

assert not arms.failures and not arms.missing
assert worst == "mass:tool" and unexplained < 0.01
assert high_better < low   # it is worth it, beyond chance

# On the way, the joints' errors times the Jacobian will do: they are small.
jacobians = [pose[:3, :3] @ la.jacobian(model, q, "tip")[3:]
             for pose, q in zip(nominal.poses("tip"), nominal.q, strict=True)]
way = np.linalg.norm(np.einsum("tij,mtj->mti", jacobians, arms.q[:] - nominal.q), axis=2)
distance, better = np.linalg.norm(off, axis=1), np.linalg.norm(off_better, axis=1)
np.testing.assert_allclose(way[:, -1], distance, atol=1e-4)

with style():
    figure, (fan, histogram, bars) = plt.subplots(1, 3, figsize=(11, 3.4), width_ratios=[1.1, 1, 1.1])
    level = 1e3 * np.quantile(way, [0.05, 0.25, 0.5, 0.75, 0.95, 1.0], axis=0)
    for below, above, alpha, label in ((0, 1, 0.16, "90 %"), (3, 4, 0.16, None), (1, 3, 0.4, "50 % of the arms")):
        fan.fill_between(arms.t, level[below], level[above], color=BLUE, alpha=alpha, linewidth=0, label=label)
    fan.plot(arms.t, level[2], color=BLUE, linewidth=1.8, label="median")
    fan.plot(arms.t, level[5], color=BLUE, linewidth=0.5, label="farthest of all")
    fan.axhline(1e3 * WINDOW, color=BLACK, linewidth=0.8, linestyle="--", label="window")
    fan.set(title="On the way", xlabel="time (s)", ylabel="tip off its place (mm)", ylim=(0, 65), xlim=(0, 2))
    fan.legend(*(x[::-1] for x in fan.get_legend_handles_labels()), fontsize="small")

    edges, hit = np.arange(0, 11, 0.5), distance <= WINDOW
    histogram.hist(1e3 * distance[hit], edges, color=SKY)
    histogram.hist(1e3 * distance[~hit], edges, color=VERMILION)
    histogram.hist(1e3 * better, edges, histtype="step", color=BLACK)
    histogram.axvline(1e3 * WINDOW, color=BLACK, linewidth=0.8, linestyle="--")
    histogram.text(5.2, 70, f"{part:.1f} % miss it\n({low:.1f} to {high:.1f} %)", color=VERMILION)
    histogram.text(5.2, 190, f"tool's mass to 1 %:\n{part_better:.1f} % miss it\n"
                             f"({low_better:.1f} to {high_better:.1f} %)")
    histogram.set(title=f"At 2 s, {MEMBERS} arms", xlabel="tip off its place (mm)", ylabel="arms", xlim=(0, 10))

    names, left = [link[0] for link in LINKS], np.zeros(len(LINKS))
    labels = {"mass": "mass, ± 3 %", "com": "centre of mass, ± 4 mm", "damping": "damping, ± 10 %"}
    for (kind, label), colour in zip(labels.items(), (BLUE, ORANGE, VERMILION), strict=True):
        widths = 100 * np.array([blame[f"{kind}:{name}"] for name in names])
        bars.barh(names, widths, left=left, color=colour, label=label, height=0.7)
        left += widths
    bars.invert_yaxis()
    bars.grid(axis="y", visible=False)
    bars.set(title="Who is to blame for it", xlabel="part of the mean square (%)", xlim=(0, 50))
    bars.legend(fontsize="small")
    figure.savefig("out/tolerance_study.png")
