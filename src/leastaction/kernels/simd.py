"""How kernels reach memory: bare views of arrays, one number at a time or four, and arithmetic on four numbers at once.

A view is a pointer and nothing else. Passing one costs one value where an array costs seven, which halves the code that
Numba has to make of kernels that are mostly small functions. Four numbers are LLVM's <4 x double>: kernels are written
over numbers with + − × ÷, so given a view in fours the same text works on the four bodies of a block (layout.py).
Where Numba does not compile (NUMBA_DISABLE_JIT) a view is the array itself, and there, or where LEASTACTION_SIMD=0 says
so, SIMD is False and every loop is scalar.
"""

import operator
import os

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

COMPILED = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
SIMD = COMPILED and os.environ.get("LEASTACTION_SIMD", "1") != "0"

_LANES = 4
_VECTOR = ir.VectorType(ir.DoubleType(), _LANES)


class Float4(types.Type):
    """Type of four numbers."""

    def __init__(self):
        super().__init__(name="float64x4")


class View(types.Type):
    """Type of a view: elements are loaded from, and stored at, the address of an element ``unit`` of the array."""

    def __init__(self, name, element, unit):
        super().__init__(name=name)
        self.element, self.unit = element, unit


float4 = Float4()
of_numbers = View("NumberView", types.float64, ir.DoubleType())
of_fours = View("FourView", float4, ir.DoubleType())
of_integers = View("IntegerView", types.int64, ir.IntType(64))


@register_model(Float4)
class _Float4Model(models.PrimitiveModel):
    def __init__(self, manager, type_):
        super().__init__(manager, type_, _VECTOR)


@register_model(View)
class _ViewModel(models.PrimitiveModel):
    def __init__(self, manager, type_):
        super().__init__(manager, type_, type_.unit.as_pointer())


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


@intrinsic
def _nearest(typing_context, x):
    def lower(context, builder, sig, args):
        kind = args[0].type
        name = "llvm.rint.v4f64" if kind == _VECTOR else "llvm.rint.f64"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind]), name)
        return builder.call(function, args)

    return x(x), lower


@intrinsic
def _nought(typing_context, x):
    def lower(context, builder, sig, args):
        return ir.Constant(args[0].type, None)

    return x(x), lower


def _zero(x):
    return 0.0


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
            value = float4 if args[2] is float4 else types.float64
            return signature(types.none, args[0], types.intp, value)
        return None


def _store(context, builder, sig, args):
    pointer, index, value = args
    if sig.args[0] is of_fours:
        value = _spread(builder, value)
    builder.store(value, _address(context, builder, sig.args[0], pointer, index), align=8)
    return context.get_dummy_value()


lower_builtin(operator.setitem, View, types.intp, Float4)(_store)
lower_builtin(operator.setitem, View, types.intp, types.Float)(_store)


def _viewer(result):
    def make(typing_context, array):
        def lower(context, builder, sig, args):
            if isinstance(sig.args[0], View):
                return args[0]
            return cgutils.create_struct_proxy(sig.args[0])(context, builder, args[0]).data

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


def _itself(array):
    return array


numbers = _numbers if COMPILED else _itself  # view of an array of float64
integers = _integers if COMPILED else _itself  # view of an array of int64
nought = _nought if COMPILED else _zero  # zero, or four of them: a constant, unlike 0.0 * x
nearest = _nearest if COMPILED else round  # whole number nearest to x, or to each of four


@intrinsic
def total(typing_context, x):
    """Sum of the four numbers."""

    def lower(context, builder, sig, args):
        a, b, c, d = (builder.extract_element(args[0], ir.Constant(ir.IntType(32), k)) for k in range(_LANES))
        return builder.fadd(builder.fadd(a, b), builder.fadd(c, d))

    return types.float64(x), lower


# A vector of three numbers can also be packed in one <4 x double> (the fourth is not used): see blocks.py.


@infer_global(operator.getitem)
class _LaneTyping(AbstractTemplate):
    def generic(self, args, kws):
        if args[0] is float4 and isinstance(args[1], types.Integer):
            return signature(types.float64, float4, types.intp)
        return None


@lower_builtin(operator.getitem, Float4, types.intp)
def _lane(context, builder, sig, args):
    return builder.extract_element(args[0], builder.trunc(args[1], ir.IntType(32)))


def _shuffled(builder, a, b, lanes):
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes))


@intrinsic
def packed(typing_context, x, y, z):
    """Three numbers in one vector."""

    def lower(context, builder, sig, args):
        vector = ir.Constant(_VECTOR, [0.0] * _LANES)
        for k, value in enumerate(args):
            vector = builder.insert_element(vector, value, ir.Constant(ir.IntType(32), k))
        return vector

    return float4(types.float64, types.float64, types.float64), lower


@intrinsic
def cycled(typing_context, x):
    """(y, z, x) of a packed (x, y, z)."""

    def lower(context, builder, sig, args):
        return _shuffled(builder, args[0], args[0], [1, 2, 0, 3])

    return float4(float4), lower


@intrinsic
def lanes_to_rows(typing_context, a, b, c):
    """Of three numbers of four bodies each: the packed vector of every body."""

    def lower(context, builder, sig, args):
        a, b, c = args
        low, high = _shuffled(builder, a, b, [0, 4, 2, 6]), _shuffled(builder, a, b, [1, 5, 3, 7])
        even, odd = _shuffled(builder, c, c, [0, 0, 2, 2]), _shuffled(builder, c, c, [1, 1, 3, 3])
        rows = [_shuffled(builder, low, even, [0, 1, 4, 5]), _shuffled(builder, high, odd, [0, 1, 4, 5]),
                _shuffled(builder, low, even, [2, 3, 6, 7]), _shuffled(builder, high, odd, [2, 3, 6, 7])]
        return context.make_tuple(builder, sig.return_type, rows)

    return types.UniTuple(float4, _LANES)(float4, float4, float4), lower
