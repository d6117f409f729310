"""`python -m leastaction.cli`."""

from leastaction.cli import main

main()
