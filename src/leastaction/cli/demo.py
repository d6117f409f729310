"""leastaction demo and leastaction hour: the hard chain, followed for an hour by several methods."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import leastaction as la
from leastaction.cli.app import Debug, app, plain_errors

if TYPE_CHECKING:
    from leastaction.reproduce.hour import Ran

SHOWN = 10.0  # s of the chain that are drawn moving


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("out"),
    duration: Annotated[float, typer.Option(help="Time to simulate, s.")] = 3600.0,
    debug: Debug = False,
) -> None:
    """Let a 10-link chain whip for an hour under three integrators and see what they keep of its energy."""
    with plain_errors(debug):
        from leastaction.reproduce import hour

        typer.echo(f"A 10-link chain, released horizontally, for {duration:g} s:")
        runs = hour.demo(duration, _tell)
        typer.echo(f"\n{hour.text_table(hour.table(runs))}\n")
        typer.echo(f"wrote {hour.draw(runs, out / 'hour.png')}")
        film = la.simulate(la.library.chain(10), dt=5e-4, duration=min(SHOWN, duration))
        typer.echo(f"wrote {la.plots.animate(film, out / 'chain.gif')}")


@app.command(name="hour")
def publish_hour(
    root: Annotated[Path, typer.Option(help="Checkout whose README.md and docs/images show the results.")] = Path("."),
    duration: Annotated[float, typer.Option(help="Time to simulate, s.")] = 3600.0,
    starts: Annotated[int, typer.Option(min=1, help="From how many starts.")] = 8,
    debug: Debug = False,
) -> None:
    """Measure what seven methods keep of the energy of the chain in an hour, and write the table of the README."""
    with plain_errors(debug):
        from leastaction.reproduce import hour

        picture = root / "docs" / "images" / "hour.png"
        hour.publish(root / "README.md", picture, duration, starts, _tell)
        typer.echo(f"wrote {root / 'README.md'} and {picture}")


def _tell(run: Ran) -> None:
    typer.echo(f"  {run.method.name}, {run.method.setting}: {run.t[-1]:g} s in {run.cpu:.1f} s of CPU")
