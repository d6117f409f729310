"""A process to be killed: makes the run of test_kill.py, or goes on with it, committing very often."""

import sys
from pathlib import Path

import leastaction as la
from leastaction.files import writer


def main(path: str, steps: int) -> None:
    writer.PATIENCE = 0.02
    if Path(path).exists():
        la.resume(path)
    else:
        la.simulate(la.library.chain(10), dt=1e-3, steps=steps, record_every=7, out=path, checkpoint_every=10_007)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
