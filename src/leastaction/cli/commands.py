"""Every subcommand, in the order of --help: importing its file adds it to the app."""

from leastaction.cli import simulate  # isort: skip
from leastaction.cli import ensemble  # isort: skip
from leastaction.cli import demo  # isort: skip
from leastaction.cli import plot  # isort: skip
from leastaction.cli import view  # isort: skip
from leastaction.cli import audit  # isort: skip
from leastaction.cli import info  # isort: skip
from leastaction.cli import measure  # isort: skip
from leastaction.cli import reproduce  # isort: skip
from leastaction.cli import doctor  # isort: skip
from leastaction.cli.app import app

__all__ = ["app", "audit", "demo", "doctor", "ensemble", "info", "measure", "plot", "reproduce", "simulate", "view"]
