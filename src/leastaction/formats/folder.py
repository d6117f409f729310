"""The files that a model may open: those of its own folder, or of the ROS package in which it lies.

Robots are usually laid out as robot/urdf/robot.urdf beside robot/meshes. Copies of them often lack the package.xml that
makes robot/ a package; then mesh files in `meshes` and `assets` beside the model's folder may be opened, too, and no
other kind of file.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from leastaction.errors import ModelError
from leastaction.formats import markup

URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
MANIFEST = "package.xml"
BESIDE = ("meshes", "assets")


class OutsideError(ModelError):
    """A file outside the folder of the model, which was not opened."""


class Folder:
    """The folder of a model's file.

    Parameters
    ----------
    file : of the model
    allow_external : whether files elsewhere may be opened, too
    """

    def __init__(self, file: Path, allow_external: bool = False) -> None:
        self.base = file.resolve().parent
        self.allow_external = allow_external
        packages = (above for above in (self.base, *self.base.parents) if (above / MANIFEST).is_file())
        found = next(packages, None)
        self.root = found or self.base
        self.beside = () if found else tuple(self.base.parent / name for name in BESIDE)
        self.package = self._package_name()

    def find(self, reference: str, *within: str, meshes: Iterable[str] = ()) -> Path | None:
        """Find the file that an attribute refers to; None if there is none.

        Parameters
        ----------
        reference : as it stands in the file: a path, package://…, model://… or file://…
        within : folders to look in instead of the file's own, relative to that
        meshes : types, as ".stl", of which it may lie beside the folder as well

        Raises
        ------
        OutsideError
            When it lies outside the model's folder; nothing outside is opened or searched.
        ModelError
            When it is a URL.
        """
        for candidate in self._candidates(reference.replace("\\", "/"), within):
            found = self._checked(candidate, reference, tuple(meshes))
            if found is not None:
                return found
        return None

    def _candidates(self, reference: str, within: tuple[str, ...]) -> list[Path]:
        if reference.startswith(("package://", "model://")):
            inside = reference.partition("://")[2].lstrip("/")
            package, _, rest = inside.partition("/")
            above = [x for x in (self.base, *self.base.parents) if x.is_relative_to(self.root) or self.allow_external]
            named = [x / rest for x in above if package in (x.name, self.package if x == self.root else x.name)]
            # Without a package.xml the folder above is taken for the package, whatever the name it was copied under.
            beside = [x.parent / rest for x in self.beside if (x.parent / rest).is_relative_to(x)]
            return [*named, self.root / inside, self.base / inside, *beside]
        if reference.startswith("file://"):
            return [self.base / reference.removeprefix("file://")]
        if URL.match(reference):
            raise ModelError(f"'{reference}' is a URL, and nothing is fetched; save it beside the model")
        return [self.base / folder / reference for folder in within or ("",)]

    def _checked(self, path: Path, reference: str, meshes: tuple[str, ...]) -> Path | None:
        """Return the real path of a file that may be opened, None if there is no such file."""
        plain = Path(os.path.normpath(path))   # decided before the disk is touched
        try:
            real = plain.resolve() if self._allowed(plain, meshes) else plain
            there = self._allowed(real, meshes)
            found = there and real.is_file()
        except (OSError, ValueError):   # too long, or not a path at all
            return None
        if not there:
            raise OutsideError(f"'{reference}' is outside the model's folder and was not opened; move it there, "
                               "or say allow_external=True if you trust the file")
        return real if found else None

    def _allowed(self, path: Path, meshes: tuple[str, ...]) -> bool:
        """Tell whether a file may be opened."""
        if self.allow_external or path.is_relative_to(self.root):
            return True
        return path.suffix.lower() in meshes and any(path.is_relative_to(folder) for folder in self.beside)

    def _package_name(self) -> str:
        """Read the name of the package, which need not be that of its folder."""
        manifest = self.root / MANIFEST
        if not manifest.is_file() or not manifest.resolve().is_relative_to(self.root):
            return ""
        try:
            return _text_of(markup.parse(manifest.read_bytes(), MANIFEST).find("name"))
        except (ModelError, OSError):
            return ""


def _text_of(element: markup.Element | None) -> str:
    return "" if element is None else element.text.strip()
