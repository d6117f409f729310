"""Functions with a series near zero and a closed form beyond: of one number, or of each of four.

For four numbers, the series is evaluated for all at once, and the closed form one by one for those that lie outside. So
the result for one of the four does not depend on the other three.
"""

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from .jit import INNER, kernel
from .simd import COMPILED, float4


def piecewise(inside, series, closed):
    """Make the function that is ``series`` where ``inside`` holds and ``closed`` elsewhere, of the same arguments.

    For four numbers, ``inside`` tells whether all four are inside (simd.below).
    """

    def of_one(*args):
        return series(*args) if inside(*args) else closed(*args)

    if not COMPILED:
        return of_one
    inside, series, closed = kernel(inside), kernel(series), kernel(closed)

    def of_four(*args):
        result = series(*args)
        if not inside(*args):
            for k in range(4):
                own = _lane(args, k)
                if not inside(*own):
                    result = _with_lane(result, k, closed(*own))
        return result

    def function(*args):
        raise NotImplementedError("for kernels only")

    @overload(function, strict=False, jit_options=INNER)
    def _choose(*args):
        return of_four if args[0] is float4 else of_one

    return function


@intrinsic
def _lane(typing_context, fours, k):
    """Number k of each of several vectors."""

    def lower(context, builder, sig, args):
        place = builder.trunc(args[1], ir.IntType(32))
        found = [builder.extract_element(four, place) for four in _parts(builder, args[0])]
        return context.make_tuple(builder, sig.return_type, found)

    return types.UniTuple(types.float64, len(fours))(fours, types.intp), lower


@intrinsic
def _with_lane(typing_context, fours, k, ones):
    """A vector, or several, with number k replaced."""

    def lower(context, builder, sig, args):
        place = builder.trunc(args[1], ir.IntType(32))
        if fours is float4:
            return builder.insert_element(args[0], args[2], place)
        pairs = zip(_parts(builder, args[0]), _parts(builder, args[2]), strict=True)
        return context.make_tuple(builder, fours, [builder.insert_element(four, one, place) for four, one in pairs])

    return fours(fours, types.intp, ones), lower


def _parts(builder, values):
    return [builder.extract_value(values, j) for j in range(values.type.count)]
