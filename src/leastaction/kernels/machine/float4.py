"""Four numbers as one value for Numba: LLVM's <4 x double>, its arithmetic, and three numbers packed in one."""

import math
import operator

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

WIDE = 4
VECTOR = ir.VectorType(ir.DoubleType(), WIDE)


class Float4(types.Type):
    """Type of four numbers."""

    def __init__(self):
        super().__init__(name="float64x4")


float4 = Float4()


@register_model(Float4)
class _Float4Model(models.PrimitiveModel):
    def __init__(self, manager, type_):
        super().__init__(manager, type_, VECTOR)


def spread(builder, value):
    """Four copies of a number."""
    if value.type == VECTOR:
        return value
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), WIDE), [0] * WIDE)
    return builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), mask)


@lower_cast(types.Float, Float4)
def _four_equal(context, builder, _from, _to, value):
    return spread(builder, value)


def _define(operation, apply):
    """Teach Numba an operation between vectors, and between a vector and a number."""
    pairs = [(float4, float4), (float4, types.float64), (types.float64, float4)]

    @infer_global(operation)
    class _Typing(ConcreteTemplate):
        cases = [signature(float4, *pair) for pair in pairs]  # noqa: RUF012

    def lower(context, builder, sig, args):
        return apply(builder, *(spread(builder, value) for value in args))

    for pair in pairs:
        lower_builtin(operation, *pair)(lower)


def _extreme(relation):
    return lambda builder, a, b: builder.select(builder.fcmp_ordered(relation, b, a), b, a)


for _plus, _minus in ((operator.add, operator.sub), (operator.iadd, operator.isub)):
    _define(_plus, ir.IRBuilder.fadd)
    _define(_minus, ir.IRBuilder.fsub)
_define(operator.mul, ir.IRBuilder.fmul)
_define(operator.truediv, ir.IRBuilder.fdiv)
_define(min, _extreme("<"))
_define(max, _extreme(">"))


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
        full = f"llvm.{name}.v4f64" if kind == VECTOR else f"llvm.{name}.f64"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * len(args)), full)
        return builder.call(function, args)

    return lower


_define_of_one(operator.neg, lambda builder, x: builder.fneg(x))
_define_of_one(math.sqrt, _llvm("sqrt"))
_define_of_one(math.exp, _llvm("exp"))
_define_of_one(abs, _llvm("fabs"))


@intrinsic
def nearest(typing_context, x):
    return x(x), lambda _context, builder, _sig, args: _llvm("rint")(builder, *args)


@intrinsic
def sign(typing_context, x):
    def lower(context, builder, sig, args):
        return _llvm("copysign")(builder, _spread_like(builder, args[0], ir.Constant(ir.DoubleType(), 1.0)), args[0])

    return x(x), lower


@intrinsic
def nought(typing_context, x):
    return x(x), lambda _context, _builder, _sig, args: ir.Constant(args[0].type, None)


def _spread_like(builder, model, value):
    return spread(builder, value) if model.type == VECTOR else value


def _compared(builder, a, relation, b):
    """Compare a and b by a relation such as "<"; if one is a vector, each of its four numbers."""
    a, b = _spread_like(builder, b, a), _spread_like(builder, a, b)
    return builder.fcmp_ordered(relation, a, b)


@intrinsic
def below(typing_context, a, b):
    def lower(context, builder, sig, args):
        answer = _compared(builder, args[0], "<", args[1])
        if answer.type == ir.IntType(1):
            return answer
        together = builder.bitcast(answer, ir.IntType(WIDE))
        answer = builder.icmp_unsigned("==", together, ir.Constant(together.type, 2**WIDE - 1))
        kind = ir.FunctionType(answer.type, [answer.type] * 2)
        expect = cgutils.get_or_insert_function(builder.module, kind, "llvm.expect.i1")
        return builder.call(expect, [answer, cgutils.true_bit])  # so that no registers are spilled for the rare case

    return types.boolean(a, b), lower


def _alike(*given):
    """Types of operands and of their result: if one operand is a vector, so is the result, and numbers are spread."""
    return [float4 if one is float4 else types.float64 for one in given], float4 if float4 in given else types.float64


def _select(builder, condition, a, b):
    """Select a where the condition holds, else b; a vector of conditions selects number by number."""
    if isinstance(condition.type, ir.VectorType):
        a, b = spread(builder, a), spread(builder, b)
    return builder.select(condition, a, b)


@intrinsic
def choose(typing_context, k, a, b):
    given, result = _alike(k, a, b)

    def lower(context, builder, sig, args):
        k, a, b = (spread(builder, one) for one in args) if result is float4 else args
        return _select(builder, builder.fcmp_unordered("!=", k, ir.Constant(k.type, None)), a, b)

    return result(*given), lower


@intrinsic
def less(typing_context, a, b):
    given, result = _alike(a, b)

    def lower(context, builder, sig, args):
        number = ir.DoubleType()
        return _select(builder, _compared(builder, args[0], "<", args[1]), ir.Constant(number, 1.0),
                       ir.Constant(number, 0.0))

    return result(*given), lower


@infer_global(operator.getitem)
class _LaneTyping(AbstractTemplate):
    def generic(self, args, kws):
        if args[0] is float4 and isinstance(args[1], types.Integer):
            return signature(types.float64, float4, types.intp)
        return None


@lower_builtin(operator.getitem, Float4, types.intp)
def _lane(context, builder, sig, args):
    return builder.extract_element(args[0], builder.trunc(args[1], ir.IntType(32)))


def sum_of(builder, x):
    a, b, c, d = (builder.extract_element(x, ir.Constant(ir.IntType(32), k)) for k in range(WIDE))
    return builder.fadd(builder.fadd(a, b), builder.fadd(c, d))


@intrinsic
def total(typing_context, x):
    """Sum of the four numbers."""
    return types.float64(x), lambda _context, builder, _sig, args: sum_of(builder, args[0])


# A vector of three numbers can also be packed in one <4 x double>, whose fourth number is not used: see matrix6.py.


def _shuffled(builder, a, b, lanes):
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes))


@intrinsic
def packed(typing_context, x, y, z):
    """Three numbers in one vector."""

    def lower(context, builder, sig, args):
        vector = ir.Constant(VECTOR, [0.0] * WIDE)
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
    """Transpose three numbers of four bodies each into one packed vector a body."""

    def lower(context, builder, sig, args):
        a, b, c = args
        low, high = _shuffled(builder, a, b, [0, 4, 2, 6]), _shuffled(builder, a, b, [1, 5, 3, 7])
        even, odd = _shuffled(builder, c, c, [0, 0, 2, 2]), _shuffled(builder, c, c, [1, 1, 3, 3])
        rows = [_shuffled(builder, low, even, [0, 1, 4, 5]), _shuffled(builder, high, odd, [0, 1, 4, 5]),
                _shuffled(builder, low, even, [2, 3, 6, 7]), _shuffled(builder, high, odd, [2, 3, 6, 7])]
        return context.make_tuple(builder, sig.return_type, rows)

    return types.UniTuple(float4, WIDE)(float4, float4, float4), lower


@intrinsic
def transposed(typing_context, a, b, c, d):
    """Four vectors, of which the first has the first numbers of all four, and so on."""

    def lower(context, builder, sig, args):
        a, b, c, d = args
        low, high = [0, 4, 2, 6], [1, 5, 3, 7]
        even, odd = (_shuffled(builder, a, b, low), _shuffled(builder, c, d, low)), (
            _shuffled(builder, a, b, high), _shuffled(builder, c, d, high))
        rows = [_shuffled(builder, *even, [0, 1, 4, 5]), _shuffled(builder, *odd, [0, 1, 4, 5]),
                _shuffled(builder, *even, [2, 3, 6, 7]), _shuffled(builder, *odd, [2, 3, 6, 7])]
        return context.make_tuple(builder, sig.return_type, rows)

    return types.UniTuple(float4, WIDE)(float4, float4, float4, float4), lower


@intrinsic
def sums(typing_context, x, y, z):
    """The three sums over the components of three packed vectors."""

    def lower(context, builder, sig, args):
        x, y, z = args
        low, high = _shuffled(builder, x, y, [0, 4, 2, 6]), _shuffled(builder, x, y, [1, 5, 3, 7])
        half = _shuffled(builder, builder.fadd(low, high), low, [0, 1])
        pair = builder.fadd(half, _shuffled(builder, low, low, [2, 3]))
        a, b, c = (builder.extract_element(z, ir.Constant(ir.IntType(32), k)) for k in range(3))
        found = [builder.extract_element(pair, ir.Constant(ir.IntType(32), k)) for k in range(2)]
        return context.make_tuple(builder, sig.return_type, [*found, builder.fadd(builder.fadd(a, b), c)])

    return types.UniTuple(types.float64, 3)(float4, float4, float4), lower
