"""Verbs that somebody else wrote: the name by which the loops know their class, and their mistakes in one line.

Numba tells of a mistake by pages on the loops around the verb, so a verb is tried where its class is still known: how
many arguments it takes when it is taught, all else when a loop that has it is compiled. What Numba says is the cause.
"""

import inspect
import os
import re

from numba.core.types import unliteral

_JOINT = "__"
# Such a name in a message, and the types of its fields
_MADE = re.compile(r"(?:Table|Method)__(\w+?)__[0-9a-f]{16}\w*(\((?:[^()]|\([^()]*\))*\))?")
_PLACE = re.compile(r'File "([^"\n]+)", line (\d+)')


class VerbError(TypeError):
    """A verb that the loops cannot take. It is none of Numba's errors, as those are tried and collected."""


def known_name(prefix, kind, digest, fields):
    """The name of the class that stands for ``kind`` in compiled code; its parts can be told apart."""
    for field in fields:
        if _JOINT in field or field.endswith("_"):
            what = "column" if prefix == "Table" else "field"
            raise ValueError(f"{what} '{field}' of {kind.__name__}: two underscores part the names by which compiled "
                             "code is found again; take one, and none at the end")
    return _JOINT.join((prefix, re.sub("_+", "_", kind.__name__).strip("_"), digest, *fields))


def fields_of(name):
    """The fields in such a name."""
    return name.split(_JOINT)[3:]


def require_arguments(verb, name, kind, given):
    """Raise a VerbError unless a verb can be called with these arguments, "a, b, c"."""
    function = getattr(verb, "py_func", verb)
    if not callable(function):
        raise VerbError(f"the verb {name} of {kind.__name__} must be a function {name}({given}), not {verb!r}")
    try:
        inspect.signature(function).bind(*given.split(", "))
    except TypeError as error:
        raise VerbError(f"the verb {name} of {kind.__name__} is called as {name}({given}), and {function.__name__}"
                        f"{inspect.signature(function)} does not take that: {error}") from None


def tried(verb, name, kind, arguments, wanted, fits):
    """Compile a verb for these types of arguments. Gives the verb, or raises a VerbError.

    ``kind`` is the class that the loops know; ``fits`` says of the type of what the verb gives if it is ``wanted``.
    """
    kinds = tuple(map(unliteral, arguments))
    what = f"the verb {name} of {kind.__name__.split(_JOINT)[1]}"
    try:
        verb.compile(kinds)
        given = verb.overloads[kinds].signature.return_type
    except VerbError:
        raise
    except Exception as error:  # Numba raises errors of many kinds, and Python's own where its passes stumble
        raise VerbError(f"{what} cannot be compiled: {_reason(str(error))}") from error.with_traceback(None)
    if not fits(given):
        raise VerbError(f"{what} must return {wanted}, not {_plain(str(given))}")
    return verb


def _reason(text):
    """The line of Numba's message that says what is wrong, and where that is."""
    lines = [line.strip() for line in text.splitlines()]
    told = [line for line in lines if line and not line.startswith(("Failed in", "During:", "File "))]
    found = told[0] if told else "Numba does not say why"
    if found.startswith("No implementation of function") and len(told) > 1:
        found = f"there is no {told[1].removeprefix('>>> ')}"
    place = _PLACE.search(text)
    where = f" (line {place[2]} of {place[1].replace(os.sep, '/').rpartition('/')[2]})" if place else ""
    return _plain(found) + where


def _plain(text):
    """A text with the users' names of classes."""
    return _MADE.sub(r"\1", text)
