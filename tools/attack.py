"""Attack the library with everything that tests/attack has, and write the counts into docs/reliability.md.

python tools/attack.py [--seed N] [--scale 0.1] [--only calls,server]: minutes, loopback only, nothing left behind.
"""

import argparse
import secrets
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from attack import cache, calls, kills, models, results, server  # noqa: E402
from leastaction import __version__, markdown  # noqa: E402

AREAS = {
    "calls": (calls.attack, 5000), "models": (models.attack, 3000), "crafted": (models.attack_crafted, 1),
    "results": (results.attack, 700), "kills": (kills.attack, 12), "cache": (cache.attack, 8),
    "server": (server.attack, 400),
}
PAGE = ROOT / "docs" / "reliability.md"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", default="", help="whole number; a fresh one unless given")
    parser.add_argument("--scale", type=float, default=1.0, help="how much of it")
    parser.add_argument("--only", default="", help="areas, with commas between")
    options = parser.parse_args()
    seed = int(options.seed) if options.seed else secrets.randbelow(10**9)
    chosen = options.only.split(",") if options.only else list(AREAS)
    print(f"seed {seed}", flush=True)
    rows, failures = [], []
    for name in chosen:
        attack, count = AREAS[name]
        began = time.perf_counter()
        found = attack(max(int(options.scale * count), 1), seed)
        outcomes = "; ".join(f"{number:,} {words}" for words, number in sorted(found.outcomes.items())) or found.note
        tried = f"{found.tried:,}" if found.tried else "–"
        rows.append((found.area, tried, outcomes, len(found.failures) if found.tried else "–"))
        failures += [f"{name}: {line}" for line in found.failures]
        print(f"{found.area}: {tried} tried, {len(found.failures)} not clean ({outcomes}), "
              f"{time.perf_counter() - began:.0f} s", flush=True)
    for line in failures:
        print(f"NOT CLEAN {line}")
    text = markdown.table(("attacked", "tried", "what came of it", "not clean"), rows)
    if not options.only and options.scale == 1.0:
        markdown.fill(PAGE, f"\n`make attack SEED={seed}` with leastaction {__version__}:\n\n{text}\n", "attack")
    else:
        print(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
