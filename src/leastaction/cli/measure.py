"""leastaction bench and leastaction choose: what the tables of the documentation are made by."""

from pathlib import Path
from typing import Annotated

import typer

from leastaction.cli.app import Debug, app, plain_errors


@app.command()
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes, motions and repeats: two minutes.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("out/bench"),
    publish: Annotated[Path | None, typer.Option(
        help="Checkout whose README.md and docs/images are to show the results.")] = None,
    debug: Debug = False,
) -> None:
    """Time the library, and its peers on the same models: cost of a step, work against precision, start-up."""
    from leastaction.bench import suite

    with plain_errors(debug):
        suite.run(suite.QUICK if quick else suite.FULL, out, publish)


@app.command()
def choose(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer steps and repeats.")] = False,
    out: Annotated[Path, typer.Option(help="Page to write the tables to, between its marks.")] = Path(
        "docs/choosing.md"),
    debug: Debug = False,
) -> None:
    """Measure which order, step, root finder and guess suits which problem."""
    from leastaction.experiments import choosing

    with plain_errors(debug):
        choosing.run(choosing.QUICK if quick else choosing.FULL, out)
