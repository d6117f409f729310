"""leastaction simulate, resume and demo: runs, and how well they keep their energy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import leastaction as la
from leastaction.cli.app import INTERRUPTED, Debug, Modules, app, examples, plain_errors
from leastaction.cli.initial import Assemble, Initial, initial_state
from leastaction.cli.named import Ignore, ModelName, Root, RootChoice, named_model
from leastaction.cli.report import Method, Tolerance, chosen, summary

AsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
ShowProgress = Annotated[bool | None, typer.Option("--progress/--no-progress", help=(
    "Show a bar with the rate and the time left; by default for long runs at a terminal."))]


@app.command(epilog=examples(
    "simulate chain:10", "simulate ragdoll --duration 3600 --record-every 10 --out run.h5",
    'simulate double_pendulum --initial "q=2,1" --order 4 --json'))
def simulate(
    model: ModelName,
    duration: Annotated[float, typer.Option(help="Time to simulate, s.")] = 10.0,
    dt: Annotated[float, typer.Option(help="Time step, s.")] = 1e-3,
    integrator: Annotated[Method, typer.Option(
        case_sensitive=False, help="Which integrator to use.")] = Method.VARIATIONAL,
    order: Annotated[int, typer.Option(help="Order of the variational integrator: 2, 4, 6 or 8.")] = 2,
    tol: Tolerance = None,
    initial: Initial = None,
    assemble: Assemble = False,
    root: RootChoice = Root.AUTO,
    ignore: Ignore = None,
    record_every: Annotated[int, typer.Option(help="Keep every so many steps.")] = 1,
    out: Annotated[Path | None, typer.Option(help="HDF5 file to write to while the run goes on.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it is there.")] = False,
    as_json: AsJson = False,
    progress: ShowProgress = None,
    modules: Modules = None,
    debug: Debug = False,
) -> None:
    """Simulate a model and report how well its energy was kept."""
    with plain_errors(debug, modules):
        system, method = named_model(model, root, ignore), chosen(integrator, order, tol)
        q, v = initial_state(system, initial, assemble)
        options: dict[str, Any] = {"dt": dt, "integrator": method, "ignore": ignore or ()}
        finish(lambda: la.simulate(system, q, v, duration=duration, record_every=record_every, out=out,
                                   overwrite=overwrite, progress=progress, **options), out, as_json)


@app.command(epilog=examples("resume run.h5", "resume run.h5 --duration 7200"))
def resume(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="File of a run that was interrupted.")],
    duration: Annotated[float | None, typer.Option(help=(
        "New length of the whole run, s, to extend it."))] = None,
    allow_other_bits: Annotated[bool, typer.Option("--allow-other-bits", help=(
        "Go on although versions or the processor differ from where the run was begun: the rest then agrees with an "
        "uninterrupted run to round-off, not bit for bit."))] = False,
    as_json: AsJson = False,
    progress: ShowProgress = None,
    modules: Modules = None,
    debug: Debug = False,
) -> None:
    """Continue a run that was interrupted or killed, bit for bit as if it had not been; or extend it."""
    with plain_errors(debug, modules):
        finish(lambda: la.resume(run, duration=duration, progress=progress,
                                 allow_other_bits=allow_other_bits), run, as_json)


def finish(make: Callable[[], la.Trajectory], out: Path | None, as_json: bool) -> None:
    """Make a run and report on it; if it is interrupted, say what is kept."""
    from leastaction.stopwatch import Stopwatch

    watch = Stopwatch()
    try:
        with watch:
            traj = make()
    except KeyboardInterrupt:
        if out is None or not out.exists():
            raise
        reached = la.open(out)
        typer.echo(f"leastaction: interrupted after {reached.steps} steps, {reached.steps * reached.dt:g} s, which are "
                   f"in {out}; go on with: leastaction resume {out}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except la.StepError:
        if out is not None and out.exists():
            typer.echo(f"leastaction: what was made before it failed is in {out}", err=True)
        raise
    if as_json:
        typer.echo(json.dumps({**summary(traj), "seconds": watch.seconds, "out": None if out is None else str(out)}))
        return
    typer.echo(traj.report())
    typer.echo(f"  time             {watch.seconds:.3g} s, without compiling")
    if out is not None:
        typer.echo(f"wrote {out}; see it with: leastaction plot {out}")
