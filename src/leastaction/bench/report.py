"""From measurements to a Markdown page, tables of numbers and a picture."""

import csv
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numba
import numpy as np

import leastaction as la
from leastaction.bench.long_chain import LongChain
from leastaction.bench.scaling import Cost, slope
from leastaction.bench.startup import Startup
from leastaction.plots.style import QUIET, style

FIT_FROM = 100  # bodies: below, what a step costs at any size still shows


class Results(NamedTuple):
    """All that the suite measured."""

    costs: list[Cost]
    long_chain: LongChain
    startup: Startup


class Finding(NamedTuple):
    """One number, and the one it should not exceed."""

    what: str
    value: float
    unit: str
    aim: float

    def __str__(self) -> str:
        return f"{self.what}: {quantity(self.value, self.unit)} (aim: at most {quantity(self.aim, self.unit)})"


def quantity(value: float, unit: str) -> str:
    """Write a number to three digits, and its unit."""
    return f"{value:.3g} {unit}".rstrip()


def fitted(costs: Iterable[Cost]) -> list[Cost]:
    """Those of the costs that the slope is fitted to."""
    return [c for c in costs if c.n >= FIT_FROM]


def findings(results: Results) -> list[Finding]:
    """Put the measurements that have an aim beside it."""
    costs, chain, start = results
    large = fitted(costs)
    return [
        Finding(f"slope of the cost of an evaluation, n = {large[0].n}…{large[-1].n}", slope(large), "", 1.1),
        Finding(f"a step of a chain of {chain.n:,} bodies", chain.step, "s", 1.0),
        Finding(f"peak memory with {chain.n:,} bodies", 1e-9 * chain.memory, "GB", 1.0),
        Finding("import leastaction, beyond import numba", start.imported, "s", 0.15),
        Finding(f"large libraries imported along ({', '.join(start.heavy) or 'none'})", len(start.heavy), "", 0),
        Finding("a script of three lines, nothing compiled yet", start.cold, "s", 15.0),
        Finding("the same script again", start.warm, "s", 1.2),
    ]


def machine() -> dict[str, str]:
    """Say what the numbers were measured on: processor, system and versions."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": platform.platform(terse=True),
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "Numba": numba.__version__,
        "leastaction": la.__version__,
    }


def _processor() -> str:
    known = Path("/proc/cpuinfo")
    for line in known.read_text().splitlines() if known.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def markdown(results: Results) -> str:
    """Write all of it as a Markdown page."""
    found = [(f.what, quantity(f.value, f.unit), f"≤ {quantity(f.aim, f.unit)}") for f in findings(results)]
    costs = [(c.n, f"{c.evaluations:.2f}", f"{1e6 * c.step:.4g}", f"{1e6 * c.evaluation:.4g}",
              f"{1e9 * c.evaluation / c.n:.4g}") for c in results.costs]
    return "\n\n".join([
        "# Benchmark",
        "\n".join(f"- {name}: {value}" for name, value in machine().items()),
        _table(("", "measured", "aim"), found),
        "Hard chain of n bodies, RIQN, 1 ms, one thread, CPU time, fastest of several runs:",
        _table(("n", "evaluations a step", "µs a step", "µs an evaluation", "ns an evaluation and body"), costs),
        "![cost of an evaluation against the number of bodies](cost.png)",
    ]) + "\n"


def _table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


@style()
def draw_cost(costs: Sequence[Cost], path: Path) -> None:
    """Draw the cost of an evaluation against the number of bodies, with the line of exact proportionality."""
    large = fitted(costs)
    n = np.array([c.n for c in costs])
    figure, ax = plt.subplots(figsize=(6.4, 3.8))
    ax.loglog(n, n * (1e6 * large[0].evaluation / large[0].n), color=QUIET, linestyle="--", label="proportional to n")
    ax.loglog(n, [1e6 * c.evaluation for c in costs], "o-", markersize=4,
              label=f"measured, slope {slope(large):.2f} from n = {FIT_FROM}")
    ax.set(xlabel="bodies", ylabel="cost of an evaluation (µs)", title="Hard chain, RIQN, one thread")
    ax.legend()
    figure.savefig(path)
    plt.close(figure)


def write(results: Results, out: Path) -> list[Path]:
    """Write report.md, findings.csv, scaling.csv and cost.png to a folder; gives their paths."""
    out.mkdir(parents=True, exist_ok=True)
    page, found, scaling, picture = paths = [
        out / name for name in ("report.md", "findings.csv", "scaling.csv", "cost.png")]
    page.write_text(markdown(results), encoding="utf-8")
    _write_csv(found, Finding._fields, findings(results))
    _write_csv(scaling, Cost._fields, results.costs)
    draw_cost(results.costs, picture)
    return paths


def _write_csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])
