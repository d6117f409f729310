"""leastaction view: a model or a run in the browser, as one HTML file, or as a GIF."""

from pathlib import Path
from typing import Annotated

import typer

import leastaction as la
from leastaction.cli.app import Debug, Modules, app, plain_errors
from leastaction.cli.initial import Assemble, Initial, state_of
from leastaction.cli.named import Ignore, Root, RootChoice
from leastaction.cli.report import Method, chosen
from leastaction.cli.subject import SUBJECT, find_subject


@app.command(epilog="Examples: leastaction view ragdoll · leastaction view chain:10 --html chain.html · "
                    "leastaction view chain:5 --duration 3 --gif chain.gif")
def view(
    subject: SUBJECT,
    html: Annotated[Path | None, typer.Option(help="Write one HTML file that plays offline, instead.")] = None,
    gif: Annotated[Path | None, typer.Option(help="Write a GIF, instead.")] = None,
    duration: Annotated[float, typer.Option(help="Time to simulate a model, s.")] = 10.0,
    dt: Annotated[float, typer.Option(help="Time step for a model, s.")] = 1e-3,
    integrator: Annotated[Method, typer.Option(
        case_sensitive=False, help="Integrator for a model.")] = Method.VARIATIONAL,
    initial: Initial = None,
    assemble: Assemble = False,
    port: Annotated[int, typer.Option(help="Port of the live view, on 127.0.0.1.")] = 8080,
    root: RootChoice = Root.AUTO,
    ignore: Ignore = None,
    modules: Modules = None,
    debug: Debug = False,
) -> None:
    """Watch a model or a run: in the browser until Ctrl-C, or written to a file."""
    with plain_errors(debug, modules):
        found = find_subject(subject, root, ignore, meshes=True)
        q, v = state_of(found, initial, assemble)
        run = found if isinstance(found, la.Trajectory) else la.simulate(
            found, q, v, dt=dt, duration=duration, integrator=chosen(integrator), ignore=ignore or ())
        for path in (html, gif):
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
        if html is not None:
            typer.echo(f"wrote {la.viewers.write_html(run, html)}")
        if gif is not None:
            typer.echo(f"wrote {la.plots.animate(run, gif)}")
        if html is None and gif is None:
            la.viewers.view(run, port=port, block=True)
