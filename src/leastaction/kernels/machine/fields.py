"""Fields of a link by name: with ``L = link(w, i)``, ``L.arm`` reads a vector and ``L.arm = p`` sets it.

A record is a pointer into the memory of a simulation; a table (layout.py) gives its attributes. In the memory of one
simulation, four records lie side by side, component by component, so that ``team(w, k)`` works on four links at once by
the same text. In the memory of four simulations (lanes.py) each record has its own place, and each component is four
numbers.
"""

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, lower_getattr_generic, lower_setattr_generic, models, overload, register_model

from .jit import INNER, formula
from .simd import COMPILED, SIMD, of_columns, of_fours, wide

LANES = 4
NUMBER, VECTOR, QUATERNION, PAIR = "number", "vector", "quaternion", "two vectors"
SYMMETRIC, MATRIX, BLOCKS = "symmetric", "3×3", "6×6"
# The numbers of a shape, as the lengths of the tuples in which it is read
PARTS = {NUMBER: (1,), VECTOR: (3,), QUATERNION: (4,), PAIR: (3, 3),
         SYMMETRIC: (6,), MATRIX: (9,), BLOCKS: (9, 9, 9, 9)}


class Table:
    """The fields of a record by name: address of the first number, and shape. tools/print_notation.py prints ``told``
    into docs/notation.md."""

    def __init__(self, name):
        self.name, self.fields, self.size, self.told = name, {}, 0, []

    def part(self, title):
        """Begin a part of the table, for docs/notation.md."""
        self.told.append((title, []))

    def take(self, name, shape, symbol="", frame="", unit="", meaning="", at=None, after=0):
        """Add a field. With ``at``, it shares the place of that field, from that field's number ``after`` on."""
        first = self.size if at is None else self.fields[at][0] // LANES + after
        self.fields[name] = LANES * first, shape
        self.size = max(self.size, first + sum(PARTS[shape]))
        if self.told:
            self.told[-1][1].append((name, shape, symbol, frame, unit, meaning))

    def rows(self, first, last=None):
        """The numbers of a record that the field ``first`` takes, or the fields from ``first`` to ``last``."""
        begin, (end, shape) = self.fields[first][0] // LANES, self.fields[last or first]
        return slice(begin, end // LANES + sum(PARTS[shape]))

    @property
    def block(self):
        """How many numbers four records take, filled up to whole cache lines."""
        return LANES * (self.size + self.size % 2)


class RecordType(types.Type):
    """Numba's type of a record: its table, and the kind of memory that it points into."""

    def __init__(self, table, view):
        super().__init__(name=f"{table.name}({view.name})")
        self.table, self.view = table, view


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, kind.view.unit.as_pointer())


def _type_of(kind, shape):
    """The type of a field's value: a number, a tuple, or a tuple of tuples."""
    one, parts = kind.view.element, PARTS[shape]
    if len(parts) == 1:
        return one if parts[0] == 1 else types.UniTuple(one, parts[0])
    return types.UniTuple(types.UniTuple(one, parts[0]), len(parts))


@infer_getattr
class _Attributes(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, kind, name):
        return _type_of(kind, kind.table.fields[name][1]) if name in kind.table.fields else None


def _places(context, builder, kind, pointer, name):
    first, shape = kind.table.fields[name]
    element = context.get_value_type(kind.view.element).as_pointer()
    for j in range(sum(PARTS[shape])):
        offset = ir.Constant(ir.IntType(64), first + LANES * j)
        yield builder.bitcast(builder.gep(pointer, [offset]), element)


@lower_getattr_generic(RecordType)
def _get(context, builder, kind, pointer, name):
    shape = kind.table.fields[name][1]
    got = [builder.load(place, align=8) for place in _places(context, builder, kind, pointer, name)]
    result, parts = _type_of(kind, shape), PARTS[shape]
    if len(parts) == 1:
        return got[0] if parts[0] == 1 else context.make_tuple(builder, result, got)
    size = parts[0]
    inner = [context.make_tuple(builder, result.dtype, got[k : k + size]) for k in range(0, len(got), size)]
    return context.make_tuple(builder, result, inner)


@lower_setattr_generic(RecordType)
def _set(context, builder, sig, args, name):
    pointer, value = args
    parts = PARTS[sig.args[0].table.fields[name][1]]
    if len(parts) == 1:
        values = [value] if parts[0] == 1 else [builder.extract_value(value, a) for a in range(parts[0])]
    else:
        values = [builder.extract_value(value, (a, b)) for a in range(len(parts)) for b in range(parts[0])]
    for place, one in zip(_places(context, builder, sig.args[0], pointer, name), values, strict=True):
        builder.store(one, place, align=8)


class Record:
    """A record in plain Python, where Numba does not compile."""

    __slots__ = ("o", "table", "w")

    def __init__(self, table, w, o):
        for name, value in (("table", table), ("w", w), ("o", o)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        first, shape = self.table.fields[name]
        parts = PARTS[shape]
        got = [self.w[self.o + first + LANES * j] for j in range(sum(parts))]
        if len(parts) == 1:
            return got[0] if parts[0] == 1 else tuple(got)
        return tuple(tuple(got[k : k + parts[0]]) for k in range(0, len(got), parts[0]))

    def __setattr__(self, name, value):
        first, shape = self.table.fields[name]
        parts = PARTS[shape]
        values = [value] if parts == (1,) else value if len(parts) == 1 else [x for part in value for x in part]
        for j, x in enumerate(values):
            self.w[self.o + first + LANES * j] = x


def records(table):
    """Make the functions that return the records of a table, which lie one after the other from address ``start`` on:
    record(w, start, i) returns one, team(w, start, k) four where SIMD allows. The table must be complete."""
    block = table.block

    @intrinsic
    def at(typing_context, w, o):
        kind = RecordType(table, w)
        return kind(w, types.intp), lambda _context, builder, _sig, args: builder.gep(args[0], [args[1]])

    def in_blocks(w, start, i):
        return at(w, start + (i >> 2) * block + (i & 3))

    def by_itself(w, start, i):
        return at(w, start + i * block)

    def several(w, start, k):
        return at(wide(w), start + k * block)

    if not COMPILED:
        def plain(w, start, i):
            return Record(table, w, start + (i >> 2) * block + (i & 3))

        return plain, plain

    def record(w, start, i):
        raise NotImplementedError("for kernels only")

    @overload(record, jit_options={"forceinline": True, **INNER})
    def _record(w, start, i):
        return by_itself if w is of_fours or w is of_columns else in_blocks

    return record, formula(several) if SIMD else record
