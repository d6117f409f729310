"""Four numbers at once: a Numba type lowered to LLVM's <4 x double>, and a view of the workspace to load and store it.

Kernels are written over numbers with + − × ÷, so the same text works on one body or, given a view instead of the array,
on the four bodies of a block (layout.py). Where Numba does not compile (NUMBA_DISABLE_JIT), or LEASTACTION_SIMD=0 says
so, SIMD is False and every loop is scalar.
"""

import operator
import os

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

SIMD = not numba.config.DISABLE_JIT and os.environ.get("LEASTACTION_SIMD", "1") != "0"  # type: ignore[attr-defined]

_LANES = 4
_VECTOR = ir.VectorType(ir.DoubleType(), _LANES)


class Float4(types.Type):
    """Type of four numbers."""

    def __init__(self):
        super().__init__(name="float64x4")


class View4(types.Type):
    """Type of a workspace read four numbers at a time."""

    def __init__(self):
        super().__init__(name="View4")


float4, view4 = Float4(), View4()


@register_model(Float4)
class _Float4Model(models.PrimitiveModel):
    def __init__(self, manager, type_):
        super().__init__(manager, type_, _VECTOR)


@register_model(View4)
class _View4Model(models.PrimitiveModel):
    def __init__(self, manager, type_):
        super().__init__(manager, type_, ir.DoubleType().as_pointer())


def _spread(builder, value):
    """A number as four equal ones."""
    if value.type == _VECTOR:
        return value
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), mask)


def _define(operation, name):
    """Teach Numba an operation between vectors, and between a vector and a number."""
    pairs = [(float4, float4), (float4, types.float64), (types.float64, float4)]

    @infer_global(operation)
    class _Typing(ConcreteTemplate):
        cases = [signature(float4, *pair) for pair in pairs]  # noqa: RUF012

    def lower(context, builder, sig, args):
        a, b = (_spread(builder, value) for value in args)
        return getattr(builder, name)(a, b)

    for pair in pairs:
        lower_builtin(operation, *pair)(lower)


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")
_define(operator.truediv, "fdiv")


@infer_global(operator.neg)
class _NegateTyping(ConcreteTemplate):
    cases = [signature(float4, float4)]  # noqa: RUF012


@lower_builtin(operator.neg, float4)
def _negate(context, builder, sig, args):
    return builder.fneg(args[0])


def _address(builder, view, index):
    return builder.bitcast(builder.gep(view, [index]), _VECTOR.as_pointer())


@infer_global(operator.getitem)
class _LoadTyping(AbstractTemplate):
    def generic(self, args, kws):
        if args[0] is view4 and isinstance(args[1], types.Integer):
            return signature(float4, view4, types.intp)
        return None


@lower_builtin(operator.getitem, View4, types.intp)
def _load(context, builder, sig, args):
    return builder.load(_address(builder, *args), align=8)


@infer_global(operator.setitem)
class _StoreTyping(AbstractTemplate):
    def generic(self, args, kws):
        if args[0] is view4:
            value = args[2] if args[2] is float4 else types.float64
            return signature(types.none, view4, types.intp, value)
        return None


def _store(context, builder, sig, args):
    view, index, value = args
    builder.store(_spread(builder, value), _address(builder, view, index), align=8)
    return context.get_dummy_value()


lower_builtin(operator.setitem, View4, types.intp, Float4)(_store)
lower_builtin(operator.setitem, View4, types.intp, types.Float)(_store)


@intrinsic
def in_fours(typing_context, w):
    """View a flat array of numbers four at a time; index k is numbers k to k + 3."""

    def lower(context, builder, sig, args):
        return cgutils.create_struct_proxy(sig.args[0])(context, builder, args[0]).data

    return view4(w), lower


@intrinsic
def total(typing_context, x):
    """Sum of the four numbers."""

    def lower(context, builder, sig, args):
        a, b, c, d = (builder.extract_element(args[0], ir.Constant(ir.IntType(32), k)) for k in range(_LANES))
        return builder.fadd(builder.fadd(a, b), builder.fadd(c, d))

    return types.float64(x), lower
