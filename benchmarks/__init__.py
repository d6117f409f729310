"""The speed of the library and of its peers: run it with ``make bench``.

Every measurement is a small function that returns plain data; `suite` runs them all, `findings` compares them with
their targets, `report` and `pictures` show them. `peers` has a file for every other library.
"""
