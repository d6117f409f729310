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

    for words, number in damage.attack(count, seed).items():  # every key but these two names a fault
        if words in ("equal", "refused"):
            found.outcomes["equal data" if words == "equal" else "FileError"] += number
        else:
            found.failures += [words] * number
    return found
