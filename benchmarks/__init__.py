"""How fast the library is, measured, and beside its peers: run it with ``make bench``.

Every measurement is a small function that returns plain data; `suite` runs them all, `findings` puts them beside their
targets, `report` and `pictures` show them. `peers` has a file for every other library.
"""
