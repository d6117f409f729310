"""Fig. 4b: iterations of every frame, each frame being a step from the one before."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import leastaction as la
from leastaction.integrators.root_finders import RootFinder
from leastaction.plots.picture import save
from leastaction.plots.style import BLUE, GREEN, VERMILION, style
from leastaction.reproduce.method import as_published
from leastaction.reproduce.section import Claim, Figure, Plan, Section, Table, bar, verdict_on_counts

DT, TOLERANCE = 1e-3, 1e-8
FINDERS: dict[str, tuple[type[RootFinder], str]] = {
    "Newton": (la.peers.DenseNewton, VERMILION), "Broyden": (la.peers.Broyden, GREEN), "RIQN": (la.RIQN, BLUE)}
PAPER = {"Newton": (4.0, 0.0), "RIQN": (5.69, 1.16)}


def measure(plan: Plan) -> dict[str, np.ndarray]:
    """Count the residual evaluations of every frame."""
    model, found = la.library.paper_chain(plan.bodies), {}
    for name, (finder, _) in bar(list(FINDERS.items()), "Fig. 4b"):
        method = as_published(finder(tol=la.peers.Absolute(TOLERANCE)), "dynamics")
        found[name] = la.simulate(model, dt=DT, steps=plan.counted, integrator=method, progress=False,
                                  on_failure="truncate").iterations
    return found


@style()
def draw(found: dict[str, np.ndarray], path: Path) -> None:
    """Draw the counts over the frames."""
    figure, ax = plt.subplots(figsize=(5.2, 3.8))
    for name, counts in found.items():
        ax.plot(counts, color=FINDERS[name][1], linewidth=0.8,
                label=f"{name}: mean {counts.mean():.2f}, σ {counts.std():.2f}")
    ax.set(xlabel="frame", ylabel="evaluations", title="Evaluations of every frame", ylim=(0, None))
    ax.legend()
    save(figure, path, dpi=110)
    plt.close(figure)


def run(plan: Plan, out: Path) -> Section:
    """Measure, draw, and say what was found."""
    found = measure(plan)
    draw(found, out / "iterations.png")
    claims = []
    for name, (mean, sigma) in PAPER.items():
        counts = found[name]
        claims.append(Claim(
            f"{name}: {mean:g} iterations a frame, σ = {sigma:g}",
            f"{counts.mean():.2f} evaluations, σ = {counts.std():.2f}, over {len(counts):,} frames",
            verdict_on_counts(counts, mean, sigma),
            "The count depends on the motion and its start, which the paper does not give, and on whether the last "
            "evaluation, which only finds that ‖f‖ is small, is counted (here it is). The authors' code never steps "
            "forward."))
    fewer = found["Newton"].mean() < found["RIQN"].mean()
    claims.append(Claim(
        "Newton's method requires fewer iterations than RIQN",
        f"{found['Newton'].mean():.2f} < {found['RIQN'].mean():.2f}",
        "confirmed" if fewer else "not confirmed", "Quadratic against linear convergence."))
    text = (f"The paper's chain of {plan.bodies} bodies under gravity, h = 1 ms, DRNEA, guess IG3, ‖f‖ ≤ 1e-8, each "
            "frame from the one before it.")
    rows = [(frame, *values) for frame, values in enumerate(zip(*found.values(), strict=False))]
    return Section("Figure 4b: iterations", text, [Figure(out / "iterations.png", "Evaluations of every frame.")], [
        Table("iterations", ("frame", *found), rows, shown=False)], claims)
