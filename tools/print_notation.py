"""Print the tables of what every link has, and every constraint row.

    python tools/print_notation.py [--publish docs/notation.md]
"""

import argparse
from pathlib import Path

from leastaction.kernels.constraints.closed import ROW
from leastaction.kernels.layout import ARTICULATED, LINK, SIDE
from leastaction.markdown import fill, table

HEAD = ("field", "symbol", "shape", "frame", "unit", "meaning")


def tables() -> str:
    """All tables, as the page has them."""
    parts = []
    for title, fields in (part for each in (LINK, SIDE, ARTICULATED, ROW) for part in each.told):
        rows = [(f"`{name}`", symbol or "–", shape, frame or "–", unit or "–", meaning or "–")
                for name, shape, symbol, frame, unit, meaning in fields]
        parts.append(f"{title}:\n\n{table(HEAD, rows)}")
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--publish", type=Path, metavar="PAGE", help="write the tables between the marks of a page")
    options = parser.parse_args()
    text = tables()
    print(text)
    if options.publish:
        fill(options.publish, f"\n{text}\n", "fields")


if __name__ == "__main__":
    main()
