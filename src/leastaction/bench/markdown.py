"""Tables in Markdown, and pages of which one part is generated."""

from collections.abc import Iterable, Sequence
from pathlib import Path

BEGIN, END = "<!-- begin: generated -->", "<!-- end: generated -->"


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Write a table, its first row the head."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def fill(page: Path, text: str) -> None:
    """Put text between the two marks of a page; a page that does not exist is made, with nothing else on it."""
    old = page.read_text(encoding="utf-8") if page.exists() else f"{BEGIN}\n{END}\n"
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} has no lines '{BEGIN}' and '{END}' between which to write")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
