"""leastaction bench: where the measurements are."""

import typer

from leastaction.cli.app import app

WHERE = ("The measurements are beside the package, in the folder benchmarks/ of the repository. From a clone:\n"
         "  make bench     time every step, beside the peers; OPTIONS=--quick for two minutes of it\n"
         "  make choose    the tables of docs/choosing.md: which order, step, root finder and guess for which problem")


@app.command()
def bench() -> None:
    """Say where the measurements of speed and precision are, and how to run them."""
    typer.echo(WHERE)
