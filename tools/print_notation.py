"""Print the tables of what every link has, and every constraint row, into docs/notation.md.

    python tools/print_notation.py
"""

from pathlib import Path

from leastaction.kernels.constraints.closed import ROW
from leastaction.kernels.layout import ARTICULATED, LINK, SIDE
from leastaction.markdown import fill, table

PAGE = Path(__file__).parent.parent / "docs" / "notation.md"
HEAD = ("field", "symbol", "shape", "frame", "unit", "meaning")


def tables() -> str:
    """All tables, as the page has them."""
    parts = []
    for title, fields in (part for each in (LINK, SIDE, ARTICULATED, ROW) for part in each.told):
        rows = [(f"`{name}`", symbol or "–", shape, frame or "–", unit or "–", meaning or "–")
                for name, shape, symbol, frame, unit, meaning in fields]
        parts.append(f"{title}:\n\n{table(HEAD, rows)}")
    return "\n\n".join(parts)


if __name__ == "__main__":
    fill(PAGE, f"\n{tables()}\n", "fields")
    print(f"wrote {PAGE}")
