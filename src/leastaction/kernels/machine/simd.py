"""How kernels reach memory: bare views of arrays, one number at a time or four.

A view is a pointer and nothing else. Passing one costs one value where an array costs seven, which halves the code that
Numba has to make of kernels that are mostly small functions. Kernels are written over numbers with + − × ÷, so given a
view in fours (float4.py) the same text works on the four bodies of a block (layout.py), or on the same body of four
simulations (lanes.py).
Where Numba does not compile (NUMBA_DISABLE_JIT) a view is the array itself, and there, or where LEASTACTION_SIMD=0 says
so, SIMD is False and every loop is scalar.
"""

import math
import operator
import os

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from . import float4 as float4s
from .float4 import VECTOR, WIDE, Float4, float4

COMPILED = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
SIMD = COMPILED and os.environ.get("LEASTACTION_SIMD", "1") != "0"


class View(types.Type):
    """Type of a view: elements are loaded from, and stored at, the address of an element ``unit`` of the array."""

    def __init__(self, name, element, unit):
        super().__init__(name=name)
        self.element, self.unit = element, unit


of_numbers = View("NumberView", types.float64, ir.DoubleType())
of_fours = View("FourView", float4, ir.DoubleType())
of_lanes = View("LaneView", float4, VECTOR)
of_columns = View("ColumnView", float4, ir.DoubleType())
of_integers = View("IntegerView", types.int64, ir.IntType(64))


@register_model(View)
class _ViewModel(models.PrimitiveModel):
    def __init__(self, manager, type_):
        super().__init__(manager, type_, type_.unit.as_pointer())


def _address(context, builder, view, pointer, index):
    place = builder.gep(pointer, [index])
    return builder.bitcast(place, context.get_value_type(view.element).as_pointer())


@infer_global(operator.getitem)
class _LoadTyping(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], View) and isinstance(args[1], types.Integer):
            return signature(args[0].element, args[0], types.intp)
        return None


@lower_builtin(operator.getitem, View, types.intp)
def _load(context, builder, sig, args):
    return builder.load(_address(context, builder, sig.args[0], *args), align=8)


@infer_global(operator.setitem)
class _StoreTyping(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], View):
            plain = args[0].element if isinstance(args[0].element, types.Integer) else types.float64
            return signature(types.none, args[0], types.intp, float4 if args[2] is float4 else plain)
        return None


def _store(context, builder, sig, args):
    pointer, index, value = args
    if sig.args[0].element is float4:
        value = float4s.spread(builder, value)
    builder.store(value, _address(context, builder, sig.args[0], pointer, index), align=8)
    return context.get_dummy_value()


lower_builtin(operator.setitem, View, types.intp, Float4)(_store)
lower_builtin(operator.setitem, View, types.intp, types.Float)(_store)
lower_builtin(operator.setitem, View, types.intp, types.Integer)(_store)


def _viewer(result):
    def make(typing_context, array):
        def lower(context, builder, sig, args):
            pointer = args[0]
            if not isinstance(sig.args[0], View):
                pointer = cgutils.create_struct_proxy(sig.args[0])(context, builder, pointer).data
            return builder.bitcast(pointer, result.unit.as_pointer())

        return result(array), lower

    return make


@intrinsic
def _numbers(typing_context, array):
    return _viewer(of_numbers)(typing_context, array)


@intrinsic
def _integers(typing_context, array):
    return _viewer(of_integers)(typing_context, array)


@intrinsic
def in_fours(typing_context, view):
    """View numbers four at a time; index k is numbers k to k + 3."""
    return _viewer(of_fours)(typing_context, view)


@intrinsic
def in_lanes(typing_context, array):
    """View an array (..., 4) four at a time; index k is its k-th row of four."""
    return _viewer(of_lanes)(typing_context, array)


@intrinsic
def in_columns(typing_context, array):
    """View the memory of four right-hand sides (layout.RIGHT)."""
    return _viewer(of_columns)(typing_context, array)


@intrinsic
def _after(typing_context, view, count):
    def lower(context, builder, sig, args):
        return builder.gep(args[0], [args[1]])

    return view(view, types.intp), lower


@intrinsic
def _number(typing_context, view, x):
    def lower(context, builder, sig, args):
        return float4s.spread(builder, args[1]) if view.element is float4 else args[1]

    return view.element(view, types.float64), lower


@intrinsic
def _summed(typing_context, view, x):
    if view is of_numbers and x is float4:
        return types.float64(view, x), lambda _context, builder, _sig, args: float4s.sum_of(builder, args[1])
    return x(view, x), lambda _context, _builder, _sig, args: args[1]


@intrinsic
def _forget(typing_context):
    def lower(context, builder, sig, args):
        builder.asm(ir.FunctionType(ir.VoidType(), []), "", "~{memory}", [], True)
        return context.get_dummy_value()

    return types.none(), lower


def _either(compiled, plain):
    """Choose the intrinsic, or its equivalent in plain Python where Numba does not compile."""
    return compiled if COMPILED else plain


numbers = _either(_numbers, lambda array: array)  # view of an array of float64
integers = _either(_integers, lambda array: array)  # view of an array of int64
after = _either(_after, lambda view, count: view[count:])  # the view from its element ``count`` on
wide = _either(in_fours if SIMD else _numbers, lambda view: view)  # the view in fours with SIMD, else as it is
WIDTH = WIDE if SIMD else 1  # how many numbers wide(view) gives at a time
nearest = _either(float4s.nearest, round)  # whole number nearest to x, or to each of four
nought = _either(float4s.nought, lambda x: 0.0)  # zero, or four of them: a constant, unlike 0.0 * x
sign = _either(float4s.sign, lambda x: math.copysign(1.0, x))  # 1 or −1
below = _either(float4s.below, operator.lt)  # whether a < b; for four numbers, whether all are
less = _either(float4s.less, lambda a, b: 1.0 if a < b else 0.0)  # 1 if a < b, else 0; for four numbers, four of these
choose = _either(float4s.choose, lambda k, a, b: a if k != 0.0 else b)  # a where k is not zero, else b
number = _either(_number, lambda view, x: x)  # x as the kind of number that the view gives: one or four
summed = _either(_summed, lambda view, x: x)  # the sum over links, from what a loop over wide(view) added up
forget = _either(_forget, lambda: None)  # makes the compiler read memory again, not copies in registers or on the stack
