"""The commands and their options."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

import leastaction as la
from leastaction import plots
from leastaction.bench import suite
from leastaction.cli.report import Method, Run, table, timed_run
from leastaction.experiments import choosing
from leastaction.model.library import BUILTIN, by_name

BAD_INPUT, STEP_FAILED = 2, 3

app = typer.Typer(help="Simulate multibody systems with a linear-time variational integrator.",
                  no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

Debug = Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")]


@contextmanager
def plain_errors(debug: bool) -> Iterator[None]:
    """Turn errors that a user can mend into one message and an exit code."""
    try:
        yield
    except (ValueError, OSError, la.StepError) as error:
        if debug:
            raise
        typer.echo(f"leastaction: {error}", err=True)
        raise typer.Exit(STEP_FAILED if isinstance(error, la.StepError) else BAD_INPUT) from None


def print_version(wanted: bool) -> None:
    """Print the version and stop, if that was asked for."""
    if wanted:
        typer.echo(la.__version__)
        raise typer.Exit


def save_energy(runs: list[Run], path: Path) -> None:
    """Save a picture of the energy errors of runs, and say where."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with plots.style():
        figure: Any = plots.compare_energy({run.label: run.trajectory for run in runs})[0].figure
        figure.savefig(path)
    typer.echo(f"wrote {path}")


@app.callback()
def leastaction(
    version: Annotated[bool, typer.Option("--version", callback=print_version, is_eager=True,
                                          help="Print the version and exit.")] = False,
) -> None:
    """Take the options of the command itself; their callbacks do the work."""


@app.command()
def simulate(
    model: Annotated[str, typer.Argument(help=f"One of {', '.join(BUILTIN)}; a size may follow, as in chain:10.")],
    duration: Annotated[float, typer.Option(help="Time to simulate, s.")] = 10.0,
    dt: Annotated[float, typer.Option(help="Time step, s.")] = 1e-3,
    integrator: Annotated[Method, typer.Option(help="Which integrator to use.")] = Method.VARIATIONAL,
    out_dir: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("out"),
    plot: Annotated[bool, typer.Option(help="Draw the energy.")] = True,
    debug: Debug = False,
) -> None:
    """Simulate a built-in model from its default state and report on its energy."""
    with plain_errors(debug):
        run = timed_run(by_name(model), integrator, dt, duration)
        typer.echo(run.trajectory.report())
        typer.echo(f"  time             {1e6 * run.seconds_a_step:.1f} µs a step")
        if plot:
            save_energy([run], out_dir / f"{model.replace(':', '-')}-energy.png")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("out"),
    duration: Annotated[float, typer.Option(help="Time to simulate, s.")] = 10.0,
    debug: Debug = False,
) -> None:
    """Let a 10-link chain fall under three integrators and see what becomes of its energy."""
    with plain_errors(debug):
        # Short links that whip one another: harsh enough to tell the integrators apart within ten seconds.
        model = la.library.chain(10)
        runs = [timed_run(model, method, 1e-3, duration) for method in Method]
        typer.echo(f"A 10-link chain, released horizontally: {duration:g} s at 1 ms\n\n{table(runs)}\n")
        save_energy(runs, out / "energy.png")
        typer.echo(f"wrote {plots.animate(runs[0].trajectory, out / 'chain.gif')}")


@app.command()
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and repeats.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("out/bench"),
    debug: Debug = False,
) -> None:
    """Time the library: cost against the number of bodies, a very long chain, start-up."""
    with plain_errors(debug):
        suite.run(suite.QUICK if quick else suite.FULL, out)


@app.command()
def choose(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer steps and repeats.")] = False,
    out: Annotated[Path, typer.Option(help="Page to write the tables to, between its marks.")] = Path(
        "docs/choosing.md"),
    debug: Debug = False,
) -> None:
    """Measure which order, step, root finder and guess suits which problem."""
    with plain_errors(debug):
        choosing.run(choosing.QUICK if quick else choosing.FULL, out)
