"""leastaction ensemble: many runs that differ in their start or their parameters, made into a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import leastaction as la
from leastaction.cli.app import INTERRUPTED, STEP_FAILED, Debug, app, examples, plain_errors
from leastaction.cli.ensemble_report import report, summary
from leastaction.cli.named import Ignore, ModelName, Root, RootChoice, named_model
from leastaction.cli.report import Method, Tolerance, chosen
from leastaction.cli.simulate import AsJson, ShowProgress
from leastaction.cli.vary import Vary, read_vary

if TYPE_CHECKING:
    from distributed import Client

MOST_NODES = 200  # intervals that are recorded of a member unless --record-every is given
PATIENCE = 15  # s to wait for the answer of a scheduler


@app.command(epilog=examples(
    "ensemble chain:10 --members 10000 --vary 'mass:*=5%' --duration 10 --out study",
    "ensemble robot.urdf --members 1e4 --vary 'q=±0.1' --vary 'damping:*=0.1..0.3' --keep last --out study",
    "ensemble chain:10 --members 1000 --vary 'q:link1=2±0.1' --out study --plot fan.png --of link10"))
def ensemble(
    model: ModelName,
    members: Annotated[str, typer.Option(metavar="COUNT", help="How many runs to make, as 10000 or 1e4.")],
    vary: Vary,
    out: Annotated[Path, typer.Option(help="Folder for the results; the same line goes on with one that is there.")],
    duration: Annotated[float, typer.Option(help="Time to simulate, s.")] = 10.0,
    dt: Annotated[float, typer.Option(help="Time step, s.")] = 1e-3,
    integrator: Annotated[Method, typer.Option(
        case_sensitive=False, help="Which integrator to use.")] = Method.VARIATIONAL,
    order: Annotated[int, typer.Option(help="Order of the variational integrator: 2, 4, 6 or 8.")] = 2,
    tol: Tolerance = None,
    root: RootChoice = Root.AUTO,
    ignore: Ignore = None,
    record_every: Annotated[int | None, typer.Option(help=(
        f"Record every so many steps; unless given, so that there are at most {MOST_NODES + 1} nodes."))] = None,
    keep: Annotated[str, typer.Option(metavar="all|last|statistics|K", help=(
        "Which of the recorded nodes to keep of every member: all, the last, every K-th, or none but their statistics "
        "over the members."))] = "all",
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
    workers: Annotated[int | None, typer.Option(min=1, help=(
        "How many processes to use; unless given, threads of one process."))] = None,
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help=(
        "Dask scheduler whose workers are to be used, as tcp://127.0.0.1:8786; they must see the folder."))] = None,
    chunk: Annotated[int | None, typer.Option(help="Members to a file; about a second of work unless given.")] = None,
    most_failures: Annotated[str, typer.Option(metavar="PART|COUNT", help=(
        "End when more members than this have failed: 0.1 or 10% of them, or 100."))] = "50%",
    plot: Annotated[Path | None, typer.Option(help="Picture to draw, of how --of spreads.")] = None,
    of: Annotated[str, typer.Option(metavar="NAME", help=(
        "What --plot shows: energy, a joint's coordinate by its body, or v:link1 for a velocity."))] = "energy",
    as_json: AsJson = False,
    progress: ShowProgress = None,
    debug: Debug = False,
) -> None:
    """Simulate a model many times with parameters or starts that are drawn, and keep the results in a folder.

    After an interruption the same line continues: the bits of a member depend on the line and its number alone.
    """
    with plain_errors(debug), failures_told(debug):
        count, system = _whole("--members", members), named_model(model, root, ignore)
        given = read_vary(vary)
        study = la.Ensemble(system, count, given, seed=seed, dt=dt, duration=duration, chunk=chunk,
                            record_every=spread(duration, dt) if record_every is None else record_every,
                            keep=int(keep) if keep.isdecimal() else keep, ignore=ignore or (),
                            integrator=chosen(integrator, order, tol))
        most = _part("--most-failures", most_failures)
        if plot is not None:
            check_picture(plot, study, of)
        with executor_of(workers, scheduler) as executor:
            results = study.run(out, executor, progress=progress, most_failures=most)
        found = summary(results)
        typer.echo(json.dumps({**found, "out": str(out)}) if as_json else report(results, found))
        if plot is not None:
            results.plot_fan(of).figure.savefig(plot)  # type: ignore[union-attr]
            typer.echo(f"wrote {plot}", err=as_json)


@contextmanager
def failures_told(debug: bool) -> Iterator[None]:
    """Report an interruption, or the error that ends an ensemble, in one line that says what is kept."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        typer.echo(f"leastaction: {_line('; '.join(['interrupted', *map(str, interrupt.args)]))}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        notes = error.__notes__ = [_line(note) for note in getattr(error, "__notes__", ())]
        of_dask = type(error).__module__.startswith("distributed") and not isinstance(error, OSError)
        if debug or not (isinstance(error, RuntimeError) or of_dask):
            raise
        typer.echo(f"leastaction: {'. '.join([str(error), *notes])}", err=True)
        raise typer.Exit(STEP_FAILED) from None


def _line(text: str) -> str:
    return text.replace("the same call", "the same line")


@contextmanager
def executor_of(workers: int | None, scheduler: str | None) -> Iterator[int | Client | None]:
    """Return the executor of `Ensemble.run` for --workers or --scheduler."""
    if scheduler is None:
        yield workers
        return
    if workers is not None:
        raise ValueError("give either --workers, for processes here, or --scheduler, for those of a Dask cluster")
    try:
        from distributed import Client
    except ImportError:
        raise ImportError("--scheduler needs Dask: pip install 'leastaction[cluster]'") from None
    try:
        client: Any = Client(scheduler, timeout=PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise ValueError(f"no Dask scheduler answers at '{scheduler}' ({error}): `dask scheduler` starts one and "
                         "prints its address, `dask worker ADDRESS` gives it workers") from None
    with client:
        if not client.nthreads():
            typer.echo("note: the scheduler has no workers yet; waiting for them", err=True)
        yield client


def check_picture(path: Path, study: la.Ensemble, of: str) -> None:
    """Refuse a picture that could not be drawn, before hours are spent on its numbers."""
    from matplotlib.backend_bases import FigureCanvasBase

    from leastaction.plots.fan import find_entry

    forms = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.removeprefix(".") not in forms:
        raise ValueError(f"--plot {path} needs a suffix that says what picture it is, such as .png, .pdf or .svg")
    if not path.parent.is_dir():
        raise la.FileError(f"--plot {path}: there is no folder {path.parent}; make it first")
    find_entry(study.model, study.plan.quantities, of)


def spread(duration: float, dt: float) -> int:
    """Return the least divisor of the number of steps that leaves at most MOST_NODES intervals."""
    steps = round(duration / dt) if 0 < dt <= duration < inf else 1  # `Ensemble` refuses other times
    return next(k for k in range(-(-steps // MOST_NODES), steps + 1) if steps % k == 0)


def _whole(option: str, text: str) -> int:
    """Read a whole number, which may be written as 1e6."""
    try:
        number = float(text.replace("_", ""))
        if number != int(number):
            raise ValueError
        return int(number)
    except (ValueError, OverflowError):
        raise ValueError(f"{option} must be a whole number such as 10000 or 1e4, not '{text}'") from None


def _part(option: str, text: str) -> float:
    """Read a part, as 0.1 or 10%, or a whole number."""
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        raise ValueError(f"{option} must be a part such as 0.1 or 10%, or a whole number, not '{text}'") from None
