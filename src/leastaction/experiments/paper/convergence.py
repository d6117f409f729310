"""Fig. 4a: ‖f‖ within one step from the zero configuration, Newton against RIQN."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import leastaction as la
from leastaction.experiments.paper.section import Claim, Figure, Plan, Section, Table, bar
from leastaction.integrators import RootFinder
from leastaction.plots.style import BLUE, GREEN, QUIET, VERMILION, style

DT, TOLERANCE = 1e-3, 1e-8  # s; ‖f‖, the authors'
FINDERS: dict[str, tuple[type[RootFinder], str]] = {
    "Newton": (la.DenseNewton, VERMILION), "Broyden": (la.Broyden, GREEN), "RIQN": (la.RIQN, BLUE)}


def residuals(model: la.Model, finder: type[RootFinder], most: int = 40) -> list[float]:
    """‖f‖ of every iterate of the first step, from q^{k+1} = q^k, until it no longer falls."""
    found: list[float] = []
    for count in range(1, most):
        search = finder(tol=1e-300, criterion="absolute", max_iterations=count)
        plain = la.Variational(root_finder=search, guess="current", rescue=False, max_substeps=1)
        run = la.simulate(model, dt=DT, steps=1, integrator=plain, progress=False, on_failure="truncate")
        left = float(run.residual[0]) if run.failure is None else run.failure.residual
        if found and (not np.isfinite(left) or left > 0.5 * found[-1]):
            return found  # the round-off floor
        found.append(left)
    return found


def observed_order(found: list[float]) -> float:
    """Order of convergence from the last three residuals above the floor."""
    above = [r for r in found[:-1] if r > 1e4 * found[-1]] or found
    a, b, c = (above + found[len(above):])[max(0, len(above) - 3):][:3]
    return float(np.log(c / b) / np.log(b / a))


@style()
def draw(found: dict[str, list[float]], path: Path) -> None:
    """Draw the residual against the iteration."""
    figure, ax = plt.subplots(figsize=(5.2, 3.8))
    for name, values in found.items():
        ax.semilogy(range(len(values)), values, marker="o", markersize=4, color=FINDERS[name][1], label=name)
    ax.axhline(TOLERANCE, color=QUIET, linestyle=":", linewidth=1, label="tolerance")
    ax.set(xlabel="updates", ylabel="‖f‖ (N m s)", title="One step from the zero configuration")
    ax.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def run(plan: Plan, out: Path) -> Section:
    """Measure, draw, and say what was found."""
    model = la.library.paper_chain(plan.bodies)
    model.q0 = np.zeros(model.nq)
    found = {name: residuals(model, finder) for name, (finder, _) in bar(list(FINDERS.items()), "Fig. 4a")}
    draw(found, out / "convergence.png")
    needed = {name: next((k for k, r in enumerate(values) if r <= TOLERANCE), len(values)) for name, values in
              found.items()}
    rows = [(name, k, f"{value:.4e}") for name, values in found.items() for k, value in enumerate(values)]
    text = (
        f"The paper starts the search at q^{{k+1}} = 0 and does not say from which q^k. Far from zero such a step has no root at "
        "all (links would turn by more than half a turn in a millisecond), so here q^k = 0, too, and the rates are random in "
        f"±π/2: the guess is then the paper's, the root differs from it by h times the rates. {plan.bodies} bodies, DRNEA."
    )
    quadratic = observed_order(found["Newton"])
    return Section("Figure 4a: convergence within a step", text, [Figure(
        out / "convergence.png", "Residual against the number of updates of the root.")], [
        Table("convergence", ("method", "updates", "‖f‖"), rows, shown=False)], [Claim(
            "RIQN converges more slowly than Newton's method, whose rate is quadratic",
            f"{needed['RIQN']} updates to ‖f‖ ≤ 1e-8 with RIQN, {needed['Newton']} with Newton (observed order "
            f"{quadratic:.2f}), {needed['Broyden']} with Broyden",
            "confirmed" if needed["RIQN"] > needed["Newton"] else "not confirmed",
            "RIQN is linear, with a contraction of the order of h times the rates; Newton's Jacobian is exact.")])
