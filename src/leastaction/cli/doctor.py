"""leastaction doctor: whether this installation is sound."""

from typing import Annotated

import typer

from leastaction.cli.app import Debug, app, plain_errors

CODES = "Exit codes: 0 sound, or cache cleared; 1 something is wrong; 2 bad input; 4 the cache cannot be cleared."


@app.command(epilog=CODES)
def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    clear_cache: Annotated[bool, typer.Option(
        "--clear-cache", help="Remove the compiled kernels of all versions, and do nothing else.")] = False,
    debug: Debug = False,
) -> None:
    """Show versions, processor and kernel cache, and make one step whose result is known; for reports of faults."""
    from leastaction.doctor import run

    with plain_errors(debug):
        raise typer.Exit(run(json, clear_cache))
