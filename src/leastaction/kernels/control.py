"""Control laws as compiled functions of one type, so that the loops need not be compiled again for each law.

An exception of the law cannot pass through such a function. So it is caught there, and an empty array tells the loop to
stop; then Python calls the law once more at the same state, which raises the exception.
"""

from math import isfinite

import numba
import numpy as np
from numba import literal_unroll, types
from numba.core import errors
from numba.extending import overload


# tau = f(t, q, v)
SIGNATURE = types.float64[::1](types.float64, types.float64[::1], types.float64[::1])


def first_class(function):
    """Turn a Numba-compiled f(t, q, v) → tau into a function value of the one type that the loops take.

    It is called with copies of the state and returns nv finite numbers, or none if the law raised or returned anything
    else. Its attribute ``law`` is the function itself.
    """
    def call(t, q, v):
        tau = np.empty(len(v))
        try:
            good = fill(tau, function(t, q.copy(), v.copy()))
        except Exception:
            good = False
        for j in range(len(tau)):
            good = good and isfinite(tau[j])
        return tau if good else tau[:0]

    if not numba.config.DISABLE_JIT:
        try:
            call = numba.cfunc(SIGNATURE)(call)
        except errors.TypingError:
            # Numba's own message is about our function; that of the law says what is wrong with it.
            raise ValueError("control must return nv numbers, as an array, a tuple or a list of floats or integers, "
                             "for Numba to call it; return a float64 array") from None
    call.law = function
    return call


def fill(tau, given):
    """Write what a law returned to tau (nv,); return whether it was nv numbers."""
    array = np.asarray(given)
    if array.ndim == 0:
        array = array.reshape(1)
    if array.shape != tau.shape or array.dtype.kind not in "biuf":
        return False
    tau[:] = array
    return True


@overload(fill)
def _fill(tau, given):
    real = types.Float, types.Integer, types.Boolean
    if isinstance(given, real):
        def fill_one(tau, given):
            tau[0] = given
            return len(tau) == 1
        return fill_one
    row = isinstance(given, types.List | types.ListType | types.UniTuple) or (
        isinstance(given, types.Array) and given.ndim == 1)
    if row and isinstance(given.dtype, real):
        def fill_all(tau, given):
            if len(given) != len(tau):
                return False
            for j in range(len(tau)):
                tau[j] = given[j]
            return True
        return fill_all
    if isinstance(given, types.Tuple) and all(isinstance(kind, real) for kind in given.types):
        def fill_mixed(tau, given):
            if len(given) != len(tau):
                return False
            j = 0
            for value in literal_unroll(given):
                tau[j] = value
                j += 1  # noqa: SIM113 (Numba has no enumerate of an unrolled tuple)
            return True
        return fill_mixed
    return None


def is_compiled(function: object) -> bool:
    """Tell whether a function is compiled by Numba."""
    return isinstance(function, numba.core.dispatcher.Dispatcher)
