"""`python -m benchmarks`."""

import argparse
from pathlib import Path

from benchmarks.suite import FULL, QUICK, run


def main() -> None:
    """Read the options and run the suite."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Time the library.")
    parser.add_argument("--quick", action="store_true", help="fewer sizes, motions and repeats: two minutes")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), metavar="DIR", help="folder for the report")
    parser.add_argument("--publish", type=Path, metavar="DIR",
                        help="checkout whose README.md and docs/images are to show the results")
    options = parser.parse_args()
    run(QUICK if options.quick else FULL, options.out, options.publish)


if __name__ == "__main__":
    main()
