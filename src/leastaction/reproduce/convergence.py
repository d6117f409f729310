"""Fig. 4a: ‖f‖ within one step from the zero configuration, Newton against RIQN."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

import leastaction as la
from leastaction.integrators.root_finders import RootFinder
from leastaction.plots.picture import save
from leastaction.plots.style import BLUE, GREEN, QUIET, VERMILION, style
from leastaction.reproduce.method import as_published
from leastaction.reproduce.section import Claim, Figure, Plan, Section, Table, bar

DT, TOLERANCE = 1e-3, 1e-8  # s; ‖f‖, the authors'
TIMES = (1.0, 10.0)  # rates, relative to the authors'
FINDERS: dict[str, tuple[type[RootFinder], str]] = {
    "Newton": (la.peers.DenseNewton, VERMILION), "Broyden": (la.peers.Broyden, GREEN), "RIQN": (la.RIQN, BLUE)}


def residuals(model: la.Model, finder: type[RootFinder], most: int = 40) -> list[float]:
    """‖f‖ of every iterate of the first step, from q^{k+1} = q^k, until it no longer falls."""
    found: list[float] = []
    for count in range(1, most):
        plain = as_published(finder(tol=la.peers.Absolute(1e-300), max_iterations=count), "current")
        run = la.simulate(model, dt=DT, steps=1, integrator=plain, progress=False, on_failure="truncate")
        left = float(run.residual[0]) if run.failure is None else run.failure.residual
        if found and (not np.isfinite(left) or left > 0.5 * found[-1]):
            return found  # the round-off floor
        found.append(left)
    return found


def observed_order(found: list[float]) -> float:
    """Greatest order of convergence that three successive residuals show: round-off hides it in the last ones."""
    logs = np.log(found)
    return float(max((c - b) / (b - a) for a, b, c in zip(logs, logs[1:], logs[2:], strict=False)))


@style()
def draw(found: dict[float, dict[str, list[float]]], path: Path) -> None:
    """Draw the residual against the updates, a panel for every start."""
    figure, axes = plt.subplots(1, len(found), figsize=(9.6, 3.8), sharey=True)
    for ax, (times, curves) in zip(axes, found.items(), strict=True):
        for name, values in curves.items():
            ax.semilogy(range(len(values)), values, marker="o", markersize=4, color=FINDERS[name][1], label=name)
        ax.axhline(TOLERANCE, color=QUIET, linestyle=":", linewidth=1, label="tolerance")
        ax.set(xlabel="updates", title=f"rates in ±{'' if times == 1 else f'{times:g} × '}π/2")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set(ylabel="‖f‖ (N m s)")
    axes[0].legend()
    save(figure, path, dpi=110)
    plt.close(figure)


def run(plan: Plan, out: Path) -> Section:
    """Measure, draw, and say what was found."""
    found: dict[float, dict[str, list[float]]] = {times: {} for times in TIMES}
    for times, name in bar([(times, name) for times in TIMES for name in FINDERS], "Fig. 4a"):
        model = la.library.paper_chain(plan.bodies)
        model.q0, model.v0 = np.zeros(model.nq), times * model.v0
        found[times][name] = residuals(model, FINDERS[name][0])
    draw(found, out / "convergence.png")
    needed = {times: ", ".join(f"{name} {updates(values)}" for name, values in curves.items())
              for times, curves in found.items()}
    slower = all(updates(curves["RIQN"]) > updates(curves["Newton"]) for curves in found.values())
    rows = [(f"{times:g}", name, k, f"{value:.4e}") for times, curves in found.items()
            for name, values in curves.items() for k, value in enumerate(values)]
    text = (
        "The paper starts the search at q^{k+1} = 0 and does not say from which q^k. Far from zero such a step has "
        "no root at all (links would turn by more than half a turn in a millisecond), so here q^k = 0, too, and the "
        "rates are random in ±π/2, then ten times that: the guess is the paper's, and the root differs from it by "
        f"about h times the rates. {plan.bodies} bodies, DRNEA, gravity."
    )
    order = observed_order(found[TIMES[-1]]["Newton"])
    return Section("Figure 4a: convergence within a step", text, [Figure(
        out / "convergence.png", "Residual within one step from the zero configuration, against the updates.")], [
        Table("convergence", ("rates, times π/2", "method", "updates", "‖f‖"), rows, shown=False)], [Claim(
            "RIQN converges more slowly than Newton's method, whose rate is quadratic",
            f"updates to ‖f‖ ≤ 1e-8: {needed[1.0]}; with rates ten times as high {needed[TIMES[-1]]}; observed order "
            f"of Newton {order:.1f}",
            "confirmed" if slower else "not confirmed",
            "RIQN is linear, with a contraction of the order of h times the rates of the links, which add up along "
            "the chain; Newton's Jacobian is exact.")])


def updates(values: list[float]) -> int:
    """Number of updates until the residual is below the tolerance, or all that were made if it never is."""
    return next((k for k, r in enumerate(values) if r <= TOLERANCE), len(values))
