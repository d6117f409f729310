"""Checks of what a user gives: each value is converted, or refused in a sentence that names the argument."""

import math
from collections.abc import Callable, Sequence
from functools import wraps
from numbers import Real
from typing import Any, TypeVar

import numpy as np

Array = np.ndarray
Kind = TypeVar("Kind")
MOST = 2**53  # up to here every whole number is a float, and times are exact
REAL = "biuf"  # kinds of arrays that hold real numbers
FLOAT = np.dtype(float)
FEW = 40  # numbers
WORDS = {"c": "complex numbers", "M": "dates", "m": "durations of datetime64", "U": "text", "S": "text"}


def shown(value: object) -> str:
    """Write a value down in at most 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def real_array(value: object, name: str, wanted: str = "real numbers") -> Array:
    """Copy to an array of floats, in C order, or raise a ValueError: "`name` must be `wanted`, not …".

    Values that NumPy would convert with a loss are refused: complex numbers, masked arrays, dates, text.
    """
    if type(value) is np.ndarray and value.dtype is FLOAT:  # comparing with `float` takes as long as the copy
        return value.copy()
    parts = value if isinstance(value, list | tuple) else (value,)
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        raise ValueError(f"{name} must be {wanted}, not a masked array: fill its gaps first, as by filled(0.0)")
    try:
        given = np.asarray(value)
        if given.dtype.kind == "O":  # Fraction and the like; float() refuses None and complex numbers, NumPy does not
            given = np.array([float(entry) for entry in given.ravel()]).reshape(given.shape)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {wanted}, not {shown(value)}") from None
    if given.dtype.kind not in REAL:
        what = shown(value) if given.ndim == 0 else WORDS.get(given.dtype.kind, str(given.dtype))
        raise ValueError(f"{name} must be {wanted}, not {what}")
    return np.array(given, dtype=float, order="C")


def finite(value: object) -> float | None:
    """Return a finite real number as a float; None if it is anything else."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def all_finite(array: Array) -> bool:
    """Tell whether all numbers of an array are finite."""
    # Python adds a few numbers in half of the time that NumPy takes to begin; the sum of finite ones may overflow
    if array.size <= FEW and math.isfinite(sum(array.tolist() if array.ndim == 1 else array.ravel().tolist())):
        return True
    return b"\0" not in np.isfinite(array).tobytes()


def is_row(value: object, size: int) -> bool:
    """Tell whether a value is an array of ``size`` floats."""
    return type(value) is np.ndarray and value.dtype is FLOAT and value.shape == (size,)


def copied_row(value: Any, size: int) -> Array | None:
    """Copy an array of ``size`` finite floats; None if the value is anything else, which takes a closer look."""
    if not is_row(value, size):
        return None
    row: Array = value.copy()
    return row if all_finite(row) else None


def whole(name: str, value: object, least: int, most: int = MOST) -> int:
    """Return a whole number within limits, or raise a ValueError that names them."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {shown(value)}")
    if value > most:
        raise ValueError(f"{name} must be at most {most:,}, not {shown(value)}")
    return int(value)


def choice(name: str, value: object, options: Sequence[object]) -> None:
    """Raise a ValueError unless the value of an argument is one of the options."""
    if not (isinstance(value, str | int | np.integer) and value in options):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, not {shown(value)}")


def flag(name: str, value: object) -> None:
    """Raise a ValueError unless the value of an argument is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {shown(value)}")


def replaced(**instead: str) -> Callable[[type[Kind]], type[Kind]]:
    """Let a class say what to write instead of arguments that it once had."""
    def decorate(kind: type[Kind]) -> type[Kind]:
        plain: Callable[..., None] = vars(kind)["__init__"]

        @wraps(plain)
        def init(self: Kind, *arguments: object, **options: object) -> None:
            for name in instead.keys() & options.keys():
                raise TypeError(f"{kind.__name__} takes no {name}: {instead[name]}")
            plain(self, *arguments, **options)

        type.__setattr__(kind, "__init__", init)
        return kind

    return decorate
