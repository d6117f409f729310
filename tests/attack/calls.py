"""Calls of the public functions with right and wrong arguments, in a process of their own.

`python -m attack.calls SEED FIRST COUNT` makes them and prints a line for each.

What is clean: the right result, all of it finite, by a formula that shares no code with the library; or, where an
argument means nothing or is extreme, an exception of the library's own, in a sentence. A call that takes longer than
the limit ends the process.
"""

import faulthandler
import math
import os
import random
import resource
import subprocess
import sys
import traceback
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np

import leastaction as la
from attack import values
from attack.found import Found
from attack.values import EXTREME, Given

LIMIT = 5.0  # seconds that a call may take
MEMORY = 6 << 30
GRAVITY, MASS = 9.81, 2.0
STEPS = 12
INTEGRATORS = {"variational": None, "order 4": la.Variational(order=4), "riqn": la.Variational(root_finder=la.RIQN()),
               "euler": "euler", "rk4": "rk4", "dop853": "dop853"}
REFUSALS = (ValueError, TypeError, la.StepError, la.FileError, MemoryError)
PACKAGE = str(Path(la.__file__).parent)


class Wrong(Exception):
    """A call that was not clean."""


def sliders(n: int) -> la.Model:
    """Carts side by side, each on a vertical rail: q'' = τ/m − g."""
    model = la.Model(name="sliders")
    for i in range(n):
        model.add_body(f"cart{i}", joint=la.Prismatic((0, 0, 1)), position=(i, 0, 0),
                       inertia=la.Inertia.sphere(MASS, 0.1))
    return model


def fallen(integrator: str, q, v, tau, t: float, dt: float):
    """Where the carts are after a time: exactly but for Euler's method, whose sum is known too."""
    a = np.asarray(tau) / MASS - GRAVITY
    late = 0.5 * a * t * dt if integrator == "euler" else 0.0
    return np.asarray(q) + np.asarray(v) * t + 0.5 * a * t * t + late, np.asarray(v) + a * t


def near(found, expected, scale) -> bool:
    return bool(np.all(np.abs(np.asarray(found) - expected) <= 1e-9 * (1 + scale)))


def require_finite(result) -> None:
    names = ("t", "q", "v", "p", "energy", "momentum", "iterations", "residual", "status", "substeps", "energy_range",
             "momentum_range")
    for name in names:
        if hasattr(result, name) and not np.isfinite(getattr(result, name)).all():
            raise Wrong(f"{name} is not finite")


def check_end(integrator, q, v, tau, dt, end_q, end_v, steps=STEPS) -> None:
    right_q, right_v = fallen(integrator, q, v, tau, steps * dt, dt)
    scale = max(map(abs, [*q, *v, *tau, 1.0]))
    if not (near(end_q, right_q, scale) and near(end_v, right_v, scale)):
        raise Wrong(f"accepted, and wrong: q {end_q}, not {right_q}; v {end_v}, not {right_v}")


def simulate(rng):
    """One run, in memory, with forces as an array or by a function."""
    n, name = rng.choice((1, 2, 5)), rng.choice(list(INTEGRATORS))
    q, v, tau, dt = values.vector(rng, n), values.vector(rng, n), values.vector(rng, n), values.seconds(rng)
    every = values.count(rng, 1, rng.choice((1, 3, STEPS, 100)))
    steps = values.count(rng, 0, STEPS)
    by_function = rng.random() < 0.3 and not callable(tau.value)
    control = (lambda t, q, v: tau.value) if by_function else tau.value
    if callable(tau.value):
        tau = tau._replace(meant=None)
    if tau.value is None:
        tau = Given(None, [0.0] * n)

    def call():
        return la.simulate(sliders(n), q.value, v.value, dt=dt.value, steps=steps.value, integrator=INTEGRATORS[name],
                           control=control, record_every=every.value, progress=False)

    def check(run):
        require_finite(run)
        if run.steps != steps.meant or len(run) != 1 + steps.meant // every.meant:
            raise Wrong(f"{run.steps} steps, {len(run)} nodes")
        end = run.at(run.steps * run.dt)
        check_end(name, q.meant, v.meant, tau.meant, dt.meant, end.q, end.v, steps.meant)

    return (q, v, tau, dt, every, steps), call, check


def simulator(rng):
    """A simulator, stepped twice."""
    n, name = rng.choice((1, 3)), rng.choice(list(INTEGRATORS))
    q, v, tau, dt = values.vector(rng, n), values.vector(rng, n), values.vector(rng, n), values.seconds(rng)
    first = values.count(rng, 0, 5)

    def call():
        sim = la.Simulator(sliders(n), q.value, v.value, dt=dt.value, integrator=INTEGRATORS[name])
        sim.step(first.value, tau.value)
        sim.step(3, tau.value)
        return sim

    def check(sim):
        require_finite(sim)
        check_end(name, q.meant, v.meant, tau.meant, dt.meant, sim.q, sim.v, first.meant + 3)

    return (q, v, tau, dt, first), call, check


def simulate_many(rng):
    """Several runs at once; a wrong member is a wrong call."""
    n, members = rng.choice((1, 3)), rng.choice((1, 3, 5))
    rows = [values.vector(rng, n) for _ in range(members)]
    dt, every = values.seconds(rng), values.count(rng, 1, 4)
    usable = [row for row in rows if row.meant is not None]
    table = [row.value if isinstance(row.value, list | tuple) else np.asarray(row.value) for row in usable]
    name = rng.choice(["variational", "order 4", "rk4", "dop853"])
    wrong = rng.choice([1j, np.nan, "x", None, np.ma.masked]) if rng.random() < 0.15 and usable else 0
    if wrong != 0:
        table[0] = [wrong] * n
        usable[0] = Given(wrong, None)

    def call():
        return la.simulate_many(sliders(n), table or [[0.0] * n], dt=dt.value, steps=STEPS, record_every=every.value,
                                integrator=INTEGRATORS[name], threads=rng.choice((1, 2)), progress=False)

    def check(many):
        require_finite(many)
        for given, member in zip(usable, many, strict=False):
            require_finite(member)
            if member.failure is None and every.meant in (1, 4):
                check_end(name, given.meant, [0.0] * n, [0.0] * n, dt.meant, member.q[-1], member.v[-1])

    return (*usable, dt, every), call, check


def dynamics(rng):
    """Questions about a state, whose answers are known for the carts."""
    n = rng.choice((1, 2, 4))
    q, v, tau = (values.vector(rng, n) for _ in range(3))
    model = sliders(n)
    none = Given(None, [0.0] * n)
    q, v, tau = (none if given.value is None else given for given in (q, v, tau))
    match rng.randrange(5):
        case 0:
            return (q, v), lambda: la.energy(model, q.value, v.value), lambda found: expect(
                found, sum(MASS * (0.5 * w * w + GRAVITY * z) for z, w in zip(q.meant, v.meant, strict=True)),
                sum(abs(MASS * (0.5 * w * w)) + abs(GRAVITY * z) for z, w in zip(q.meant, v.meant, strict=True)))
        case 1:
            return (q, v, tau), lambda: la.forward_dynamics(model, q.value, v.value, tau.value), lambda found: expect(
                found, np.array(tau.meant) / MASS - GRAVITY, max(map(abs, tau.meant)))
        case 2:
            return (q, v, tau), lambda: la.inverse_dynamics(model, q.value, v.value, tau.value), lambda found: expect(
                found, MASS * (np.array(tau.meant) + GRAVITY), max(map(abs, tau.meant)))
        case 3:
            return (q,), lambda: la.poses(model, q.value), lambda found: expect(
                found[:, 2, 3], np.array(q.meant), max(map(abs, q.meant)))
    return (q, tau), lambda: la.increment(model, q.value, tau.value), lambda found: expect(
        found, np.array(q.meant) + np.array(tau.meant), max(map(abs, q.meant + tau.meant)))


def expect(found, right, scale) -> None:
    if not np.isfinite(found).all():
        raise Wrong("the answer is not finite")
    if not np.all(np.abs(np.asarray(found) - right) <= 1e-12 * (1 + scale)):
        raise Wrong(f"accepted, and wrong: {found}, not {right}")


def pendulum(rng):
    """A pendulum of any length and mass: its energy by the formula, and how well it is kept."""
    length, mass = (rng.choice([1.0, 0.3, 2.0, 1e-3, 1e3, 0.0, -1.0, math.nan, "1", None, 1j]) for _ in range(2))
    # At the length zero nothing is left to move; a negative one is a pendulum that stands at q = 0
    length = Given(length, length if isinstance(length, float) and abs(length) > 0 else None)
    mass = Given(mass, mass if isinstance(mass, float) and mass > 0 else None)
    q, v = values.vector(rng, 1), values.vector(rng, 1)

    def call():
        model = la.Model()
        bob = la.Inertia(mass.value, (0, 0, _negative(length.value)))
        model.add_body("bob", joint=la.Revolute((0, 1, 0)), inertia=bob)
        return la.simulate(model, q.value, v.value, dt=1e-4, steps=20, progress=False)

    def check(run):
        require_finite(run)
        l, m = length.meant, mass.meant
        right = 0.5 * m * l * l * v.meant[0] ** 2 - m * GRAVITY * l * math.cos(q.meant[0])
        scale = m * l * l * v.meant[0] ** 2 + m * GRAVITY * abs(l)
        if abs(run.energy[0] - right) > 1e-9 * scale:
            raise Wrong(f"the energy is {run.energy[0]}, not {right}")
        resolved = abs(v.meant[0]) < 10 and abs(q.meant[0]) < EXTREME and abs(l) > 0.1
        if resolved and np.abs(run.energy - right).max() > 1e-4 * scale:
            raise Wrong("the energy is not kept")

    return (length, mass, q, v), call, check


def _negative(x):
    return -x if isinstance(x, float | complex) else x


def integrators(rng):
    """Integrators with any option."""
    tol, most, parts = values.seconds(rng), values.count(rng, 1, 40), values.count(rng, 1, 16)
    order = rng.choice([Given(2, 2), Given(4, 4), Given(np.int64(6), 6), Given(3, None), Given("2", None),
                        Given([2], None), Given(None, None), Given(np.array([2, 4]), None), Given(2**64, None)])
    flag = rng.choice([Given(True, True), Given(False, False), Given("no", None), Given(2, None), Given(None, None)])

    rescue = rng.choice([Given(la.Rescue, True), Given(None, True), Given(True, None), Given("no", None)])

    def call():
        finder, given = la.Newton(tol=tol.value, max_iterations=most.value, chord=flag.value), la.Rescue(parts.value)
        return la.Variational(finder, order=order.value, rescue=given if rescue.value is la.Rescue else rescue.value)

    return (tol, most, order, flag, parts, rescue), call, lambda made: None


def names(rng):
    """Models by name, of any size."""
    text, right = rng.choice([
        ("chain:3", True), ("tree:2", True), ("pendulum", True), ("paper_chain:5", True), ("chain:10000000000", False),
        ("chain:1e10", False), ("tree:100", False), ("tree:64", False), ("chain:-1", False), ("chain:0", False),
        ("chain:", False), ("chain:³", False), ("chain:٣", True), ("rope", False), ("", False),
        ("chain:" + "9" * 9999, False),
        ("\0", False), ("chain:3:3", False), ("a" * 5000, False), ("/dev/zero.urdf", False), (".", False),
        ("pendulum:3", False),
        ("..", False), ("/proc/self/mem", False),
    ])
    return (Given(text, right or None),), lambda: la.find_model(text), lambda model: model.validate()


def edits(rng):
    """A model that is edited while it is simulated: the next step says so."""
    model, by_control = sliders(2), rng.random() < 0.5
    change = rng.choice([lambda: setattr(model, "gravity", (0, 0, 1.0)), lambda: model.add_body("more", "cart0")])

    def control(t, q, v):
        if t > 0.0035:
            change()
        return 0.0 * v

    def call():
        if by_control:
            return la.simulate(model, dt=1e-3, steps=10, control=control, integrator=rng.choice([None, "rk4"]))
        sim = la.Simulator(model)
        sim.step(3)
        change()
        sim.step(1)
        return sim

    return (Given("edited", None),), call, lambda result: None


KINDS = (simulate, simulate, simulate, simulator, simulator, simulate_many, simulate_many, dynamics, dynamics, pendulum,
         integrators, names, edits)


def extreme(given) -> bool:
    meant = given.meant
    return isinstance(meant, list) and any(abs(x) > EXTREME for x in meant)


def attempt(seed: int, k: int) -> str:
    """Make one call; gives the outcome in words, or raises what was wrong."""
    rng = random.Random(f"{seed} {k}")
    kind = rng.choice(KINDS)
    given, call, check = kind(rng)
    must_be_refused = any(one.meant is None for one in given)
    shown = f"{kind.__name__}({', '.join(f'{one.value!r:.60}' for one in given)})"
    try:
        result = call()
    except REFUSALS as error:
        message, last = str(error), traceback.extract_tb(error.__traceback__)[-1]
        ours = last.filename.startswith(PACKAGE) and not isinstance(error, np._core._exceptions._ArrayMemoryError)
        if not ours or len(message.split()) < 4 or len(message) > 1000:
            raise Wrong(f"{shown}: {type(error).__name__} that is not in our words: {message[:200]}") from error
        if not must_be_refused and not any(map(extreme, given)) and kind is not pendulum:
            raise Wrong(f"{shown}: refused without need: {message[:200]}") from None
        return "refused in a sentence"
    except Exception as error:
        raise Wrong(f"{shown}: raw {type(error).__name__}: {str(error)[:200]}") from error
    if must_be_refused:
        raise Wrong(f"{shown}: accepted")
    try:
        check(result)
    except Wrong as error:
        raise Wrong(f"{shown}: {error}") from None
    return "right result"


def warm_up() -> None:
    """Compile what the calls need, before the clock is on."""
    for integrator in INTEGRATORS.values():
        la.simulate(sliders(2), dt=1e-3, steps=3, integrator=integrator, progress=False)
        la.simulate(sliders(2), dt=1e-3, steps=3, integrator=integrator, control=[0.0, 0.0], progress=False)
        la.simulate_many(sliders(2), [[0.0, 0.0]], steps=3, integrator=integrator, progress=False)
    model = sliders(2)
    la.energy(model), la.poses(model), la.increment(model, [0, 0], [0, 0])
    la.forward_dynamics(model, None, None), la.inverse_dynamics(model, None, None, None)
    for v in ([1e5, 0.0], [0.0, 1e100]):  # the rescue, and what it says when it fails
        with suppress(la.StepError):
            la.simulate(la.library.chain(2), [0.0, 0.0], v, dt=1e-2, steps=1, control=[1.0, 1.0])


def main(seed: int, first: int, count: int) -> int:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    warm_up()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for k in range(first, first + count):
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        try:
            print(k, "clean", attempt(seed, k), flush=True)
        except Wrong as error:
            print(k, "WRONG", str(error).replace("\n", " "), flush=True)
        faulthandler.cancel_dump_traceback_later()
    return 0


def attack(count: int, seed: int) -> Found:
    """Make so many calls; a process that dies or hangs is a failure of the call it was at, and another goes on."""
    found, k = Found("good and bad input through the API"), 0
    path = os.pathsep.join(filter(None, (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path}
    while k < count:
        done = subprocess.run([sys.executable, "-X", "faulthandler", "-m", "attack.calls", str(seed), str(k),
                               str(count - k)], env=environment, capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            number, verdict, words = line.split(" ", 2)
            k = int(number) + 1
            if verdict == "clean":
                found.outcomes[words] += 1
            else:
                found.failures.append(f"call {number}: {words}")
        if done.returncode:
            if not done.stdout and not found.tried:
                raise RuntimeError(done.stderr[-3000:])
            found.failures.append(f"call {k}: the process ended with {done.returncode}: {done.stderr[:1500]}")
            k += 1
    return found


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
