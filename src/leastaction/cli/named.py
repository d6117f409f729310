"""The MODEL argument of subcommands: a built-in name or a file, and how to load it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

import leastaction as la
from leastaction.model.library import BUILTIN
from leastaction.model.unhonoured import KNOWN


class Root(StrEnum):
    """What the root of a file is to stand on."""

    AUTO = "auto"
    FIXED = "fixed"
    FREE = "free"


ModelName = Annotated[str, typer.Argument(
    metavar="MODEL",
    help=f"A URDF or MJCF file, or one of {', '.join(BUILTIN)}; a size may follow, as in chain:10.")]
RootChoice = Annotated[Root, typer.Option(help="Whether the root of a file is fixed to the ground or floats.")]
Ignore = Annotated[list[str] | None, typer.Option(
    help="Do without this, as in --ignore mimic, or do not warn of it, as in --ignore limits; may be repeated.")]


def named_model(name: str, root: Root = Root.AUTO, ignore: list[str] | None = None, meshes: bool = False) -> la.Model:
    """Make the model that the command line names.

    Parameters
    ----------
    name : of a built-in model, or path of a file
    root, ignore : as for `load`
    meshes : whether to read them, which takes time and matters only where they are drawn
    """
    words = [word for word in ignore or () if word not in KNOWN]   # which concern the step, not the file
    return la.find_model(name, root=root.value, ignore=[*words, *([] if meshes else ["mesh"])])
