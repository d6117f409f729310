"""The command `leastaction`."""

import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command line."""
    missing = [name for name in ("typer", "matplotlib") if find_spec(name) is None]
    if missing:
        sys.exit(f"leastaction: the command needs {' and '.join(missing)}: pip install 'leastaction[cli]'")
    from leastaction.cli.commands import app

    app(prog_name="leastaction")
