"""leastaction audit: what a run kept of physics, and integrators side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import leastaction as la
from leastaction.cli.app import Debug, Modules, app, plain_errors
from leastaction.cli.initial import Assemble, Initial, state_of
from leastaction.cli.named import Ignore, Root, RootChoice
from leastaction.cli.report import Method, Tolerance, chosen
from leastaction.cli.subject import SUBJECT, find_subject

if TYPE_CHECKING:
    from leastaction.analysis import Certificate, Comparison


@app.command(epilog="Examples: leastaction audit ragdoll · leastaction audit chain:10 --html certificate.html · "
                    "leastaction audit robot.urdf --initial 'elbow=1' --compare --html comparison.html")
def audit(
    subject: SUBJECT,
    compare: Annotated[bool, typer.Option("--compare", help="Run several integrators side by side, and MuJoCo "
                                                            "where it is installed.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained page with plots, too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all numbers as JSON.")] = False,
    duration: Annotated[float, typer.Option(help="Time to simulate a model, s.")] = 10.0,
    dt: Annotated[float, typer.Option(help="Time step for a model, s.")] = 1e-3,
    integrator: Annotated[Method, typer.Option(
        case_sensitive=False, help="Integrator for a model.")] = Method.VARIATIONAL,
    order: Annotated[int, typer.Option(help="Order of the variational integrator: 2, 4, 6 or 8.")] = 2,
    tol: Tolerance = None,
    initial: Initial = None,
    assemble: Assemble = False,
    root: RootChoice = Root.AUTO,
    ignore: Ignore = None,
    modules: Modules = None,
    debug: Debug = False,
) -> None:
    """Examine what a model's run, or a run from disk, kept of physics: the conservation certificate."""
    with plain_errors(debug, modules):
        found = find_subject(subject, root, ignore)
        q, v = state_of(found, initial, assemble)
        result: Certificate | Comparison
        if compare:
            result = la.compare(found, q, v, dt=dt, duration=duration, ignore=ignore or ())
        else:
            result = la.audit(found, q, v, dt=dt, duration=duration, integrator=chosen(integrator, order, tol),
                              ignore=ignore or ())
        typer.echo(json.dumps(result.to_dict(), indent=2) if as_json else str(result))
        if html is not None:
            typer.echo(f"wrote {result.html(html)}", err=as_json)
