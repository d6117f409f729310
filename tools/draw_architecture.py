"""Draw docs/images/architecture.png: the way of the data through the library, and the seams where physics is added."""

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

from leastaction.plots.picture import save
from leastaction.plots.style import BLACK, BLUE, GREEN, QUIET, VERMILION

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "architecture.png"
PALE, PAPER = "#f1f5f8", "white"
MIDDLE, WIDE, TALL, APART = 4.75, 3.1, 0.72, 1.08   # where the stations stand, inches; their size and distance
LEFT, RIGHT = 1.45, 8.05   # where callers and seams stand

# Name of a station, where its code is, what happens there, and what it hands to the next one.
STATIONS = [
    ("description", "model/", "bodies, joints, forces: what a user says", "Model"),
    ("arrays", "compiled.py", "links in the order of the tree, as numbers", "Tree, memory of the links"),
    ("kernels", "drnea, sweep, root", "residual, linear solve, search for the root", "q of the next node"),
    ("step", "kernels/step.py", "kick, guess, find the root, next node, kick", "node: q, v, p"),
    ("loop", "kernels/loop.py", "forces, step, energy, record; also in lanes", "Record"),
    ("trajectory", "trajectory.py", "t, q, v, p, energy, momentum, status", "Trajectory"),
    ("pictures", "plots/ viewers/ pages/", "curves, films, certificates", ""),
]
# What a user calls, in which part of the library it is, and the station that it leads to.
CALLERS = [
    ("la.load, la.from_mujoco", "formats/", 0),
    ("la.mass_matrix, la.poses …", "dynamics.py", 1),
    ("la.Variational, la.RungeKutta4", "integrators/", 3),
    ("la.simulate, la.Simulator", "simulation/", 4),
    ("la.open, la.resume", "files/", 5),
    ("la.audit, la.compare", "analysis/", 6),
]
# What is added at a seam, in which folder, how many files that takes by the count of docs/extending.md, where it
# stands, counted in stations, and the station that it enters.
SEAMS = [
    ("joint of screws", "a subclass of Joint", "1 file", 0, 0),
    ("kind of joint", "kernels/joints/", "2 files", 1.93, 1.9),
    ("force", "kernels/elements/", "1 file", 2.53, 2.0),
    ("kind of row", "kernels/constraints/", "3 files", 3.13, 2.1),
    ("integrator", "kernels/methods.py", "1 file", 3.73, 3.1),
]


def height(station):
    return 7.4 - APART * station


def box(ax, x, y, width, tall, face, edge, **options):
    ax.add_patch(FancyBboxPatch((x - width / 2, y - tall / 2), width, tall, facecolor=face, edgecolor=edge,
                                boxstyle="round,pad=0,rounding_size=0.09", **{"linewidth": 1.1, **options}))


def arrow(ax, start, end, colour):
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.3,
                                            "shrinkA": 0, "shrinkB": 0, "mutation_scale": 11})


def write(ax, x, y, words, size, colour=BLACK, **options):
    ax.text(x, y, words, fontsize=size, color=colour, **{"ha": "center", "va": "center", **options})


def draw():
    figure, ax = plt.subplots(figsize=(9.5, 7.9))
    figure.subplots_adjust(0, 0, 1, 1)
    ax.set(xlim=(0, 9.5), ylim=(0.2, 8.1), aspect="equal")
    ax.axis("off")
    low, high = height(4) - 0.44, height(1.6)
    box(ax, 6.17, (low + high) / 2, 6.3, high - low, PALE, QUIET, linestyle=(0, (4, 3)))
    write(ax, 9.22, low + 0.09, "kernels/: numbers only, compiled by Numba", 8.5, QUIET, ha="right", va="bottom")
    for k, (name, code, what, handed) in enumerate(STATIONS):
        y = height(k)
        box(ax, MIDDLE, y, WIDE, TALL, PAPER, BLUE)
        write(ax, MIDDLE - WIDE / 2 + 0.15, y + 0.15, name, 13, BLUE, weight="bold", ha="left")
        write(ax, MIDDLE + WIDE / 2 - 0.12, y + 0.15, code, 9, family="monospace", ha="right")
        write(ax, MIDDLE - WIDE / 2 + 0.15, y - 0.17, what, 9.5, ha="left")
        if handed:
            arrow(ax, (MIDDLE, y - TALL / 2), (MIDDLE, height(k + 1) + TALL / 2), BLACK)
            write(ax, MIDDLE + 0.12, y - APART / 2, handed, 9, style="italic", ha="left")
    for name, code, k in CALLERS:
        write(ax, LEFT, height(k) + 0.12, name, 9, GREEN, family="monospace")
        write(ax, LEFT, height(k) - 0.12, code, 9, QUIET)
        arrow(ax, (LEFT + 1.3, height(k)), (MIDDLE - WIDE / 2, height(k)), GREEN)
    for name, code, files, k, station in SEAMS:
        box(ax, RIGHT, height(k), 1.9, 0.56, PAPER, VERMILION)
        write(ax, RIGHT - 0.84, height(k) + 0.12, name, 10.5, VERMILION, weight="bold", ha="left")
        write(ax, RIGHT + 0.84, height(k) + 0.12, files, 9, ha="right")
        write(ax, RIGHT - 0.84, height(k) - 0.14, code, 8.5, family="monospace", ha="left")
        arrow(ax, (RIGHT - 0.95, height(k)), (MIDDLE + WIDE / 2, height(station)), VERMILION)
    write(ax, LEFT, 8.0, "what you call", 10, GREEN, va="top")
    write(ax, MIDDLE, 8.0, "the way of the data", 10, BLUE, va="top")
    write(ax, RIGHT, 8.0, "what you add", 10, VERMILION, va="top")
    return figure


if __name__ == "__main__":
    save(draw(), PICTURE)
