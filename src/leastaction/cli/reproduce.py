"""leastaction reproduce: the paper's experiments, repeated."""

from pathlib import Path
from typing import Annotated

import typer

from leastaction.cli.app import Debug, app, plain_errors


@app.command()
def reproduce(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes, frames and repeats: half a minute.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the report, its figures and numbers.")] = Path("out/reproduce"),
    publish: Annotated[Path | None, typer.Option(
        help="Checkout whose docs/paper.md and README.md are to show the results.")] = None,
    debug: Debug = False,
) -> None:
    """Repeat every figure and number of the paper, and compare them with what it says."""
    from leastaction.reproduce import suite

    with plain_errors(debug):
        suite.run(suite.QUICK if quick else suite.FULL, out, publish)
