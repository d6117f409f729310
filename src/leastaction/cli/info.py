"""leastaction info: what a model is made of, and what a file of results holds."""

from pathlib import Path

import typer

import leastaction as la
from leastaction.cli.app import Debug, Modules, app, plain_errors
from leastaction.cli.named import Ignore, Root, RootChoice
from leastaction.cli.subject import SUBJECT, find_subject
from leastaction.model.show import drawn


@app.command()
def info(
    subject: SUBJECT, root: RootChoice = Root.AUTO, ignore: Ignore = None, modules: Modules = None, debug: Debug = False
) -> None:
    """Show the tree of a model, its joints and masses, and what of its file does not act; of results, what they are."""
    with plain_errors(debug, modules):
        found = la.open_ensemble(subject) if Path(subject).is_dir() else find_subject(subject, root, ignore)
        if not isinstance(found, la.Model):
            typer.echo(f"{subject}: {found!r}")
            found = found.model
        typer.echo(drawn(found, most=found.nb))
        for word, names in found.ignored.items():
            typer.echo(f"  {word}: {', '.join(names)}")
        for name in found.keyframes:
            typer.echo(f"keyframe {name}")
