"""Pure functions of numbers, compiled by Numba: no classes, no I/O, nothing of the library imported from above.

Every formula is written over tuples of numbers, so that the same text runs compiled, as plain Python
(``NUMBA_DISABLE_JIT=1``) and on any other number type with ``+ - * /``. Letters are those of the paper;
``docs/notation.md`` joins them to words.
"""
