"""`python -m benchmarks.loops`: measure, and write the tables to docs/performance.md, between their marks."""

import argparse
from pathlib import Path

from benchmarks.loops import four_bar, ladder_rivals, ladders
from benchmarks.loops.rivals import missing
from leastaction.files.environment import machine
from leastaction.markdown import fill

MARK = "loops"


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loops", description="Time closed loops.")
    parser.add_argument("--quick", action="store_true",
                        help="10 s of the four-bar, ladders of 64 and 256, and of 16 beside rivals")
    parser.add_argument("--out", type=Path, default=Path("docs/performance.md"), metavar="PAGE",
                        help="page to write the tables to, between its marks")
    options = parser.parse_args()
    runs = four_bar.work_and_precision(10.0, (1e-3, 2e-3, 5e-3)) if options.quick else four_bar.work_and_precision()
    found = ladders.costs((64, 256)) if options.quick else ladders.costs()
    others = ladder_rivals.beside((16,)) if options.quick else ladder_rivals.beside()
    ratios = four_bar.step_ratio(False), four_bar.step_ratio(True)
    won, count, methods = four_bar.beaten(runs)
    print(f"{won} of {count} runs of the {methods} rivals are beaten at equal CPU")
    told = "Measured by `make bench-loops`: " + " · ".join(f"{name} {value}" for name, value in machine().items()) + "."
    if missing():
        told += f" Not installed, and left out: {', '.join(missing())}."
    parts = four_bar.section(runs, *ratios), ladders.section(found), ladder_rivals.section(others), told
    fill(options.out, "\n\n".join(parts), MARK)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
