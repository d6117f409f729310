"""leastaction simulate and leastaction demo: runs, what became of their energy, and pictures."""

from pathlib import Path
from typing import Annotated

import typer

import leastaction as la
from leastaction import plots
from leastaction.cli.app import Debug, app, plain_errors, save_energy
from leastaction.cli.named import Ignore, ModelName, Root, RootChoice, named_model
from leastaction.cli.report import Method, table, timed_run


@app.command()
def simulate(
    model: ModelName,
    duration: Annotated[float, typer.Option(help="Time to simulate, s.")] = 10.0,
    dt: Annotated[float, typer.Option(help="Time step, s.")] = 1e-3,
    integrator: Annotated[Method, typer.Option(help="Which integrator to use.")] = Method.VARIATIONAL,
    out_dir: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("out"),
    root: RootChoice = Root.AUTO,
    ignore: Ignore = None,
    plot: Annotated[bool, typer.Option(help="Draw the energy.")] = True,
    debug: Debug = False,
) -> None:
    """Simulate a built-in model or a robot's file from its default state and report on its energy."""
    with plain_errors(debug):
        run = timed_run(named_model(model, root, ignore), integrator, dt, duration)
        typer.echo(run.trajectory.report())
        typer.echo(f"  time             {1e6 * run.seconds_a_step:.1f} µs a step")
        if plot:
            save_energy([run], out_dir / f"{Path(model).stem.replace(':', '-')}-energy.png")


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
