"""Control laws as compiled functions that the loops can call without being compiled anew for each of them."""

import numba
import numpy as np
from numba import types


# tau = f(t, q, v)
SIGNATURE = types.float64[::1](types.float64, types.float64[::1], types.float64[::1])


def first_class(function):
    """Turn a Numba-compiled f(t, q, v) → tau into a function value of the one type that the loops take."""
    if numba.config.DISABLE_JIT:
        return function

    @numba.cfunc(SIGNATURE)
    def call(t, q, v):
        return function(t, q, v)

    return call


def is_compiled(function: object) -> bool:
    """Tell whether a function is compiled by Numba."""
    return isinstance(function, numba.core.dispatcher.Dispatcher)


def sample(function, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Call f(t, q, v) from Python, on copies, and convert what it returns."""
    return np.array(function(t, q.copy(), v.copy()), dtype=float)
