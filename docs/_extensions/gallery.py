"""The directive `example`: a numbered example with its text, its code, what it prints and what it draws.

The examples are run when the page is built, so nothing on it can be out of date.
"""

import ast
import io
import runpy
import shutil
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "out" / "gallery"


class Example(SphinxDirective):
    """An example, named by its file in examples/ without the suffix.

    ``draw`` names the method of its trajectory that makes a picture, for an example that saves none by itself.
    """

    required_arguments = 1
    option_spec: ClassVar = {"draw": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Run the example and put its parts in a row."""
        path = ROOT / "examples" / f"{self.arguments[0]}.py"
        self.env.note_dependency(str(path))
        source = path.read_text(encoding="utf-8")
        text = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")
        code = source.split('"""', 2)[2].strip()
        printed, picture = run(path, self.options.get("draw"))
        parts: list[nodes.Node] = [nodes.paragraph("", line.replace("\n", " ")) for line in text]
        if picture is not None:
            parts.append(nodes.image(uri=f"../{picture.relative_to(ROOT).as_posix()}", alt=text[0]))
        parts.append(nodes.literal_block(code, code, language="python"))
        if printed:
            parts += [nodes.paragraph("", "It prints:"), nodes.literal_block(printed, printed, language="none")]
        return parts


def run(path: Path, draw: str | None) -> tuple[str, Path | None]:
    """Run an example elsewhere; give what it printed, and the picture it made or that ``draw`` makes of it."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chdir(folder), redirect_stdout(io.StringIO()) as printed:
        names = runpy.run_path(str(path), run_name="__main__")
        made = sorted(p for p in Path("out").glob("*") if p.suffix in (".png", ".gif"))
        if not made and draw is not None:
            made = [picture_of(names["traj"], draw)]
        pictures = [Path(shutil.copy(p, PICTURES / f"{path.stem}{p.suffix}")) for p in made]
    plt.close("all")
    return printed.getvalue().strip(), pictures[0] if pictures else None


def picture_of(traj, draw: str) -> Path:
    """Let a trajectory draw itself."""
    if draw == "animate":
        return traj.animate("picture.gif", fps=12.5)
    axes = np.atleast_1d(getattr(traj, draw)())
    axes[0].figure.savefig("picture.png")
    return Path("picture.png")


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive to Sphinx."""
    app.add_directive("example", Example)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
