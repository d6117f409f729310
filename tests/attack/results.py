"""Result files that were damaged or crafted; the damage is done by tests/files/damage.py."""

import sys
from importlib.util import find_spec
from pathlib import Path

from attack.found import Found


def attack(count: int, seed: int) -> Found:
    """Open and resume damaged files: equal data, or a FileError."""
    sys.path[:0] = [str(Path(__file__).parents[1] / "files")]
    found = Found("damaged result files, open and resume")
    if find_spec("damage") is None:
        found.note = "not run: tests/files/damage.py is not there"
        return found
    import damage

    counts = damage.attack(count, seed)
    failures = counts.pop("failures", [])
    found.outcomes.update({words: number for words, number in counts.items() if number and words != "tried"})
    found.failures.extend(map(str, failures))
    return found
