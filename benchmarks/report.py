"""From measurements to a Markdown page, tables of numbers and pictures."""

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks import peers, pictures
from benchmarks.anatomy import Anatomy
from benchmarks.batch import Batch
from benchmarks.evaluation import Evaluation
from benchmarks.findings import LEVELS, LONG, RIVALS, Finding, Results, by_method, duels, findings, quantity
from benchmarks.precision import Run, time_to_reach
from benchmarks.scaling import Cost
from benchmarks.steps import StepCost
from leastaction.files.environment import machine
from leastaction.markdown import fill, table

STEP_TITLE = ("CPU time of a step, µs, of the hard chain with n links (1 ms, one thread; Pinocchio: calls of `aba` "
              "alone):")
PICTURES = ("steps.png", "precision.png")  # of those drawn, the ones that the README shows
README_SIZES = (10, 100, 1000)
README_METHODS = ("leastaction order 2", "leastaction order 4", "leastaction RK4", "MuJoCo implicitfast",
                  "Pinocchio aba, Euler", "DART Euler")


def markdown(results: Results) -> str:
    """Write all of it as a Markdown page."""
    versions = machine() | peers.versions()
    found = [(f.what, quantity(f.value, f.unit), f.bound, f.verdict) for f in findings(results)]
    costs = [(c.n, f"{c.evaluations:.2f}", f"{1e6 * c.step:.4g}", f"{1e6 * c.evaluation:.4g}",
              f"{1e9 * c.evaluation / c.n:.4g}") for c in results.costs]
    left_out = [f"Not installed, so left out: {', '.join(peers.missing())}."] if peers.missing() else []
    if not results.batches:
        left_out.append("Batches left out: this version has no `simulate_many`.")
    return "\n\n".join([
        "# Benchmark",
        "\n".join(f"- {name}: {value}" for name, value in versions.items()),
        *left_out,
        table(("", "measured", "target", ""), found),
        "## A step",
        "CPU time of a step, µs: hard chain of n bodies in motion, 1 ms, one thread, fastest of several runs. "
        "Pinocchio is charged its calls of `aba` alone, net of the call from Python.",
        step_table(results.steps, sorted({s.n for s in results.steps})),
        "![cost of a step against the number of bodies](steps.png)",
        *anatomy_section(results.anatomies),
        "## Work and precision",
        "CPU time, s, at which an energy error is reached, interpolated between the steps tried; – where it was not "
        "reached within the time allowed. The error is the greatest of |E − E₀|, seen every 0.1 s, over the peak "
        "kinetic energy. Errors of the motion are against our order 8 with a small step"
        + (", which differs from DOP853 on `pin.aba` by " + ", ".join(
            f"{value:.0e} ({name})" for name, value in results.reference.items()) if results.reference else "")
        + ". They are shown for as long as they mean something: the motions are chaotic, so that any error grows "
        "until it is as large as the motion itself.",
        *duel_section(results.runs),
        *precision_tables(results.runs),
        "![work and precision](precision.png)",
        "## An evaluation",
        "Hard chain of n bodies, RIQN, 1 ms, one thread, CPU time, fastest of several runs:",
        table(("n", "evaluations a step", "µs a step", "µs an evaluation", "ns an evaluation and body"), costs),
        "![cost of an evaluation against the number of bodies](cost.png)",
    ]) + "\n"


def anatomy_section(anatomies: Sequence[Anatomy]) -> list[str]:
    """Write where the time of a step goes."""
    rows = [(a.n, a.finder, f"{a.evaluations:.2f}", *(_digits(1e6 * t) for t in (a.step, a.evaluation, a.rest)),
             f"{a.rest / a.step:.0%}", _digits(1e9 * a.evaluation / a.n), _digits(1e9 * a.rest / a.n))
            for a in anatomies]
    head = ("n", "root finder", "evaluations a step", "µs a step", "µs an evaluation", "µs once a step",
            "share of that", "ns an evaluation and body", "ns once a step and body")
    return ["Where the time of a step goes, hard chain, 1 ms:", table(head, rows)] if rows else []


def step_table(steps: Sequence[StepCost], sizes: Sequence[int]) -> str:
    """Write the cost of a step, a row each method, µs."""
    seconds = {(s.method, s.n): s.seconds for s in steps}
    rows = [[name, *(_digits(1e6 * seconds.get((name, n), math.nan)) for n in sizes)]
            for name in dict.fromkeys(s.method for s in steps)]
    return table(["µs a step", *(f"n = {n}" for n in sizes)], rows)


def precision_tables(runs: Iterable[Run]) -> list[str]:
    """Write, of every motion and duration, the time to reach an energy error, a row each method."""
    runs = list(runs)
    return [precision_table(by_method(runs, motion, duration), f"{motion}, {duration:g} s", "energy")
            for motion, duration in dict.fromkeys((r.motion, r.duration) for r in runs)]


def precision_table(methods: dict[str, list[Run]], title: str, what: str) -> str:
    """Write the time to reach an error, a row each method, s."""
    rows = [[name, *(_digits(time_to_reach(runs, level, what)) for level in LEVELS)] for name, runs in methods.items()]
    return table([title, *(f"{level:.0e}" for level in LEVELS)], rows)


def _digits(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) and value < 1000 else f"{value:.0f}" if math.isfinite(value) else "–"


def readme(results: Results) -> str:
    """Write the part of it that the README shows."""
    shown = [step for step in results.steps if step.method in README_METHODS]
    return "\n\n".join([STEP_TITLE, step_table(shown, _sizes(results)), _measured_by()])


def _sizes(results: Results) -> list[int]:
    return [n for n in README_SIZES if any(s.n == n for s in results.steps)]


def duel_section(runs: Iterable[Run]) -> list[str]:
    """Write how our best fares against the best of the rivals, at every energy error."""
    rows = [(f"{d.level:.0e}", d.ours if math.isfinite(d.our_time) else "none", _digits(d.our_time), d.theirs,
             _digits(d.their_time), _digits(d.ratio)) for d in duels(runs)]
    head = ("energy error", "our cheapest", "s", f"the cheaper of {' and '.join(RIVALS)}", "s", "ratio")
    title = "{}, {:g} s: CPU time within an energy error".format(*LONG)
    return [f"{title[0].upper()}{title[1:]}:", table(head, rows)] if rows else []


def performance(results: Results) -> str:
    """Write the part of it that docs/performance.md shows."""
    found = [(f.what, quantity(f.value, f.unit), f.bound, f.verdict) for f in findings(results)]
    long = by_method(results.runs, *LONG)
    title = "CPU time, s, to follow the {} (10 links) for {:g} s within an energy error:".format(*LONG)
    return "\n\n".join([
        _measured_by(), table(("", "measured", "target", ""), found), STEP_TITLE,
        step_table(results.steps, _sizes(results)), *duel_section(results.runs),
        *([title, precision_table(long, "energy error", "energy")] if long else []),
        *anatomy_section(results.anatomies)])


def _measured_by() -> str:
    names = " · ".join(f"{name} {value}" for name, value in (machine() | peers.versions()).items())
    return f"Measured by `make bench`: {names}."


def write(results: Results, out: Path) -> list[Path]:
    """Write the report, the numbers and the pictures to a folder; return their paths."""
    out.mkdir(parents=True, exist_ok=True)
    page = out / "report.md"
    page.write_text(markdown(results), encoding="utf-8")
    made = [page]
    numbers: tuple[tuple[str, Sequence[str], Sequence[Sequence[object]]], ...] = (
        ("findings", Finding._fields, findings(results)), ("scaling", Cost._fields, results.costs),
        ("steps", StepCost._fields, results.steps), ("precision", Run._fields, results.runs),
        ("batches", Batch._fields, results.batches), ("anatomy", Anatomy._fields, results.anatomies),
        ("evaluation", Evaluation._fields, results.explicit))
    for name, head, rows in numbers:
        if rows:
            made.append(out / f"{name}.csv")
            _write_csv(made[-1], head, rows)
    drawn: tuple[tuple[str, Callable[..., None], Sequence[object]], ...] = (
        ("cost", pictures.draw_cost, results.costs), ("steps", pictures.draw_steps, results.steps),
        ("precision", pictures.draw_precision, results.runs), ("batches", pictures.draw_batches, results.batches))
    for name, draw, data in drawn:
        if data:
            made.append(out / f"{name}.png")
            draw(data, made[-1])
    return made


def publish(results: Results, root: Path, out: Path) -> list[Path]:
    """Put tables into README.md and docs/performance.md, between their marks, and pictures into docs/images."""
    made = [root / "README.md", root / "docs" / "performance.md"]
    fill(made[0], readme(results))
    fill(made[1], performance(results))
    for name in PICTURES:
        if (out / name).exists():
            made.append(root / "docs" / "images" / f"bench-{name}")
            made[-1].parent.mkdir(parents=True, exist_ok=True)
            made[-1].write_bytes((out / name).read_bytes())
    return made


def _write_csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])
