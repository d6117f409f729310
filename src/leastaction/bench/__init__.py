"""How fast the library is, measured: run it with ``python -m leastaction.bench``.

Every measurement is a small function that returns plain data; `suite` runs them all, and `report` puts them beside
their aims.
"""
