"""The seam where a kind of force is added, in a file of its own, inside this package or outside.

All elements of one kind are a table: a NamedTuple of columns, each marked as Link, Whole or Real. element() gives the
loops what they need of it:

    impulse(table, tree, w, h)    adds the wrenches at the node, times h, to the momenta of the links (points.push)
    potential(table, tree, w)     gives the energy of all elements of the table, J

Both read the node that place() left in w. They are plain functions with loops over the elements, and they are compiled
with the loop. In lanes.py the numbers in w are four simulations at once: so take simd.choose in place of an if on such
numbers, and simd.number(w, x) where a sum begins. A potential acts by half an impulse at either end of the step, which
is the trapezoidal rule in the action: symplectic, of second order, and the momentum is kept if the forces balance.

The loops are not compiled for the class of the table but for one that is made of a name: that of the class, a digest
of the verbs (digest.py) and the columns. So an edited verb is compiled anew wherever it is written, a class that is
defined twice in a notebook is two, and any process can read the index of the cache, which has these classes in it, by
__getattr__ below. With the class of the user in their place, old code would run and processes that cannot import that
class would fail: Numba tells NamedTuples apart by name and fields alone, and pickles them by reference.
"""

from collections import namedtuple
from typing import Annotated, Any, get_type_hints

import numpy as np
from numba.extending import overload

from ..machine.jit import INNER, kernel
from ..machine.simd import COMPILED
from .digest import digest

Link = Annotated[Any, "link"]  # column of links (m,), by index; n is the ground
Whole = Annotated[Any, "whole"]  # column of whole numbers (m,) or (m, k)
Real = Annotated[Any, "real"]  # column of numbers (m,) or (m, k)

_PREFIX, _JOINT = "Table", "__"
_verbs: dict[type, tuple[Any, Any]] = {}  # impulse and potential, by the class that the loops know
_known_as: dict[type, type] = {}  # that class, by the class of the user
_taught = 0


def __getattr__(name):
    """The class of a table by its name: pickle asks for it."""
    if not name.startswith(_PREFIX + _JOINT):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, namedtuple(name, name.split(_JOINT)[3:], module=__name__))


def element(kind, impulse, potential):
    """Teach the loops a kind of table; the same class again replaces its verbs."""
    global _taught
    columns = _columns(kind)
    for column in columns:
        if _JOINT in column or column.endswith("_"):
            raise ValueError(f"column '{column}' of {kind.__name__}: two underscores part the names by which compiled "
                             "code is found again; take one, and none at the end")
    name = _JOINT.join((_PREFIX, kind.__name__.replace(_JOINT, "_"), digest(impulse, potential), *columns))
    made = globals().get(name) or __getattr__(name)
    _verbs.setdefault(made, (kernel(impulse), kernel(potential)))
    _known_as[kind] = made
    _taught += 1


def taught():
    """How often element() was called: tables that were made before may have old verbs."""
    return _taught


def _columns(kind):
    """The columns of a table and their marks."""
    columns = getattr(kind, "_fields", None)
    if not isinstance(kind, type) or not columns:
        raise TypeError(f"a kind of element is a NamedTuple of columns, not {kind!r}")
    marks = get_type_hints(kind, include_extras=True)
    for column in columns:
        if marks.get(column) not in (Link, Whole, Real):
            raise TypeError(f"column '{column}' of {kind.__name__} must be annotated as Link, Whole or Real")
    return {column: marks[column] for column in columns}


def tables(given, n):
    """Tables of a model with n links as the loops take them: checked, one for each kind, in the order of their names.
    So the loops are compiled for a set of kinds, whatever the number and the order of the elements."""
    found = {}  # columns of every table, by the class that the loops know
    for table in given:
        if type(table) not in _known_as:
            raise TypeError(f"{type(table).__name__} is no kind of element: call element(kind, impulse, potential)")
        columns = [_column(table, name, mark, n) for name, mark in _columns(type(table)).items()]
        for name, column in zip(table._fields, columns, strict=True):
            if len(column) % max(len(columns[0]), 1) or len(column) < len(columns[0]):
                raise ValueError(f"column '{name}' of {type(table).__name__} has {len(column)} numbers for "
                                 f"{len(columns[0])} elements")
        if len(columns[0]):
            found.setdefault(_known_as[type(table)], []).append(columns)
    return tuple(made(*map(np.concatenate, zip(*found[made], strict=True)))
                 for made in sorted(found, key=lambda made: made.__name__))


def _column(table, name, mark, n):
    """One column as a flat array of int64 or float64, writable and contiguous: verbs are compiled for no other, and
    they reach it by a bare pointer."""
    where = f"column '{name}' of {type(table).__name__}"
    values = np.array(getattr(table, name)).reshape(-1)
    if values.dtype.kind not in ("iub" if mark is not Real else "iubf") and values.size:
        raise TypeError(f"{where} must have {'numbers' if mark is Real else 'whole numbers'}, not {values.dtype}")
    if mark is Link and ((values < 0) | (values > n)).any():
        raise ValueError(f"{where} must have links from 0 to {n - 1}, or {n} for the ground")
    if not np.isfinite(values).all():
        raise ValueError(f"{where} has numbers that are not finite")
    return values.astype(np.float64 if mark is Real else np.int64)


def impulses(elements, tree, w, h):
    """Add to the momenta of the links what all elements give in a time h. Needs place()."""
    for table in elements:
        _verbs[type(table)][0](table, tree, w, h)


def with_potentials(energy, elements, tree, w):
    """An energy, and that of all elements. Needs place()."""
    for table in elements:
        energy += _verbs[type(table)][1](table, tree, w)
    return energy


if COMPILED:
    @overload(impulses, jit_options=INNER)
    def _impulses(elements, tree, w, h):
        if len(elements) == 0:
            return lambda elements, tree, w, h: None
        impulse = _verbs[elements[0].instance_class][0]

        def walk(elements, tree, w, h):
            impulse(elements[0], tree, w, h)
            impulses(elements[1:], tree, w, h)

        return walk

    @overload(with_potentials, jit_options=INNER)
    def _with_potentials(energy, elements, tree, w):
        if len(elements) == 0:
            return lambda energy, elements, tree, w: energy  # not energy + 0.0: the same bits as without the seam
        potential = _verbs[elements[0].instance_class][1]

        def walk(energy, elements, tree, w):
            return with_potentials(energy + potential(elements[0], tree, w), elements[1:], tree, w)

        return walk
