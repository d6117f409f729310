"""What a command is about: a model by its name or file, or a run from disk."""

from typing import Annotated

import typer

import leastaction as la
from leastaction.model.library import BUILTIN, by_name

SUBJECT = Annotated[str, typer.Argument(
    metavar="MODEL|RUN", help=f"A model, one of {', '.join(BUILTIN)}; a size may follow, as in chain:10.")]


def find_subject(text: str) -> la.Model | la.Trajectory:
    """Find the model or the run that a user names."""
    return by_name(text)
