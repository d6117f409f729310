"""leastaction plot: the curves of a run in a file."""

from pathlib import Path
from typing import Annotated

import typer

import leastaction as la
from leastaction.cli.app import Debug, Modules, app, examples, plain_errors

CURVES = ("energy", "momentum", "state")  # functions of leastaction.plots


@app.command(epilog=examples("plot run.h5", "plot run.h5 --curve energy --curve state --out pictures",
                             "plot run.h5 --format pdf"))
def plot(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="File of a run.")],
    curve: Annotated[list[str], typer.Option(help=f"Which of {', '.join(CURVES)}; all unless given.")] = [],  # noqa: B006
    out: Annotated[Path | None, typer.Option(help="Folder for the pictures; that of the run unless given.")] = None,
    form: Annotated[str, typer.Option("--format", help="png, pdf or svg.")] = "png",
    modules: Modules = None,
    debug: Debug = False,
) -> None:
    """Draw energy, momentum and joints of a run against time."""
    with plain_errors(debug, modules):
        unknown = [name for name in curve if name not in CURVES]
        if unknown:
            raise ValueError(f"there is no curve '{unknown[0]}'; choose from {', '.join(CURVES)}")
        traj, folder = la.open(run), run.parent if out is None else out
        folder.mkdir(parents=True, exist_ok=True)
        for name in curve or CURVES:
            drawn = getattr(la.plots, name)(traj)
            figure = (drawn[0] if isinstance(drawn, tuple) else drawn).figure
            path = folder / f"{run.stem}-{name}.{form}"
            figure.savefig(path)
            typer.echo(f"wrote {path}")
