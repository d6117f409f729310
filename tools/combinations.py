"""What goes with what: every pair of features tried on a small mechanism. Writes the table of docs/combinations.md.

    python tools/combinations.py [--only limits]

A pair runs and is right, or is refused by a ValueError that names both; the rest is a fault. The mechanism is a
four-bar with a dial: features close its loop, gear its dial, and so on, and all act on the crank, so that they meet.
What right means: the energy and what has left the mechanism stay in balance; loops stay closed and limits are kept;
whatever acts changes the motion; another method gives nearly the same motion, but not the same bits; a batch, an
ensemble and a run resumed from a file give the numbers of a plain run.
"""

import argparse
import sys
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import leastaction as la
from leastaction.markdown import fill, table

PAGE = Path(__file__).parents[1] / "docs" / "combinations.md"
Z = (0, 0, 1)
DT, STEPS = 2e-3, 48
BALANCE = 1e-3  # of the peak kinetic energy, by which the energies may miss; methods that lose energy miss most
SAME = 1e-9  # rad: a batch and a plain run add up in another order
CLOSED = 1e-9  # m
ACTS = 1e-5  # rad, by which the motion must change for a feature to have acted


class Feature(NamedTuple):
    """One row of the table.

    name : as the table has it
    words : one of which an error has to contain to name it
    kind : features of one kind are alternatives, of which a run has one; "" if it has none
    near : rad, how near the motion must be to that of the default method; 0 if the feature is no method
    """

    name: str
    words: tuple[str, ...]
    kind: str = ""
    near: float = 0.0


ORDER, RETRACTION, FINDER, EXPLICIT, RUN = "order", "retraction", "root finder", "explicit", "run"
FEATURES = {feature.name: feature for feature in (
    Feature("order 2", ("order 2", "order=2"), ORDER),
    Feature("order 4", ("order 4", "order=4"), ORDER, 1e-3),
    Feature("order 6", ("order 6", "order=6"), ORDER, 1e-3),
    Feature("order 8", ("order 8", "order=8"), ORDER, 1e-3),
    Feature("split", ("split",), RETRACTION),
    Feature("exp", ("retraction='exp'",), RETRACTION, 1e-3),
    Feature("Newton", ("Newton",), FINDER),
    Feature("RIQN", ("RIQN",), FINDER, 1e-7),
    Feature("Euler", ("SemiImplicitEuler",), EXPLICIT, 3e-2),
    Feature("RK4", ("RungeKutta4",), EXPLICIT, 1e-3),
    Feature("DOP853", ("DormandPrince8",), EXPLICIT, 1e-3),
    Feature("SVI", ("SVI",), EXPLICIT, 1e-3),
    Feature("loops", ("loop",)),
    Feature("couplings", ("coupling",)),
    Feature("limits", ("limit",)),
    Feature("dry friction", ("friction",)),
    Feature("servos", ("actuator", "servo")),
    Feature("forces", ("force",)),
    Feature("feedback", ("control",)),
    Feature("batches", ("simulate_many",), RUN),
    Feature("ensembles", ("ensemble",), RUN),
    Feature("files", ("out", "file"), RUN),
)}
DEFAULTS = frozenset(("order 2", "split", "Newton"))
VARIATIONAL = (ORDER, RETRACTION, FINDER)
Config = frozenset[str]
SIGNS = {"runs": "✓", "refused": "–", "idle": "○", "fault": "?"}


class Outcome(NamedTuple):
    """What became of a pair.

    refused : the text of the ValueError; empty if it ran
    faults : what is wrong with it; empty if nothing is
    idle : the warning that one of the two does not act; empty if both do
    """

    refused: str
    faults: tuple[str, ...]
    idle: str = ""

    @property
    def word(self) -> str:
        """The outcome in a word."""
        return "fault" if self.faults else "refused" if self.refused else "idle" if self.idle else "runs"


def alternatives(a: str, b: str) -> bool:
    """Tell whether two features exclude each other by their nature, so that nobody can ask for both."""
    kinds = {FEATURES[a].kind, FEATURES[b].kind}
    return (len(kinds) == 1 and not kinds & {"", RUN}) or (EXPLICIT in kinds and bool(kinds & set(VARIATIONAL)))


def mechanism(has: Config) -> la.Model:
    """A four-bar and a dial that turns about the crank's axis; what closes, drives and brakes them as asked."""
    def bar(length: float) -> la.Inertia:
        return la.Inertia.rod(1.0, length=length, axis=(1, 0, 0), com=(length / 2, 0, 0))

    crank: dict[str, Any] = {}
    if "limits" in has:
        crank |= {"limits": (1.0, 1.3), "limit_restitution": 0.5}
    if "dry friction" in has:
        crank |= {"friction": 2.0}
    model = la.Model(gravity=(0, -9.81, 0), name="four-bar")
    model.add_body("crank", joint=la.Revolute(Z, **crank), inertia=bar(1.0))
    model.add_body("coupler", "crank", la.Revolute(Z), position=(1, 0, 0), inertia=bar(2.0))
    model.add_body("rocker", joint=la.Revolute(Z), position=(2.2, 0, 0), inertia=bar(1.5))
    model.add_body("dial", joint=la.Revolute(Z), position=(0, 0, 0.4), inertia=bar(0.5))
    if "loops" in has:
        model.add_loop("pin", "coupler", "rocker", joint=la.Revolute(Z), position=(2, 0, 0), other_position=(1.5, 0, 0))
    if "couplings" in has:
        model.add_coupling("gear", "dial", "crank", coefficients=(0.0, -0.5))
    if "servos" in has:
        model.add_actuator("drive", la.PD("crank", kp=60.0, kd=4.0))
    if "forces" in has:
        model.add_force("band", la.Spring("coupler", "dial", point=(1, 0, 0), other_point=(0.5, 0, 0), stiffness=40.0,
                                          rest=0.5))
    return model


@cache
def start() -> tuple[np.ndarray, np.ndarray]:
    """A state in which loop and gear are closed, whether they are there or not."""
    closed = mechanism(frozenset(("loops", "couplings")))
    return la.assemble(closed, (1.2, -0.9, 1.5, -0.6), (2.0, 0, 0, 0), keep="crank")


def integrator(has: Config) -> Any:
    """The method that a run has asked for."""
    explicit = {"Euler": la.SemiImplicitEuler(), "RK4": la.RungeKutta4(), "DOP853": la.DormandPrince8(),
                "SVI": la.peers.SVI()}
    for name in has & explicit.keys():
        return explicit[name]
    order = next((int(name.split()[1]) for name in has if name.startswith("order")), 2)
    return la.Variational(order=order, retraction="exp" if "exp" in has else "split",
                          root_finder=la.RIQN() if "RIQN" in has else la.Newton())


def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Feedback: brake the crank, and push the dial."""
    return np.array([-1.5 * v[0], 0.0, 0.0, 0.3 * np.sin(20.0 * t)])


class Made(NamedTuple):
    """A run, or the first member of several: states (N, nq), (N, nv) of its nodes, and its trajectory if it has one."""

    q: np.ndarray
    v: np.ndarray
    traj: la.Trajectory | None


def options(has: Config) -> dict[str, Any]:
    """Arguments of `simulate`."""
    return {"dt": DT, "steps": STEPS, "integrator": integrator(has),
            **({"control": law} if "feedback" in has else {}), **({"command": [1.0]} if "servos" in has else {})}


@cache
def run(has: Config) -> Made | str:
    """Simulate with these features; the text of the ValueError if that is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if "Euler" in has:
                warnings.simplefilter("ignore", la.AccuracyWarning)  # it is right
            return make(has)
    except ValueError as error:
        return f"{type(error).__name__}: {error}"


def make(has: Config) -> Made:
    """Simulate in the way that is asked for: plainly, in a batch, in an ensemble, or cut in two in a file."""
    model, (q, v) = mechanism(has), start()
    two = np.stack([v, 0.9 * v])
    given = options(has)
    ways = {name for name in has if FEATURES[name].kind == RUN}
    with tempfile.TemporaryDirectory() as folder:
        out = {"out": Path(folder) / "run.h5"} if "files" in has else {}
        if "ensembles" in has:
            model.q0 = q
            study = la.Ensemble(model, 2, {"v": two}, quantities=("q", "v"), chunk=1, **given)
            found = study.run(Path(folder) / "study", progress=False)
            if "files" in has:  # an ensemble is one: lose a part of it, and go on
                del found
                next((Path(folder) / "study").rglob("*0.h5")).unlink()
                found = study.run(Path(folder) / "study", progress=False)
            return Made(found.q[0], found.v[0], None)
        if "batches" in has:
            commands = {"command": [given.pop("command")] * 2} if "command" in given else {}
            many = la.simulate_many(model, q, two, threads=1, **commands, **given, **out)
            return Made(many.q[0], many.v[0], many[0])
        if "files" in has:
            given["steps"] = STEPS // 2
            la.simulate(model, q, v, **given, **out)
            laws = {name: given[name] for name in ("control",) if name in given}
            la.resume(out["out"], steps=STEPS, **laws)
            done = la.open(out["out"], **laws)
            return Made(done.q[:], done.v[:], None)
    assert not ways
    traj = la.simulate(model, q, v, **given)
    return Made(traj.q, traj.v, traj)


def distance(a: Made, b: Made) -> float:
    return float(np.abs(a.q - b.q).max())


def attempt(a: str, b: str) -> Outcome:
    """Try a pair."""
    has = frozenset((a, b)) - DEFAULTS
    try:
        made = run(has)
    except la.ModelWarning as warning:
        idle = str(warning)
        return Outcome("", () if "kept but not acting" in idle else (idle,), idle)
    except Exception as error:  # a crash, or a warning that nobody expects
        return Outcome("", (f"{type(error).__name__}: {error}",))
    if isinstance(made, str):
        missing = [name for name in (a, b) if not any(word in made for word in FEATURES[name].words)]
        return Outcome(made, tuple(f"the error does not name {name}: {made}" for name in missing))
    return Outcome("", tuple(faults(has, made)))


def faults(has: Config, made: Made) -> Iterator[str]:
    """What is wrong with a run."""
    if not (np.isfinite(made.q).all() and len(made.q) == 1 + STEPS):
        yield f"{len(made.q)} nodes, not all finite"
        return
    for name in sorted(has):
        feature, without = FEATURES[name], run(has - {name})
        if isinstance(without, str):
            continue
        moved = distance(made, without)
        if feature.kind == RUN:
            if moved > (0.0 if name == "files" else SAME):
                yield f"{name}: {moved:.1e} rad off a plain run"
        elif feature.near:
            if moved > feature.near:
                yield f"{name}: {moved:.1e} rad off the default method"
            if moved == 0.0:
                yield f"{name} changes nothing"
        elif moved < ACTS:
            yield f"{name} does not act"
    if made.traj is not None:
        yield from physical(has, made.traj)


def physical(has: Config, traj: la.Trajectory) -> Iterator[str]:
    """What is wrong with the physics of a run."""
    bound = 3e-2 if "Euler" in has else BALANCE
    works = has & {"servos", "feedback"}
    if traj.max_balance_error > bound and not (works and not traj.integrator.keeps_ledger):
        yield f"the balance of energies misses by {traj.max_balance_error:.1e} of the peak kinetic energy"
    if traj.closure.max() > CLOSED:
        yield f"loops open by {traj.closure.max():.1e} m"
    beyond = max(traj.q[:, 0].max() - 1.3, 1.0 - traj.q[:, 0].min())
    if "limits" in has and (beyond > 1e-10 or not traj.limit_force.any()):
        yield f"limits passed by {beyond:.1e} rad" if beyond > 1e-10 else "no limit was reached"
    if "dry friction" in has and not traj.dry_friction.any():
        yield "no dry friction acted"


def pairs() -> list[tuple[str, str]]:
    """All pairs that can be asked for."""
    return [(a, b) for a, b in combinations(FEATURES, 2) if not alternatives(a, b)]


# Pairs that are tried with every change, chosen so that each feature is there and few kernels are compiled for them
QUICK = (
    ("order 4", "exp"), ("order 6", "RIQN"), ("order 8", "limits"), ("limits", "dry friction"), ("limits", "files"),
    ("limits", "ensembles"), ("dry friction", "batches"), ("loops", "couplings"), ("loops", "feedback"),
    ("loops", "files"), ("couplings", "servos"), ("forces", "batches"), ("split", "forces"), ("order 2", "ensembles"),
    ("loops", "limits"), ("RK4", "loops"), ("Euler", "feedback"), ("DOP853", "files"), ("SVI", "batches"),
    ("batches", "ensembles"), ("ensembles", "files"),
)


def page(words: dict[tuple[str, str], str]) -> str:
    """The tables, as the page has them, of the outcomes of all pairs."""
    names = list(FEATURES)

    def cell(a: str, b: str) -> str:
        if a == b or alternatives(a, b):
            return ""
        return SIGNS[words[(a, b) if (a, b) in words else (b, a)]]

    rows = [(f"**{a}**", *(cell(a, b) for b in names)) for a in names]
    refused = [(" + ".join(pair), f"`{attempt(*pair).refused.partition(': ')[2]}`")
               for pair in pairs() if words[pair] == "refused"]
    return "\n\n".join([table(("", *names), rows), "What the errors say:", table(("pair", "error"), refused)])


def read(text: str) -> dict[tuple[str, str], str]:
    """The outcomes that a page tells."""
    lines = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in text.splitlines()
             if line.startswith("| **") or line.startswith("|  |")]
    words = {sign: word for word, sign in SIGNS.items()}
    head = lines[0][1:]
    found = {(row[0], b): sign for row in lines[1:] for b, sign in zip(head, row[1:], strict=True)}
    return {pair: words[found[pair]] for pair in pairs()}


def main() -> None:
    """Try the pairs, print what becomes of them, and write the page if all were tried."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=FEATURES, help="only pairs with these; writes no page")
    wanted = parser.parse_args()
    chosen = [pair for pair in pairs() if not wanted.only or set(pair) & set(wanted.only)]
    words = {}
    for pair in chosen:
        found = attempt(*pair)
        words[pair] = found.word
        print(f"{' + '.join(pair)}: {found.word}", *found.faults, found.refused, found.idle, flush=True)
    if not wanted.only:
        fill(PAGE, f"\n{page(words)}\n", "combinations")
        print(f"wrote {PAGE}")
    sys.exit("fault" in words.values())


if __name__ == "__main__":
    main()
