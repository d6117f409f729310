"""A digest of all that a function is compiled from, so that a cache knows whether it has changed.

Read are bytecode, constants and defaults, the values of globals and closures, the functions that are called, however
deep, and what is taken from modules and classes. Comments and line numbers are not, nor a global that only shares its
name with an attribute. Numba, NumPy and the kernels of this package are in the key of the cache (cache.py). Not seen is
what a function reaches only through an @overload or an @intrinsic of its own.
"""

import dis
import hashlib
from types import CodeType, FunctionType, ModuleType

import numpy as np

_OF_ATTRIBUTES = ("LOAD_ATTR", "STORE_ATTR", "DELETE_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
_IN_THE_KEY = ("leastaction.kernels", "numba", "numpy", "math", "builtins")


def digest(*functions):
    """Sixteen hexadecimal digits."""
    reader = _Reader()
    for function in functions:
        reader.read(function, frozenset())
    return reader.sha.hexdigest()[:16]


class _Reader:
    def __init__(self):
        self.sha = hashlib.sha256()
        self.met = {}  # things by their id; they are kept, as the id of one that is gone may be given to another

    def note(self, *texts):
        for text in texts:
            self.sha.update(text.encode() + b"\n")

    def read(self, thing, names):
        """Read a thing that some code reaches. ``names`` are all that this code has: perhaps what it takes of it."""
        options = getattr(thing, "targetoptions", {})  # of a function that Numba compiles
        thing = getattr(thing, "py_func", thing)
        if (id(thing), names) in self.met:
            return
        self.met[id(thing), names] = thing
        is_module = isinstance(thing, ModuleType)
        module = thing.__name__ if is_module else getattr(thing, "__module__", None) or ""
        if (is_module or hasattr(thing, "__qualname__")) and _is_in_the_key(module):
            self.note(module, getattr(thing, "__qualname__", ""))
        elif is_module or isinstance(thing, type):
            self.note(module, getattr(thing, "__qualname__", ""))
            for name in sorted(names):
                if hasattr(thing, name):
                    self.read(getattr(thing, name), names)
        elif isinstance(thing, FunctionType):
            self.note(module, *(f"{name} {_written(value)}" for name, value in sorted(options.items())))
            self.read_function(thing)
        elif isinstance(thing, tuple | list):
            self.note(type(thing).__name__, f"{len(thing)} {getattr(thing, '_fields', '')}")
            for entry in thing:
                self.read(entry, names)
        elif isinstance(thing, np.ndarray):
            self.note(f"{thing.dtype} {thing.shape}")
            self.sha.update(thing.tobytes())
        else:
            self.note(_written(thing))

    def read_function(self, function):
        code = function.__code__
        self.read_code(code, function.__globals__)
        for value in (function.__defaults__ or (), tuple((function.__kwdefaults__ or {}).items())):
            self.read(value, frozenset())
        for cell in function.__closure__ or ():
            self.read(cell.cell_contents, frozenset(code.co_names))

    def read_code(self, code, scope):
        self.sha.update(code.co_code)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.read_code(constant, scope)
            else:
                self.note(_written(constant))
        names, loaded = frozenset(code.co_names), _globals_of(code)
        for name in code.co_names:
            self.note(name)
            if name in loaded and name in scope:
                self.read(scope[name], names)


def _globals_of(code):
    """The names that some code may look up in its module: all but those of attributes alone."""
    return {one.argval for one in dis.get_instructions(code)
            if one.opcode in dis.hasname and one.opname not in _OF_ATTRIBUTES}


def _is_in_the_key(module):
    return any(module == name or module.startswith(name + ".") for name in _IN_THE_KEY)


def _written(value):
    """A constant as text, with its type; sets in an order that does not change from process to process."""
    text = sorted(map(repr, value)) if isinstance(value, frozenset | set) else repr(value)
    return f"{type(value).__name__} {text}"
