"""Every robot of some common packages: whether it loads, and with which options.

`python -m leastaction.formats.zoo docs/models.md` writes the tables of that page between its marks.
"""

import re
import sys
import warnings
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Literal, NamedTuple

from leastaction.errors import ModelError
from leastaction.formats.load import load
from leastaction.model import Model
from leastaction.model.unhonoured import CHANGE_THE_MODEL

# What to look for in each package. The rest are pieces that other files include, and tests of the package itself.
PACKAGES = {
    "example-robot-data": r".*\.urdf",
    "gymnasium": r"gymnasium/envs/mujoco/assets/.*\.xml",
    "dm_control": r"dm_control/(suite/\w+|third_party/.*|locomotion/(soccer|walkers)/assets/.*|entities/.*)\.xml",
}


class Entry(NamedTuple):
    """A file of the zoo and the options that it needs, or the error that it gives even with all of them."""

    path: Path
    root: Literal["auto", "free"] = "auto"
    ignore: tuple[str, ...] = ()
    model: Model | None = None
    error: str = ""

    def load(self, root: Literal["auto", "fixed", "free"] | None = None) -> Model:
        """Load it without meshes and without warnings."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return load(self.path, root=root or self.root, ignore=("mesh", *self.ignore))


def paths(package: str) -> list[Path]:
    """List the robots of a package; none if it is not installed."""
    try:
        listed = files(package) or []
    except PackageNotFoundError:
        return []
    pattern = re.compile(PACKAGES[package])
    found = {Path(str(file.locate())).resolve() for file in listed if pattern.fullmatch(file.as_posix().lstrip("./"))}
    return sorted(path for path in found if b"<mujocoinclude" not in path.read_bytes())


def survey(path: Path) -> Entry:
    """Find out which options a file needs."""
    try:
        model = Entry(path, ignore=tuple(CHANGE_THE_MODEL)).load()
    except ModelError as error:
        return Entry(path, error=error.faults[0] + (f" … {len(error.faults)} faults" if len(error.faults) > 1 else ""))
    needed = tuple(word for word in model.ignored if word in CHANGE_THE_MODEL)
    for word in ("mimic", "equality"):  # they act, but where the file has them wrong
        try:
            fewer = tuple(other for other in needed if other != word)
            model, needed = Entry(path, ignore=fewer).load(), fewer
        except ModelError:
            pass
    if model.nv:
        return Entry(path, "auto", needed, model)
    try:   # nothing moves while it stands on the ground
        return Entry(path, "free", needed, Entry(path, "free", needed).load())
    except ModelError:
        return Entry(path, "auto", needed, model)


def table(package: str) -> str:
    """Write the table of a package in Markdown."""
    entries = [survey(path) for path in paths(package)]
    fine = [entry for entry in entries if entry.model is not None]
    plain = sum(not entry.ignore for entry in fine)
    lines = [f"### {package}: {len(fine)} of {len(entries)} load, {plain} of them with default options", "",
             "| file | bodies | DoF | options | does not act |", "|---|---|---|---|---|"]
    for entry in entries:
        lines.append(f"| {_short(entry.path, [other.path for other in entries])} | {_row(entry)} |")
    return "\n".join(lines)


def _short(path: Path, others: list[Path]) -> str:
    """Name a file by as few of its folders as tell it from the others."""
    for count in range(1, len(path.parts)):
        tail = path.parts[-count:]
        if sum(other.parts[-count:] == tail for other in others) == 1:
            break
    return "/".join(tail)


def _row(entry: Entry) -> str:
    if entry.model is None:
        return f"– | – | – | error: {entry.error.removeprefix(entry.path.name).lstrip(', :')}"
    options = ([f'`root="{entry.root}"`'] if entry.root != "auto" else [])
    options += [f"`ignore={entry.ignore!r}`"] if entry.ignore else []
    ignored = ", ".join(f"{word} {len(names)}" for word, names in entry.model.ignored.items())
    return f"{entry.model.nb} | {entry.model.nv} | {' '.join(options)} | {ignored}"


def write(page: Path) -> None:
    """Put fresh tables between the marks of a page; the table of a package that is not installed stays."""
    text = page.read_text(encoding="utf-8")
    for package in PACKAGES:
        if paths(package):
            begin, end = f"<!-- {package} -->", f"<!-- end of {package} -->"
            before, _, rest = text.partition(begin)
            text = f"{before}{begin}\n{table(package)}\n{end}{rest.partition(end)[2]}"
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
