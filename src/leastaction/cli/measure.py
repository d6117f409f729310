"""leastaction bench and leastaction choose: what the tables of the documentation are made by."""

from pathlib import Path
from typing import Annotated

import typer

from leastaction.bench import suite
from leastaction.cli.app import Debug, app, plain_errors
from leastaction.experiments import choosing


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
