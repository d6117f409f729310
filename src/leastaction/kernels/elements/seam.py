"""The seam where a kind of force is added, in a file of its own, inside this package or outside.

All elements of one kind are a table: a NamedTuple of columns, each marked as Link, Whole, Real or Vector. element()
gives the loops what they need of it, three verbs, each of which may be None:

    impulse(table, tree, w, h)    adds the wrenches at the node, times h, to the momenta of the links (points.push)
    potential(table, tree, w)     gives the energy of all elements of the table, J
    damper(table, w, k)           tells of element k a pull that a damper gives: the two links, the ways from their
                                  origins to its ends, its direction (unit vector, world) and its coefficient, N s/m

All read the node that place() left in w. They are plain functions with loops over the elements, and they are compiled
with the loop. In lanes.py the numbers in w are four simulations at once: so take simd.choose in place of an if on such
numbers, and simd.number(w, x) where a sum begins. A force that depends on time asks points.span for it.

A potential acts by half an impulse at either end of the step, which is the trapezoidal rule in the action: symplectic,
of second order, and the momentum is kept if the forces balance. What a damper does is in damping.py.

The loops are not compiled for the class of the table but for one that is made of a name: that of the class, a digest
of the verbs (digest.py) and the columns. So an edited verb is compiled anew wherever it is written, a class that is
defined twice in a notebook is two, and any process can read the index of the cache, which has these classes in it, by
__getattr__ below. With the class of the user in their place, old code would run and processes that cannot import that
class would fail: Numba tells NamedTuples apart by name and fields alone, and pickles them by reference.
"""

from collections import namedtuple
from typing import Annotated, Any, get_type_hints

import numpy as np
from numba.core import types
from numba.extending import overload

from ..machine.jit import INNER, kernel
from ..machine.memory import link
from ..machine.simd import COMPILED, number
from ..machine.verbs import fields_of, known_name, require_arguments, tried
from ..maths.vec3 import NONE, sub
from .digest import digest
from .points import Line, pull, separation

Link = Annotated[Any, "link"]  # column of links (m,), by index; n is the ground
Whole = Annotated[Any, "whole"]  # column of whole numbers (m,)
Real = Annotated[Any, "real"]  # column of numbers (m,)
Vector = Annotated[Any, "vector"]  # column of vectors (m, 3)

_PREFIX = "Table__"
# What the verbs are called with
_VERBS = {"impulse": "table, tree, w, h", "potential": "table, tree, w", "damper": "table, w, k"}
_verbs: dict[type, tuple[Any, Any, Any]] = {}  # impulse, potential, damper, by the class that the loops know
_known_as: dict[type, type] = {}  # that class, by the class of the user
_taught = 0


def __getattr__(name):
    """The class of a table by its name: pickle asks for it."""
    if not name.startswith(_PREFIX):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, namedtuple(name, fields_of(name), module=__name__))


def element(kind, impulse=None, potential=None, damper=None):
    """Teach the loops a kind of table by its verbs; the same class again replaces them."""
    global _taught
    columns, given = _columns(kind), (impulse, potential, damper)
    for verb, (called, arguments) in zip(given, _VERBS.items(), strict=True):
        if verb is not None:
            require_arguments(verb, called, kind, arguments)
    name = known_name("Table", kind, digest(*given), columns)
    made = globals().get(name) or __getattr__(name)
    verbs = (None if verb is None else kernel(verb) for verb in given)
    _verbs.setdefault(made, tuple(verbs))
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
        if marks.get(column) not in (Link, Whole, Real, Vector):
            raise TypeError(f"column '{column}' of {kind.__name__} must be annotated as Link, Whole, Real or Vector")
    return {column: marks[column] for column in columns}


def tables(given, n):
    """Tables of a model with n links as the loops take them: checked, one for each kind, in the order of their names.
    So the loops are compiled for a set of kinds, whatever the number and the order of the elements."""
    found = {}  # columns of every table, by the class that the loops know
    for table in given:
        if type(table) not in _known_as:
            raise TypeError(f"{type(table).__name__} is no kind of element: call element(kind, impulse, potential)")
        marks = _columns(type(table))
        columns = [_column(table, name, mark, n) for name, mark in marks.items()]
        widths = [3 if mark is Vector else 1 for mark in marks.values()]
        count = len(columns[0]) // widths[0]
        for name, column, width in zip(table._fields, columns, widths, strict=True):
            if len(column) != width * count:  # the verbs reach it by a bare pointer
                raise ValueError(f"column '{name}' of {type(table).__name__} has {len(column)} numbers for {count} "
                                 "elements: a Vector has three for each, and Link, Whole and Real have one")
        if count:
            found.setdefault(_known_as[type(table)], []).append(columns)
    return tuple(made(*map(np.concatenate, zip(*found[made], strict=True)))
                 for made in sorted(found, key=lambda made: made.__name__))


def _column(table, name, mark, n):
    """One column as a flat array of int64 or float64, writable and contiguous: verbs are compiled for no other, and
    they reach it by a bare pointer."""
    where = f"column '{name}' of {type(table).__name__}"
    values = np.array(getattr(table, name)).reshape(-1)
    real = mark in (Real, Vector)
    if values.dtype.kind not in ("iubf" if real else "iub") and values.size:
        raise TypeError(f"{where} must have {'numbers' if real else 'whole numbers'}, not {values.dtype}")
    if mark is Link and ((values < 0) | (values > n)).any():
        raise ValueError(f"{where} must have links from 0 to {n - 1}, or {n} for the ground")
    if not np.isfinite(values).all():
        raise ValueError(f"{where} has numbers that are not finite")
    return values.astype(np.float64 if real else np.int64)


def verbs_of(made):
    """Impulse, potential and damper of the class of a table as the loops know it."""
    return _verbs[made]


def tried_damper(table, w):
    """The damper of a table, tried; None if it has none. Given are types."""
    damper = verbs_of(table.instance_class)[2]
    return damper and tried(damper, "damper", table.instance_class, (table, w, types.intp), "two links, two ways, a "
                            "direction and a coefficient", lambda given: getattr(given, "count", 0) == 6)


@kernel
def nothing(table, tree, w, h):
    """Of a kind without an impulse."""


@kernel
def no_energy(table, tree, w):
    """Of a kind without a potential."""
    return number(w, 0.0)


@kernel
def drag(damper, table, tree, w):
    """Add the forces of dampers at the twists of the links, times 1 s, to their momenta. Needs velocities()."""
    for k in range(len(table[0])):
        on, other, arm, other_arm, way, coefficient = damper(table, w, k)
        line = Line(on, other, arm, other_arm, way)
        pull(tree, w, line, coefficient * separation(line, link(w, on).twist, link(w, other).twist))


@kernel
def put_aside(tree, w):
    """Keep the momenta of the links in their answers, and clear them."""
    for i in range(tree.n):
        L = link(w, i)
        L.answer = L.momentum
        L.momentum = NONE


@kernel
def take_off(tree, w):
    """Take what is in the momenta of the links off their wrenches, and put the momenta back."""
    for i in range(tree.n):
        L = link(w, i)
        (m, f), (em, ef) = L.wrench, L.momentum
        L.wrench = sub(m, em), sub(f, ef)
        L.momentum = L.answer


@kernel
def begin_span(tree, w, h):
    """The impulses that follow are of a time h from the present one on; of an instant if it is zero."""
    link(w, tree.n).span = number(w, h)


@kernel
def end_span(tree, w, h):
    """That time has passed."""
    link(w, tree.n).time = link(w, tree.n).time + h


@kernel
def begin_at(tree, w, t):
    link(w, tree.n).time = number(w, t)


def set_time(elements, tree, w, t):
    """Let the next impulses begin at a time t, s, or the next forces be of it."""
    if elements:
        begin_at(tree, w, t)


def each_impulse(elements, tree, w, h):
    for table in elements:
        (verbs_of(type(table))[0] or nothing)(table, tree, w, h)


def each_drag(elements, tree, w):
    for table in elements:
        if verbs_of(type(table))[2]:
            drag(verbs_of(type(table))[2], table, tree, w)


def impulses(elements, tree, w, h):
    """Add to the momenta of the links what all elements give in a time h, which passes. Needs place()."""
    if elements:
        begin_span(tree, w, h)
        each_impulse(elements, tree, w, h)
        end_span(tree, w, h)


def take_forces(elements, tree, w):
    """Take the wrenches of all elements off those of the links. Needs velocities(); overwrites the answers."""
    if elements:
        put_aside(tree, w)
        begin_span(tree, w, 0.0)
        each_impulse(elements, tree, w, 1.0)
        each_drag(elements, tree, w)
        take_off(tree, w)


def with_potentials(energy, elements, tree, w):
    """An energy, and that of all elements. Needs place()."""
    for table in elements:
        energy += (verbs_of(type(table))[1] or no_energy)(table, tree, w)
    return energy


if COMPILED:
    @overload(set_time, jit_options=INNER)
    def _set_time(elements, tree, w, t):
        if len(elements) == 0:
            return lambda elements, tree, w, t: None
        return lambda elements, tree, w, t: begin_at(tree, w, t)

    @overload(each_impulse, jit_options=INNER)
    def _each_impulse(elements, tree, w, h):
        if len(elements) == 0:
            return lambda elements, tree, w, h: None
        table = elements[0]
        impulse = verbs_of(table.instance_class)[0] or nothing
        tried(impulse, "impulse", table.instance_class, (table, tree, w, h), "nothing, but push the links",
              lambda given: given is types.none)

        def walk(elements, tree, w, h):
            impulse(elements[0], tree, w, h)
            each_impulse(elements[1:], tree, w, h)

        return walk

    @overload(each_drag, jit_options=INNER)
    def _each_drag(elements, tree, w):
        if len(elements) == 0:
            return lambda elements, tree, w: None
        damper = tried_damper(elements[0], w)
        if damper is None:
            return lambda elements, tree, w: each_drag(elements[1:], tree, w)

        def walk(elements, tree, w):
            drag(damper, elements[0], tree, w)
            each_drag(elements[1:], tree, w)

        return walk

    @overload(impulses, jit_options=INNER)
    def _impulses(elements, tree, w, h):
        if len(elements) == 0:
            return lambda elements, tree, w, h: None

        def act(elements, tree, w, h):
            begin_span(tree, w, h)
            each_impulse(elements, tree, w, h)
            end_span(tree, w, h)

        return act

    @overload(take_forces, jit_options=INNER)
    def _take_forces(elements, tree, w):
        if len(elements) == 0:
            return lambda elements, tree, w: None

        def act(elements, tree, w):
            put_aside(tree, w)
            begin_span(tree, w, 0.0)
            each_impulse(elements, tree, w, 1.0)
            each_drag(elements, tree, w)
            take_off(tree, w)

        return act

    @overload(with_potentials, jit_options=INNER)
    def _with_potentials(energy, elements, tree, w):
        if len(elements) == 0:
            return lambda energy, elements, tree, w: energy  # not energy + 0.0: the same bits as without the seam
        table = elements[0]
        potential = verbs_of(table.instance_class)[1] or no_energy
        tried(potential, "potential", table.instance_class, (table, tree, w), "a number, the energy in J",
              lambda given: isinstance(given, types.Number) or given == energy)

        def walk(energy, elements, tree, w):
            return with_potentials(energy + potential(elements[0], tree, w), elements[1:], tree, w)

        return walk
