"""The command `leastaction`."""

import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command line."""
    missing = [name for name in ("typer", "matplotlib") if find_spec(name) is None]
    if missing and sys.argv[1:2] == ["doctor"]:  # it is what tells the user what is missing
        from leastaction.doctor import run

        sys.exit(run("--json" in sys.argv, "--clear-cache" in sys.argv))
    if missing:
        sys.exit(f"leastaction: the command needs {' and '.join(missing)}: pip install 'leastaction[cli]'")
    from leastaction.cli.commands import app

    app(prog_name="leastaction")
