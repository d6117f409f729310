"""The frame of every page: its style, figures as SVG inside it, tables, and how it is written."""

import io
import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib import resources
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from leastaction import markup
from leastaction._version import __version__
from leastaction.plots.style import BLACK, BLUE, GREEN, GRID, ORANGE, PURPLE, QUIET, SETTINGS, SKY, VERMILION

COLOURS = {"ink": BLACK, "quiet": QUIET, "grid": GRID, "blue": BLUE, "vermilion": VERMILION, "green": GREEN,
           "purple": PURPLE, "orange": ORANGE, "sky": SKY}  # by their names in page.css


def write_page(path: str | Path, title: str, subtitle: str, parts: Iterable[str]) -> Path:
    """Write a page made of HTML parts.

    Parameters
    ----------
    path : the file to write, ending in .html
    title, subtitle : plain text
    parts : HTML, one after the other
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"the page is an HTML file: name it '{path.with_suffix('.html')}' instead of '{path}'")
    style = (resources.files("leastaction.pages") / "page.css").read_text("utf-8")
    text = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<main>
<header><h1>{escape(title)}</h1><p>{escape(subtitle)}</p></header>
{"".join(parts)}
<footer>leastaction {__version__}</footer>
</main>
</body>
</html>
"""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def new_figure(narrow: bool, height: float = 2.7) -> Figure:
    """Make a figure as wide as the page, or as a phone; height in inches. Use it inside `plots.style`."""
    return Figure(figsize=(4.1 if narrow else 8.6, height))


def figure(draw: Callable[[bool], Figure], title: str, caption: str, name: str) -> str:
    """Return a figure as a card with its SVG inside, twice: for a page and, with fewer words to a line, for a phone.

    Parameters
    ----------
    draw : returns the figure, given whether it is for a phone
    title, caption : plain text
    name : unique on the page; marks in the SVG are named after it
    """
    both = "".join(_svg(draw(narrow), title, name + narrow * "-narrow", "narrow" if narrow else "broad")
                   for narrow in (False, True))
    return f"<section><h2>{escape(title)}</h2>{both}<p class='caption'>{escape(caption)}</p></section>\n"


def _svg(drawn: Figure, title: str, name: str, look: str) -> str:
    """Return a figure as SVG whose colours are variables of page.css, since they differ in dark mode."""
    file = io.StringIO()
    with mpl.rc_context({**SETTINGS, "svg.hashsalt": name, "svg.id": name}):
        drawn.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    for variable, colour in COLOURS.items():
        svg = re.sub(f"(?<=: ){colour}", f"var(--{variable})", svg, flags=re.I)
    return re.sub(r"<svg ", f'<svg role="img" aria-label="{escape(title)}" class="{look}" ', svg, count=1)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the first column names the rows."""
    return f"<div class='wide'>{markup.table(head, rows)}</div>"


def verdict(good: bool, sentences: Sequence[str]) -> str:
    """Return a verdict: its first sentence large, the others below."""
    head, *rest = sentences
    return (f"<section class='verdict {'good' if good else 'bad'}'><strong>{escape(head)}</strong>"
            f"<p>{escape(' '.join(rest))}</p></section>\n")
