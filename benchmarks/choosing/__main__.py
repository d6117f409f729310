"""`python -m benchmarks.choosing`."""

import argparse
from pathlib import Path

from benchmarks.choosing.suite import FULL, QUICK, run


def main() -> None:
    """Read the options and write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.choosing",
                                     description="Measure what suits which problem.")
    parser.add_argument("--quick", action="store_true", help="fewer steps and repeats")
    parser.add_argument("--out", type=Path, default=Path("docs/choosing.md"), metavar="PAGE",
                        help="page to write the tables to, between its marks")
    options = parser.parse_args()
    run(QUICK if options.quick else FULL, options.out)


if __name__ == "__main__":
    main()
