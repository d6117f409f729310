"""leastaction info: what a model is made of."""

import typer

from leastaction.cli.app import Debug, app, plain_errors
from leastaction.cli.named import Ignore, ModelName, Root, RootChoice, named_model
from leastaction.model.show import drawn


@app.command()
def info(model: ModelName, root: RootChoice = Root.AUTO, ignore: Ignore = None, debug: Debug = False) -> None:
    """Show the tree of a model, its joints and masses, and what of its file does not act."""
    with plain_errors(debug):
        found = named_model(model, root, ignore)
        typer.echo(drawn(found, most=found.nb))
        for word, names in found.ignored.items():
            typer.echo(f"  {word}: {', '.join(names)}")
        for name in found.keyframes:
            typer.echo(f"keyframe {name}")
