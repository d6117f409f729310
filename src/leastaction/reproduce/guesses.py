"""The three initial guesses that the paper proposes, and extrapolation of past steps: what a step costs."""

from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import leastaction as la
from leastaction.integrators import Guess
from leastaction.plots.picture import save
from leastaction.plots.style import BLUE, QUIET, style
from leastaction.reproduce import timing
from leastaction.reproduce.method import as_in_the_paper
from leastaction.reproduce.section import Figure, Plan, Section, Table, bar

GUESSES: dict[Guess, str] = {
    "current": "IG1, where it is", "euler": "IG2, explicit Euler", "dynamics": "IG3, forward dynamics",
    "extrapolated": "extrapolation"}
CASES: dict[str, Callable[[], la.Model]] = {
    "the paper's chain, 10 bodies": lambda: la.library.paper_chain(10),
    "the paper's chain, 50 bodies": lambda: la.library.paper_chain(50),
    "hard chain, 10 bodies": lambda: la.library.chain(10),
}


@style()
def draw(found: dict[tuple[str, Guess], list[timing.Timing]], path: Path) -> None:
    """Draw evaluations and time of a step, a panel for every case."""
    figure, axes = plt.subplots(1, len(CASES), figsize=(9.6, 3.2), sharey=True)
    places = np.arange(len(GUESSES))
    for ax, case in zip(axes, CASES, strict=True):
        evaluations = [found[case, guess][0].evaluations for guess in GUESSES]
        micro = [1e6 * min(t.seconds for t in found[case, guess]) for guess in GUESSES]
        ax.barh(places, evaluations, height=0.6, color=[BLUE if g in ("current", "euler", "dynamics") else QUIET
                                                        for g in GUESSES])
        for place, count, time in zip(places, evaluations, micro, strict=True):
            ax.text(count, place, f" {time:.3g} µs", va="center", fontsize=7.5)
        ax.set(title=case, xlabel="evaluations a step", yticks=places, yticklabels=GUESSES.values(),
               xlim=(0, 1.35 * max(evaluations)))
        ax.grid(axis="y", visible=False)
    axes[0].invert_yaxis()
    save(figure, path, dpi=110)
    plt.close(figure)


def run(plan: Plan, out: Path) -> Section:
    """Measure, draw, and say what was found."""
    found: dict[tuple[str, Guess], list[timing.Timing]] = {}
    for case in bar(list(CASES), "guesses"):
        model = CASES[case]()
        jobs = {}
        for guess in GUESSES:
            method = as_in_the_paper(root_finder=la.RIQN(tol=1e-10), guess=guess)
            timing.timed(model, method, 2)
            jobs[case, guess] = model, method, plan.guess_frames
        found |= timing.repeated(jobs, plan.repeats)
    draw(found, out / "guesses.png")
    rows = [(case, GUESSES[guess], times[0].frames, f"{times[0].evaluations:.2f}",
             *(f"{1e6 * v:.4g}" for v in (min(t.seconds for t in times), max(t.seconds for t in times))))
            for (case, guess), times in found.items()]
    best = {case: min(GUESSES, key=lambda g: min(t.seconds for t in found[case, g])) for case in CASES}
    text = (
        "The paper proposes IG1 to IG3 and measures none of them. RIQN with DRNEA, h = 1 ms, gravity, relative "
        f"residual 1e-10, {plan.guess_frames:,} frames. IG3 saves evaluations and pays for them with one of forward "
        "dynamics; extrapolating past "
        "steps costs nothing. Fastest: " + "; ".join(f"{GUESSES[g]} ({case})" for case, g in best.items()) + "."
    )
    return Section("Initial guesses", text, [Figure(
        out / "guesses.png", "Evaluations a step by initial guess, and CPU time of a step beside the bars.")], [
        Table("guesses", ("motion", "guess", "frames", "evaluations a step", "µs a step, least", "greatest"), rows)])
