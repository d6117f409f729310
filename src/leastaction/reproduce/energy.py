"""Fig. 2b: the energy of a 10-body chain, RIQN against semi-implicit Euler; and who drifts when, in a long run."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

import leastaction as la
from leastaction.integrators import Integrator
from leastaction.plots.picture import save
from leastaction.plots.style import BLUE, GREEN, ORANGE, VERMILION, style
from leastaction.reproduce.method import as_in_the_paper
from leastaction.reproduce.section import Claim, Figure, Plan, Section, Table, bar

DT, BODIES = 1e-3, 10
METHODS: dict[str, tuple[Integrator, str]] = {
    "RIQN (variational)": (as_in_the_paper(root_finder=la.RIQN()), BLUE),
    "semi-implicit Euler": (la.SemiImplicitEuler(), VERMILION),
    "Runge–Kutta 4": (la.RungeKutta4(), ORANGE),
    "order 4 (variational)": (as_in_the_paper(order=4), GREEN),
}
CHAINS: dict[str, Callable[[int], la.Model]] = {
    "the paper's chain": la.library.paper_chain, "hard chain": la.library.chain}
POINTS = 2000  # to draw of a run


class Kept(NamedTuple):
    """Energy error of a run: the times kept (s), the error there, its greatest over all steps, root mean square, drift.

    All relative to the peak kinetic energy of the first of the methods. The drift is the mean of the last tenth less
    that of the first.
    """

    t: np.ndarray
    error: np.ndarray
    greatest: float
    rms: float
    drift: float
    failure: str


def measure(plan: Plan) -> dict[tuple[str, float, str], Kept]:
    """Follow the energy of both chains, with every method, for a short and a long time."""
    cases = [(chain, duration, name) for chain, duration in
             ((next(iter(CHAINS)), plan.short), *((chain, plan.long) for chain in CHAINS)) for name in METHODS]
    found: dict[tuple[str, float, str], Kept] = {}
    scale: dict[tuple[str, float], float] = {}
    for chain, duration, name in bar(cases, "Fig. 2b"):
        every = max(1, round(duration / DT / POINTS))
        run = la.simulate(CHAINS[chain](BODIES), dt=DT, duration=duration, integrator=METHODS[name][0],
                          record_every=every, progress=False, on_failure="truncate")
        peak = scale.setdefault((chain, duration), run.peak_kinetic_energy)
        error = (run.energy - run.energy[0]) / peak
        tenth = max(len(error) // 10, 1)
        found[chain, duration, name] = Kept(
            run.t, error, float(np.abs(run.energy_range - run.energy[0]).max() / peak),
            float(np.sqrt(np.mean(error**2))), float(error[-tenth:].mean() - error[:tenth].mean()),
            f"ends at {run.t[-1]:.3g} s" if run.failure else "")
    return found


@style()
def draw(found: dict[tuple[str, float, str], Kept], path: Path) -> None:
    """Draw a panel for every chain and duration."""
    panels = list(dict.fromkeys((chain, duration) for chain, duration, _ in found))
    figure, axes = plt.subplots(1, len(panels), figsize=(4.3 * len(panels), 3.8), squeeze=False)
    for ax, (chain, duration) in zip(axes[0], panels, strict=True):
        for name, (_, colour) in METHODS.items():
            kept = found[chain, duration, name]
            ax.plot(kept.t, 100 * np.abs(kept.error), color=colour, linewidth=0.8, label=name)
        ax.set(title=f"{chain}, {duration:g} s", xlabel="time (s)",
               yscale="log", ylim=(1e-9, 300))
    axes[0][0].set(ylabel="|energy error| (% of peak kinetic energy)")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=len(METHODS))
    save(figure, path, dpi=110)
    plt.close(figure)


def _claims(found: dict[tuple[str, float, str], Kept], plan: Plan) -> list[Claim]:
    riqn, euler, rk4, _ = METHODS
    paper, hard = CHAINS
    ours, theirs = found[paper, plan.long, riqn], found[paper, plan.long, euler]
    kept = abs(ours.drift) < 0.1 * abs(theirs.drift) and ours.greatest < 0.1 * theirs.greatest
    beside = {chain: f"{found[chain, plan.long, riqn].rms:.1e} against {found[chain, plan.long, rk4].rms:.1e}"
              for chain in CHAINS}
    return [Claim(
        "RIQN does not artificially dissipate the energy while the Euler method does",
        f"over {plan.long:g} s the mean error moves by {ours.drift:+.1e} with RIQN and by {theirs.drift:+.1e} with "
        f"Euler; the greatest are {ours.greatest:.1e} and {theirs.greatest:.1e}",
        "confirmed" if kept else "not confirmed",
        "But Euler is an easy peer. The root mean square error of RIQN against Runge–Kutta 4 at the same step is "
        f"{beside[paper]} on {paper} and {beside[hard]} on the {hard}, over {plan.long:g} s.")]


def run(plan: Plan, out: Path) -> Section:
    """Measure, draw, and say what was found."""
    found = measure(plan)
    draw(found, out / "energy.png")
    rows = [(chain, f"{duration:g}", name, f"{k.greatest:.2e}", f"{k.rms:.2e}", f"{k.drift:+.2e}", k.failure)
            for (chain, duration, name), k in found.items()]
    curves = [(chain, f"{duration:g}", name, f"{t:g}", f"{e:.6e}") for (chain, duration, name), k in found.items()
              for t, e in zip(k.t, k.error, strict=True)]
    text = (
        f"Chains of {BODIES} bodies under gravity, h = 1 ms, no other forces, so that the energy should stay. The "
        "paper draws RIQN and semi-implicit Euler; Runge–Kutta 4 and our composition of order 4 (seven steps of "
        f"order 2) are added, the run is prolonged to {plan.long:g} s, and the hard chain (links of 10 cm, released "
        "horizontally, whipping) stands beside the paper's. Errors are relative to the peak kinetic energy of the "
        "RIQN run. The energy of a node is ½pᵀM⁻¹p + P(q)."
    )
    return Section("Figure 2b: energy", text, [Figure(
        out / "energy.png", "Energy error over time: the paper's experiment, the same prolonged, the hard chain.")], [
        Table("energy", ("chain", "duration, s", "method", "greatest", "rms", "drift", ""), rows),
        Table("energy_curves", ("chain", "duration, s", "method", "t, s", "error"), curves, shown=False),
    ], _claims(found, plan))
