"""The seam where an integrator is added, in a file of its own, inside this package or outside.

An integrator is described by a NamedTuple, and method() tells the loop its verbs:

    begin(method, system, state, h)                  before the first of several steps
    advance(method, system, state, held, k, h)       makes step k, from the node in the state to the next; gives Made
    look(method, system, state, springs, whole)      gives twice the kinetic energy, and the energy, of the node;
                                                     if ``whole``, v is set as well
    trouble(method, state, made, twice, energy, looked_before)  gives the status of a step that failed after all, else 0
    undo(method, system, state)                      comes back to the node before the step that failed, p included
    after_look(method, system, state, kept)          after a node has been looked at; if kept, p of the node is set

They are compiled with the loop (loop.py), which is compiled for each class of methods. As with elements
(elements/seam.py), that class is not the user's own but one made of its name, its fields and a digest of its verbs.
"""

from collections import namedtuple
from typing import Any

from numba.extending import overload

from .elements.digest import digest
from .layout import Made
from .machine.jit import INNER, kernel
from .machine.simd import COMPILED
from .machine.verbs import fields_of, known_name, require_arguments, tried

_PREFIX = "Method__"
VERBS = {  # what they are called with
    "begin": "method, system, state, h", "advance": "method, system, state, held, k, h",
    "look": "method, system, state, springs, whole", "trouble": "method, state, made, twice, energy, looked_before",
    "undo": "method, system, state", "after_look": "method, system, state, kept",
}
_verbs: dict[type, dict[str, Any]] = {}  # by the class that the loop knows
_known_as: dict[type, type] = {}  # that class, by the class of the user


def __getattr__(name):
    """The class of a method by its name: pickle asks for it."""
    if not name.startswith(_PREFIX):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, namedtuple(name, fields_of(name), module=__name__))


def method(kind, *verbs):
    """Teach the loop a class of methods, by the functions that VERBS names; the same class again replaces them."""
    if not hasattr(kind, "_fields"):
        raise TypeError(f"a method is described by a NamedTuple, not {kind!r}")
    if len(verbs) != len(VERBS):
        raise TypeError(f"{kind.__name__} needs the {len(VERBS)} verbs {', '.join(VERBS)}, and {len(verbs)} are given")
    for verb, (called, arguments) in zip(verbs, VERBS.items(), strict=True):
        require_arguments(verb, called, kind, arguments)
    name = known_name("Method", kind, digest(*verbs), kind._fields)
    made = globals().get(name) or __getattr__(name)
    compiled = [one if hasattr(one, "py_func") or not COMPILED else kernel(one) for one in verbs]
    _verbs.setdefault(made, dict(zip(VERBS, compiled, strict=True)))
    _known_as[kind] = made


def known(given):
    """A method as the loop takes it."""
    if type(given) not in _known_as:
        raise TypeError(f"{type(given).__name__} is no method that the loop knows: call method(kind, *verbs)")
    return _known_as[type(given)](*given)


def begin(method, system, state, h):
    return _verbs[type(method)]["begin"](method, system, state, h)


def advance(method, system, state, held, k, h):
    return _verbs[type(method)]["advance"](method, system, state, held, k, h)


def look(method, system, state, springs, whole):
    return _verbs[type(method)]["look"](method, system, state, springs, whole)


def trouble(method, state, made, twice, energy, looked_before):
    return _verbs[type(method)]["trouble"](method, state, made, twice, energy, looked_before)


def undo(method, system, state):
    return _verbs[type(method)]["undo"](method, system, state)


def after_look(method, system, state, kept):
    return _verbs[type(method)]["after_look"](method, system, state, kept)


if COMPILED:
    @overload(begin, jit_options=INNER)
    def _begin(method, system, state, h):
        verb = _verbs[method.instance_class]["begin"]
        return lambda method, system, state, h: verb(method, system, state, h)

    @overload(advance, jit_options=INNER)
    def _advance(method, system, state, held, k, h):
        verb = tried(_verbs[method.instance_class]["advance"], "advance", method.instance_class,
                     (method, system, state, held, k, h), "what made() of kernels/explicit/common.py gives",
                     lambda given: getattr(given, "instance_class", None) is Made)
        return lambda method, system, state, held, k, h: verb(method, system, state, held, k, h)

    @overload(look, jit_options=INNER)
    def _look(method, system, state, springs, whole):
        verb = tried(_verbs[method.instance_class]["look"], "look", method.instance_class,
                     (method, system, state, springs, whole), "twice the kinetic energy, and the energy",
                     lambda given: getattr(given, "count", 0) == 2)
        return lambda method, system, state, springs, whole: verb(method, system, state, springs, whole)

    @overload(trouble, jit_options=INNER)
    def _trouble(method, state, made, twice, energy, looked_before):
        verb = _verbs[method.instance_class]["trouble"]
        return lambda method, state, made, twice, energy, looked_before: verb(
            method, state, made, twice, energy, looked_before)

    @overload(undo, jit_options=INNER)
    def _undo(method, system, state):
        verb = _verbs[method.instance_class]["undo"]
        return lambda method, system, state: verb(method, system, state)

    @overload(after_look, jit_options=INNER)
    def _after_look(method, system, state, kept):
        verb = _verbs[method.instance_class]["after_look"]
        return lambda method, system, state, kept: verb(method, system, state, kept)
