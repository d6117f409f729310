"""The command itself: its options, and what every subcommand shares."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

import leastaction as la
from leastaction import plots
from leastaction.cli.report import Run

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
