"""Tell whether two checkouts compute the same bits: for changes of kernels that must not change a number.

    python tools/same_bits.py OTHER             # this checkout beside one in the folder OTHER
    python tools/same_bits.py --against REV     # beside a commit, in a worktree that is removed afterwards
    python tools/same_bits.py --only chain,lanes OTHER

Each checkout runs the same cases in a process of its own; q, v, p, energy, momentum, iterations, residual and status
are compared bit by bit, in this environment: bits also move with the processor and with Python, so none are kept.
Exit code 0: the same; 1: another number; 2: a case could not be run.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from contextlib import ExitStack
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
COMPARED = ("q", "v", "p", "energy", "momentum", "iterations", "residual", "status", "substeps")


def moving(model, speed=1.0):
    """A start at which every joint moves and loops are closed, the same in both checkouts."""
    import leastaction as la

    q, v = model.q0, model.v0 + speed * np.random.default_rng(1).standard_normal(model.nv)
    return la.assemble(model, q, v) if model.loops else (q, v)


def robot(package, name):
    """A robot of a package of the zoo, with what the dynamics honour of it."""
    from leastaction.formats import zoo

    for path in zoo.paths(package):
        if path.name == name:
            return zoo.survey(path).load()
    raise FileNotFoundError(f"{package} is not installed")


def run(model, steps=300, dt=1e-3, speed=1.0, **options):
    import leastaction as la

    q, v = moving(model, speed)
    return [la.simulate(model, q, v, dt=dt, steps=steps, **options)]


def together(model, members=5, steps=300, dt=1e-3, **options):
    """Members in lanes, of which the last is in a group of its own."""
    import leastaction as la

    q, v = moving(model)
    speeds = v * np.linspace(0.5, 1.5, members)[:, None]
    return la.simulate_many(model, q, speeds, dt=dt, steps=steps, threads=1, **options)


def pushed(many, model, steps=100):
    """With joint forces and wrenches for every step."""
    wave = np.sin(0.1 * np.arange(steps))
    return many(model, steps=steps, control=wave[:, None] * np.ones(model.nv),
                wrench=wave[:, None, None] * np.ones((model.nb, 6)))


def chain(n):
    import leastaction as la

    return la.library.chain(n)


def tied():
    """A chain whose links are tied to each other and to the ground."""
    import leastaction as la

    model = chain(6)
    first, *_, last = model.names
    model.add_force("tie", la.Spring(first, other=last, point=(0.1, 0.2, 0.3), stiffness=50.0, rest=0.5, damping=0.1))
    model.add_force("anchor", la.Spring(last, other_point=(1.0, 2.0, 3.0), stiffness=20.0))
    return model


def four_bar(wrist=None):
    """A four-bar; if its crank carries a bob on the given joint, its rocker has stops."""
    import leastaction as la

    model = la.Model((0, -9.81, 0))
    for name, parent, x, length, limits in (("crank", None, 0.0, 1.0, None), ("coupler", "crank", 1.0, 2.0, None),
                                            ("rocker", None, 2.2, 1.5, (1.2, 2.4) if wrist else None)):
        model.add_body(name, parent, la.Revolute((0, 0, 1), limits=limits), position=(x, 0, 0), inertia=rod(length))
    if wrist:
        model.add_body("bob", "crank", wrist, inertia=la.Inertia.sphere(0.1, 0.05, com=(0, -0.3, 0)))
    model.add_loop("pin", "coupler", "rocker", joint=la.Ball(), position=(2, 0, 0), other_position=(1.5, 0, 0))
    q = np.concatenate([(1.2, -0.9, 1.5), wrist.neutral if wrist else ()])
    model.q0, model.v0 = la.assemble(model, q, np.zeros(model.nv), keep="crank")
    return model


def rubbing():
    """An arm with dry friction at every joint that turns from one stop to the other."""
    import leastaction as la

    model, parent = la.Model(), None
    for k in range(3):
        joint = la.Revolute((0, 1, 0) if k % 2 == 0 else (1, 0, 0), limits=(-0.6, 0.8), limit_restitution=0.3 * k,
                            friction=0.5)
        model.add_body(f"link {k}", parent, joint, position=(0, 0, -1.0 if k else 0.0),
                       inertia=la.Inertia(1.0 + k, (0.1, 0, -0.5), np.diag([0.1, 0.12, 0.05])))
        parent = f"link {k}"
    return model


def rod(length, mass=1.0):
    """Along x from the joint on."""
    import leastaction as la

    return la.Inertia.rod(mass, length=length, axis=(1, 0, 0), com=(length / 2, 0, 0))


def rail(loops):
    """A ladder of hinges, bar on bar; from every bar a post hangs, whose foot is pinned to the ground."""
    import leastaction as la

    model, hinge = la.Model((0, -9.81, 0)), la.Revolute((0, 0, 1))
    model.add_body("post0", None, hinge, inertia=rod(1.0))
    q, above = [1.2], "post0"
    for i in range(loops):
        model.add_body(f"bar{i}", above, hinge, position=(1, 0, 0), inertia=rod(1.0))
        model.add_body(f"post{i + 1}", f"bar{i}", hinge, position=(1, 0, 0), inertia=rod(1.0))
        model.add_loop(f"foot{i}", f"post{i + 1}", joint=hinge, position=(1, 0, 0), other_position=(i + 1, 0, 0))
        q, above = [*q, 0.0 if i else -1.2, -1.9], f"bar{i}"
    model.q0, model.v0 = la.assemble(model, q, np.zeros(model.nv))
    return model


def wheels():
    """Four wheels on a pendulum, each geared to the one before; the last follows a polynomial."""
    import leastaction as la

    model, hinge = la.Model((0, -9.81, 0)), la.Revolute((0, 0, 1))
    model.add_body("arm", None, hinge, inertia=rod(1.0))
    for k in range(4):
        model.add_body(f"wheel{k}", "arm", hinge, position=(0.3 * k, 0, 0),
                       inertia=la.Inertia.sphere(0.5, 0.1, com=(0.02, 0, 0)))
        if k:
            model.add_coupling(f"gear{k}", f"wheel{k}", to=f"wheel{k - 1}",
                               coefficients=(0.1, -1.5, *((0.2, 0.05) if k == 3 else ())))
    model.q0, model.v0 = la.assemble(model, model.q0, model.v0)
    return model


def ring():
    """A free body with two arms of hinges and balls, whose ends are a point, and a rod between their elbows."""
    import leastaction as la

    model = la.Model((0, 0, 0))
    model.add_body("base", None, la.Free(), inertia=la.Inertia.sphere(3.0, 0.3))
    for name, side in (("left", 1), ("right", -1)):
        above, position = "base", (0, 0.2 * side, 0)
        for k, joint in enumerate((la.Revolute((1, 0.2 * side, 0)), la.Ball(), la.Revolute((0.1, 1, 0)))):
            model.add_body(f"{name}{k}", above, joint, position=position,
                           inertia=la.Inertia.rod(1.0, length=0.4, axis=(0, 0, 1), com=(0, 0, -0.2)))
            above, position = f"{name}{k}", (0, 0, -0.4)
    model.add_loop("end", "left2", "right2", joint=la.Ball(), position=position, other_position=position)
    model.add_loop("rod", "left0", "right0", joint=la.Rod(0.5), position=position, other_position=position)
    model.q0, model.v0 = la.assemble(model, model.q0, model.v0)
    return model


def cases():
    """By name, what makes the trajectories of a case."""
    import leastaction as la

    library = la.library
    return {
        "chain 10": lambda: run(chain(10)),
        "chain 100": lambda: run(chain(100), speed=0.0),
        "ragdoll": lambda: run(library.ragdoll()),
        "ball tree": lambda: run(library.tree(3, 2, "ball")),
        "pushed ragdoll": lambda: pushed(run, library.ragdoll()),
        "panda": lambda: run(robot("example-robot-data", "panda.urdf")),
        "half_cheetah, with springs and dampers": lambda: run(robot("gymnasium", "half_cheetah.xml")),
        "humanoid": lambda: run(robot("gymnasium", "humanoid.xml")),
        "lanes: chain 10": lambda: together(chain(10)),
        "lanes: ragdoll": lambda: together(library.ragdoll()),
        "lanes: half_cheetah": lambda: together(robot("gymnasium", "half_cheetah.xml")),
        "lanes: pushed ragdoll": lambda: pushed(together, library.ragdoll()),
        "lanes: rescue": lambda: together(chain(10), dt=1e-2, steps=500),
        "rescue": lambda: run(chain(10), dt=1e-2, speed=0.0, steps=1000),
        "order 4": lambda: run(chain(10), integrator=la.Variational(order=4)),
        "RIQN": lambda: run(chain(10), integrator=la.Variational(root_finder=la.RIQN())),
        "RIQN, ragdoll": lambda: run(library.ragdoll(), integrator=la.Variational(root_finder=la.RIQN())),
        "exp, ragdoll": lambda: run(library.ragdoll(), integrator=la.Variational(retraction="exp")),
        "SVI, chain": lambda: run(chain(10), steps=30, integrator=la.peers.SVI(la.peers.DenseNewton())),
        "SVI, tree": lambda: run(library.tree(3, 2, "revolute"), steps=30,
                                 integrator=la.peers.SVI(la.peers.DenseNewton())),
        "forces: tied chain": lambda: run(tied()),
        "RK4": lambda: run(chain(10), integrator=la.RungeKutta4()),
        "stops: dry friction": lambda: run(rubbing(), speed=3.0, steps=600),
        "stops: four-bar": lambda: run(four_bar(la.Revolute((0, 0, 1)))),
        "stops: ball": lambda: run(four_bar(la.Ball(limits=(0, 1.0), limit_restitution=0.5))),
        "loops: four-bar": lambda: run(four_bar()),
        "loops: rail ladder": lambda: run(rail(8)),
        "loops: coupled wheels": lambda: run(wheels()),
        "loops: floating ring": lambda: run(ring()),
        "loops: floating ring, RK4": lambda: run(ring(), integrator=la.RungeKutta4()),
        "loops: floating ring, order 4": lambda: run(ring(), integrator=la.Variational(order=4)),
        "DOP853, ragdoll": lambda: run(library.ragdoll(), integrator=la.DormandPrince8()),
        "Euler, ragdoll": lambda: run(library.ragdoll(), integrator=la.SemiImplicitEuler()),
    }


def write(folder, only):
    """Run the cases of the checkout that is imported, and write the arrays of each to a file."""
    warnings.simplefilter("ignore")
    for number, (name, make) in enumerate(cases().items()):
        if not any(word in name for word in only):
            continue
        try:
            found = {f"{k} {what}": getattr(trajectory, what)
                     for k, trajectory in enumerate(make()) for what in COMPARED}
        except Exception as trouble:
            found = {"trouble": np.array(repr(trouble))}
        np.savez(folder / f"{number:02d} {name.replace(':', '')}.npz", **found)


def start(checkout, folder, only):
    """Run the cases of a checkout in a process of its own."""
    folder.mkdir()
    command = [sys.executable, __file__, "--write", str(folder), "--only", ",".join(only)]
    environment = {**os.environ, "PYTHONPATH": str(Path(checkout) / "src")}
    return subprocess.Popen(command, env=environment, cwd=folder)


def difference(mine, other):
    """In words, how the arrays of a case differ; empty if they are the same bits."""
    told = []
    for what in mine:
        a, b = mine[what], other[what]
        if a.shape != b.shape:
            told.append(f"{what} has shape {a.shape}, not {b.shape}")
        elif a.tobytes() != b.tobytes():
            where = tuple(int(k) for k in np.argwhere(a != b)[0]) if (a != b).any() else "a sign or a NaN"
            size = np.nanmax(np.abs(np.asarray(a, dtype=float) - b)) if (a != b).any() else 0.0
            told.append(f"{what}: first at {where}, at most {size:.2g}")
    return "; ".join(told)


def compare(mine, other):
    """Print a line for each case. Gives the exit code."""
    code = 0
    for path in sorted(mine.iterdir()):
        one, two = np.load(path), np.load(other / path.name)
        trouble = [str(found["trouble"]) for found in (one, two) if "trouble" in found]
        told = difference(one, two) if not trouble else ""
        rescued = sum(int((one[what] > 1).sum()) for what in one if what.endswith("substeps"))
        divided = f" ({rescued} steps in parts)" if rescued else ""
        print(f"{'NOT RUN' if trouble else 'OTHER  ' if told else 'same   '} {path.stem[3:]}{divided}"
              f"{': ' + ' | '.join(trouble or [told]) if trouble or told else ''}")
        code = max(code, 2 if trouble else 1 if told else 0)
    return code


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", nargs="?", help="folder of the other checkout")
    parser.add_argument("--against", metavar="REV", help="a commit of this repository in place of a folder")
    parser.add_argument("--only", default="", help="cases whose names have one of these words, with commas between")
    parser.add_argument("--write", metavar="FOLDER", type=Path, help=argparse.SUPPRESS)  # of the processes it starts
    options = parser.parse_args()
    only = options.only.split(",")
    if options.write:
        write(options.write, only)
        return 0
    if bool(options.other) == bool(options.against):
        parser.error("give the folder of another checkout, or --against REV")
    with tempfile.TemporaryDirectory() as room, ExitStack() as after:
        folder, other = Path(room), options.other
        if options.against:
            other, git = str(folder / "checkout"), ["git", "-C", str(ROOT), "worktree"]
            subprocess.run([*git, "add", "--quiet", "--detach", other, options.against], check=True)
            after.callback(subprocess.run, [*git, "remove", "--force", other], check=True)
        if not (Path(other) / "src" / "leastaction").is_dir():
            parser.error(f"{other} is no checkout: it has no src/leastaction")
        both = [start(ROOT, folder / "mine", only), start(other, folder / "other", only)]
        if any([process.wait() != 0 for process in both]):
            return 2
        return compare(folder / "mine", folder / "other")


if __name__ == "__main__":
    sys.exit(main())
