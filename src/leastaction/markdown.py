"""Tables in Markdown, and pages of which one part is generated."""

from collections.abc import Iterable, Sequence
from pathlib import Path

BEGIN, END = "<!-- begin: generated -->", "<!-- end: generated -->"


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Write a table, its first row the head."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def fill(page: Path, text: str, name: str = "generated") -> None:
    """Put text between the two marks of this name; a page that does not exist is made, with nothing else on it."""
    first, last = (mark.replace("generated", name) for mark in (BEGIN, END))
    old = page.read_text(encoding="utf-8") if page.exists() else f"{first}\n{last}\n"
    before, begin, rest = old.partition(first)
    _, end, after = rest.partition(last)
    if not (begin and end):
        raise ValueError(f"{page} has no lines '{first}' and '{last}' between which to write")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f"{before}{first}\n{text}\n{last}{after}", encoding="utf-8")
