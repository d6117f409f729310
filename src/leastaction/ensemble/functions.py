"""Functions of the user: how to tell whether two are the same, and how to send them to other processes."""

import hashlib
import pickle
from collections.abc import Callable, Iterable, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from leastaction.model import Model


def name_of(function: Any) -> str:
    """Name a function for people, without its module: a script may be run or imported."""
    return str(getattr(getattr(function, "py_func", function), "__qualname__", type(function).__name__))


def digest_of(function: Any) -> str:
    """Return the SHA-256 of what a function does: its code, its defaults, and what it refers to."""
    digest = hashlib.sha256()
    _feed(digest.update, function, set())
    return digest.hexdigest()[:16]


def _feed(update: Callable[[bytes], None], value: Any, known: set[int]) -> None:
    """Feed a value to the hash; of a function, also everything that it refers to."""
    if id(value) in known:
        return
    value = getattr(value, "py_func", value)  # of Numba's dispatchers
    if isinstance(value, FunctionType):
        known.add(id(value))
        update(b"function")
        _feed(update, value.__code__, known)
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell.cell_contents is not value]
        _feed(update, [value.__defaults__, value.__kwdefaults__, cells], known)
        for name in _names(value.__code__):
            if name in value.__globals__:
                update(name.encode())
                _feed(update, value.__globals__[name], known)
    elif isinstance(value, CodeType):
        update(value.co_code + repr(value.co_names).encode())
        _feed(update, value.co_consts, known)
    elif isinstance(value, ModuleType):
        update(f"module {value.__name__}".encode())
    elif isinstance(value, list | tuple | set | frozenset):
        entries: Iterable[Any] = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        update(f"{type(value).__name__} {len(value)}".encode())
        for entry in entries:
            _feed(update, entry, known)
    elif isinstance(value, Mapping):
        _feed(update, list(value.items()), known)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        update(f"{value.dtype.str} {value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    elif value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        update(f"{type(value).__name__} {value!r}".encode())
    elif isinstance(value, Model):
        _feed(update, value.to_dict(), known)
    elif isinstance(value, type) or not hasattr(value, "__dict__"):
        named = value if hasattr(value, "__qualname__") else type(value)
        update(f"{getattr(named, '__module__', '')}.{named.__qualname__}".encode())
    else:  # an object: its class, and what it holds; of a bound method, the object and the function
        known.add(id(value))
        update(f"{type(value).__module__}.{type(value).__qualname__}".encode())
        inner = [getattr(value, "__self__", None), getattr(value, "__func__", None), vars(value)]
        call = getattr(type(value), "__call__", None)  # noqa: B004  what is asked for is the function
        _feed(update, [*inner, call if isinstance(call, FunctionType) else None], known)


def _names(code: CodeType) -> list[str]:
    """List the global names that a function and those within it use."""
    inner = [name for value in code.co_consts if isinstance(value, CodeType) for name in _names(value)]
    return sorted({*code.co_names, *inner})


def packed(functions: Mapping[str, Any]) -> bytes | None:
    """Pickle functions for other processes; None if there are none."""
    if not functions:
        return None
    try:
        from cloudpickle import dumps
    except ImportError:
        from numba.cloudpickle import dumps
    try:
        data: bytes = dumps(dict(functions))
        return data
    except Exception as error:
        names = ", ".join(sorted(map(name_of, functions.values())))
        raise ValueError(f"{names} cannot travel to another process: {error}. Let it refer to numbers and arrays only, "
                         "or run without an executor, under threads") from error


def unpacked(data: bytes | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Undo `packed`."""
    return pickle.loads(data) if isinstance(data, bytes) else data or {}
