"""What a command is about: a model by its name or file, or a run from disk."""

from __future__ import annotations

from typing import Annotated

import typer

import leastaction as la
from leastaction.cli.named import Root, named_model
from leastaction.model.library import BUILTIN

SUBJECT = Annotated[str, typer.Argument(metavar="MODEL|RUN", help=(
    f"A run (run.h5), a URDF or MJCF file, or one of {', '.join(BUILTIN)}; a size may follow, as in chain:10."))]
RESULTS = (".h5", ".hdf5", ".nc")  # the last of exports, which `open` names


def find_subject(text: str, root: Root = Root.AUTO, ignore: list[str] | None = None,
                 meshes: bool = False) -> la.Model | la.Trajectory:
    """Find the model or the run that a user names.

    Parameters
    ----------
    text : name of a built-in model, or path of a file
    root, ignore, meshes : how to load the file of a model, see `named_model`
    """
    return la.open(text) if text.endswith(RESULTS) else named_model(text, root, ignore, meshes)
