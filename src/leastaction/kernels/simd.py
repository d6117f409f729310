"""How kernels reach memory: bare views of arrays, one number at a time or four, and arithmetic on four numbers at once.

A view is a pointer and nothing else. Passing one costs one value where an array costs seven, which halves the code that
Numba has to make of kernels that are mostly small functions. Four numbers are LLVM's <4 x double>: kernels are written
over numbers with + − × ÷, so given a view in fours the same text works on the four bodies of a block (layout.py), or
on the same body of four simulations (lanes.py).
Where Numba does not compile (NUMBA_DISABLE_JIT) a view is the array itself, and there, or where LEASTACTION_SIMD=0 says
so, SIMD is False and every loop is scalar.
"""

import math
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
of_lanes = View("LaneView", float4, _VECTOR)
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


for _plus, _minus in ((operator.add, operator.sub), (operator.iadd, operator.isub)):
    _define(_plus, "fadd")
    _define(_minus, "fsub")
_define(operator.mul, "fmul")
_define(operator.truediv, "fdiv")


def _define_of_one(operation, lower):
    """Teach Numba a function of a vector."""

    @infer_global(operation)
    class _Typing(ConcreteTemplate):
        cases = [signature(float4, float4)]  # noqa: RUF012

    lower_builtin(operation, float4)(lambda _context, builder, _sig, args: lower(builder, args[0]))


def _llvm(name):
    """LLVM's own function of that name, of a number or of four."""

    def lower(builder, *args):
        kind = args[0].type
        full = f"llvm.{name}.v4f64" if kind == _VECTOR else f"llvm.{name}.f64"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * len(args)), full)
        return builder.call(function, args)

    return lower


_define_of_one(operator.neg, lambda builder, x: builder.fneg(x))
_define_of_one(math.sqrt, _llvm("sqrt"))
_define_of_one(abs, _llvm("fabs"))


@intrinsic
def _nearest(typing_context, x):
    return x(x), lambda _context, builder, _sig, args: _llvm("rint")(builder, *args)


@intrinsic
def _sign(typing_context, x):
    def lower(context, builder, sig, args):
        return _llvm("copysign")(builder, _spread_like(builder, args[0], ir.Constant(ir.DoubleType(), 1.0)), args[0])

    return x(x), lower


@intrinsic
def _nought(typing_context, x):
    return x(x), lambda _context, _builder, _sig, args: ir.Constant(args[0].type, None)


def _spread_like(builder, model, value):
    return _spread(builder, value) if model.type == _VECTOR else value


def _compared(builder, a, relation, b):
    """a < b and the like; where one is a vector, of each of the four."""
    a, b = _spread_like(builder, b, a), _spread_like(builder, a, b)
    return builder.fcmp_ordered(relation, a, b)


@intrinsic
def _below(typing_context, a, b):
    def lower(context, builder, sig, args):
        answer = _compared(builder, args[0], "<", args[1])
        if answer.type == ir.IntType(1):
            return answer
        together = builder.bitcast(answer, ir.IntType(_LANES))
        answer = builder.icmp_unsigned("==", together, ir.Constant(together.type, 2**_LANES - 1))
        kind = ir.FunctionType(answer.type, [answer.type] * 2)
        expect = cgutils.get_or_insert_function(builder.module, kind, "llvm.expect.i1")
        return builder.call(expect, [answer, cgutils.true_bit])  # so that registers are not spilled for the rest

    return types.boolean(a, b), lower


@intrinsic
def _choose(typing_context, k, a, b):
    def lower(context, builder, sig, args):
        k, a, b = args
        zero = ir.Constant(ir.DoubleType(), 0.0)
        answer = builder.fcmp_unordered("!=", k, _spread_like(builder, k, zero))
        return builder.select(answer, a, b)

    return a(k, a, b), lower


def _define_extreme(operation, relation):
    @infer_global(operation)
    class _Typing(ConcreteTemplate):
        cases = [signature(float4, float4, float4)]  # noqa: RUF012

    @lower_builtin(operation, float4, float4)
    def _lower(context, builder, sig, args):
        return builder.select(builder.fcmp_ordered(relation, args[1], args[0]), args[1], args[0])


_define_extreme(min, "<")
_define_extreme(max, ">")


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
        value = _spread(builder, value)
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
def _number(typing_context, view, x):
    def lower(context, builder, sig, args):
        return _spread(builder, args[1]) if view.element is float4 else args[1]

    return view.element(view, types.float64), lower


def _sum(builder, x):
    a, b, c, d = (builder.extract_element(x, ir.Constant(ir.IntType(32), k)) for k in range(_LANES))
    return builder.fadd(builder.fadd(a, b), builder.fadd(c, d))


@intrinsic
def total(typing_context, x):
    """Sum of the four numbers."""
    return types.float64(x), lambda _context, builder, _sig, args: _sum(builder, args[0])


@intrinsic
def _summed(typing_context, view, x):
    if view is of_numbers and x is float4:
        return types.float64(view, x), lambda _context, builder, _sig, args: _sum(builder, args[1])
    return x(view, x), lambda _context, _builder, _sig, args: args[1]


def _plain(function):
    """The form of a function where Numba does not compile; given as an intrinsic where it does."""
    return lambda intrinsic_: intrinsic_ if COMPILED else function


numbers = _plain(lambda array: array)(_numbers)  # view of an array of float64
integers = _plain(lambda array: array)(_integers)  # view of an array of int64
wide = _plain(lambda view: view)(in_fours if SIMD else _numbers)  # four at a time where that can be
WIDTH = _LANES if SIMD else 1  # how many that is
nearest = _plain(round)(_nearest)  # whole number nearest to x, or to each of four
nought = _plain(lambda x: 0.0)(_nought)  # zero, or four of them: a constant, unlike 0.0 * x
sign = _plain(lambda x: math.copysign(1.0, x))(_sign)  # 1 or −1
below = _plain(operator.lt)(_below)  # whether a < b; of four numbers, whether all are
choose = _plain(lambda k, a, b: a if k != 0.0 else b)(_choose)  # a where k is not zero, else b
number = _plain(lambda view, x: x)(_number)  # x as a number of the kind that a view gives
summed = _plain(lambda view, x: x)(_summed)  # what a loop over wide(view) added up: the sum over bodies


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


@intrinsic
def sums(typing_context, x, y, z):
    """The sum of the three numbers of each of three packed vectors."""

    def lower(context, builder, sig, args):
        x, y, z = args
        low, high = _shuffled(builder, x, y, [0, 4, 2, 6]), _shuffled(builder, x, y, [1, 5, 3, 7])
        half = _shuffled(builder, builder.fadd(low, high), low, [0, 1])
        pair = builder.fadd(half, _shuffled(builder, low, low, [2, 3]))
        a, b, c = (builder.extract_element(z, ir.Constant(ir.IntType(32), k)) for k in range(3))
        found = [builder.extract_element(pair, ir.Constant(ir.IntType(32), k)) for k in range(2)]
        return context.make_tuple(builder, sig.return_type, [*found, builder.fadd(builder.fadd(a, b), c)])

    return types.UniTuple(types.float64, 3)(float4, float4, float4), lower
