"""What accuracy costs: orders and steps against the error of the energy and of the motion; and orders under forces."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import leastaction as la
from leastaction.analysis.accuracy import LOST
from leastaction.integrators import Integrator
from leastaction.markdown import table

# Methods and the steps (ms) at which each is of interest
METHODS: dict[str, tuple[Integrator, tuple[float, ...]]] = {
    "order 2": (la.Variational(), (0.1, 0.25, 0.5, 1, 2, 5)),
    "order 4": (la.Variational(order=4), (0.5, 1, 2, 5, 10, 20)),
    "order 6": (la.Variational(order=6), (1, 2, 5, 10, 20)),
    "order 8": (la.Variational(order=8), (2, 5, 10, 20, 40)),
    "Runge–Kutta 4": (la.RungeKutta4(), (0.5, 1, 2, 5, 10, 20)),
    "semi-implicit Euler": (la.SemiImplicitEuler(), (0.1, 0.5, 1)),
    # which chooses its steps: 100 ms is from node to node
    **{f"DOP853, tol {tol:.0e}": (la.DormandPrince8(tol), (100,)) for tol in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)},
}
TARGETS = (1e-2, 1e-4, 1e-6, 1e-8)


class Motion(NamedTuple):
    """A motion to follow: a model from its default state, for so many seconds."""

    name: str
    make: Callable[[], la.Model]
    duration: float


def _weightless() -> la.Model:
    model = la.library.ragdoll()
    model.gravity = (0.0, 0.0, 0.0)
    return model


MOTIONS = (
    Motion("paper chain, 10 links", lambda: la.library.paper_chain(10), 4.0),
    Motion("falling ragdoll", la.library.ragdoll, 2.0),
    Motion("weightless ragdoll", _weightless, 2.0),
)


class Result(NamedTuple):
    """A run: its method and step (ms), the errors of energy and motion, CPU time per simulated second (s)."""

    method: str
    step: float
    energy: float
    motion: float
    seconds: float


def follow(motion: Motion, methods: Iterable[str], repeats: int, finest: float) -> list[Result]:
    """Follow a motion by each method at each of its steps from ``finest`` (ms) on; failed runs are left out."""
    model, results = motion.make(), []
    for name in methods:
        integrator, steps = METHODS[name]
        for step in (s for s in steps if s >= finest):
            seconds = []
            for _ in range(repeats + 1):  # the first may have to compile
                began = time.process_time()
                run = la.simulate(model, dt=1e-3 * step, duration=motion.duration, integrator=integrator,
                                  progress=False, on_failure="truncate")
                seconds.append(time.process_time() - began)
            if run.failure is None:
                results.append(Result(name, step, run.max_energy_error, run.accuracy().max_error,
                                      min(seconds) / motion.duration))
    return results


def cheapest(results: Iterable[Result], target: float) -> Result | None:
    """Pick the fastest of the runs whose motion is good enough."""
    good = [r for r in results if r.motion <= target]
    return min(good, key=lambda r: r.seconds) if good else None


def section(motions: Iterable[Motion], methods: Sequence[str], repeats: int, finest: float) -> str:
    """Follow the motions and write what was found."""
    parts = [
        "### Order and step",
        "Greatest error of the energy, relative to the peak kinetic energy; greatest error of the motion as estimated "
        "by `traj.accuracy()`, rad or m; CPU time per simulated second.",
    ]
    for motion in motions:
        print(f"orders: {motion.name}…", flush=True)
        results = follow(motion, methods, repeats, finest)
        rows = [(r.method, f"{r.step:g} ms", f"{r.energy:.1e}", f"{r.motion:.1e}" if r.motion < LOST else "lost",
                 f"{1e3 * r.seconds:.3g} ms") for r in results]
        picks = [(f"{target:g}", f"{r.method}, {r.step:g} ms", f"{1e3 * r.seconds:.3g} ms")
                 for target in TARGETS if (r := cheapest(results, target))]
        parts += [
            f"**{motion.name}, {motion.duration:g} s**: the cheapest way to a given error of the motion",
            table(("error of the motion", "method", "CPU time per second"), picks),
            "and all runs:",
            table(("method", "step", "energy", "motion", "CPU time per second"), rows),
        ]
    return "\n\n".join(parts)
