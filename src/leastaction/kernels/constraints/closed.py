"""What the kernels read of a model with rows, as one record: the rows, the operations that eliminate them, the memory.

constraint_plan/ makes the list of operations, which machine/operations.py reads. Python gives the record with arrays,
and closed_as_views() turns these into views. ``R = row(c, r)`` is row r; then ``R.gap`` is a vector, and ``R.gap = d``
sets it.
"""

from collections import namedtuple

from ..machine.fields import LANES, NUMBER, PAIR, PARTS, VECTOR, Record, Table, records
from ..machine.jit import formula, kernel
from ..machine.simd import after, integers, numbers
from .rows import Rows

# rows: see rows.py; ops: the list of operations; targets (6 m): where the numbers of each row go, see
# constraint_plan.memory.Plan; places: where the parts of the memory begin; x: the memory of the rows
Closed = namedtuple("Closed", "rows ops targets places x")

# Number of rows, size of what is cleared before a matrix is begun, and where the parts of the memory of the rows begin:
# - row: the records of all rows; near (n + 1, 3): see rows.near_origins
# - told (TOLD): what the last node was found to be; aside (n, 2, 6): the momenta of its links and joints before the
#   projection (projection.py)
# - scratch of pivots.invert(); square (2, 6, 8) and front (2 SIDE, wide): see machine/fronts.py; as wide as the widest
Places = namedtuple("Places", "rows cleared row near told aside scratch square front wide")
TOLD = 6

ROW = Table("Row")
ROW.part("Of every constraint row, `R = row(c, r)`, set by constraints/")
ROW.take("rhs", NUMBER, "g", "", "m", "right-hand side: how far it is open; in other systems m/s or m/s²")
ROW.take("answer", NUMBER, "λ", "", "N s", "multiplier that a solve gives; in other systems N or kg")
ROW.take("active", NUMBER, "", "", "", "1, or 0 if it is switched off")
ROW.take("peak", NUMBER, "", "", "", "most that its number on the diagonal of W has been")
ROW.take("wrench", PAIR, "C_a(q_k)", "world", "", "derivative by the twist of link a, about its origin at t_k; that of "
         "link b is the opposite one. Of a row of two joints first ∂g/∂q_a and ∂g/∂q_b")
ROW.take("gap", VECTOR, "o_a − o_b", "world", "m", "between the origins of its links at t_k")
ROW.take("total", NUMBER, "λ", "", "N s", "of the last step")
ROW.take("kick", NUMBER, "μ", "", "N s", "of the last projection")

_row, _ = records(ROW)


@formula
def row(c, r):
    """Row r of the model."""
    return _row(c.x, c.places.row, r)


@formula
def near_of(c):
    return after(c.x, c.places.near)


@formula
def aside_of(c):
    return after(c.x, c.places.aside)


@formula
def told_of(c):
    return after(c.x, c.places.told)


@kernel
def set_rhs(c, value):
    """Set the right-hand side of all rows."""
    for r in range(c.places.rows):
        row(c, r).rhs = value


@kernel
def give_answers(c, out):
    """The multipliers of the last solve, to ``out`` (m,)."""
    for r in range(c.places.rows):
        out[r] = row(c, r).answer


def room_of_rows(count):
    """How many numbers the records of so many rows take."""
    return max(count + LANES - 1, LANES) // LANES * ROW.block  # one at least, which is looked at before its number


def python_row(closed, r):
    """Row r for Python."""
    return Record(ROW, closed.x, closed.places.row + r // LANES * ROW.block + r % LANES)


def of_rows(closed, name):
    """A field of all rows, for Python: a copy, (m,) or (m, numbers of the field)."""
    start, count = closed.places.row, closed.places.rows
    records = closed.x[start : start + room_of_rows(count)].reshape(-1, ROW.block // LANES, LANES)
    found = records[:, ROW.rows(name)].swapaxes(1, 2).reshape(-1, sum(PARTS[ROW.fields[name][1]]))[:count]
    return found[:, 0] if found.shape[1] == 1 else found


@kernel
def closed_as_views(closed):
    """The record through views: passing an array on costs more than many a row does. None of a model without rows."""
    if closed is None:
        return None
    rows = closed.rows
    return Closed(
        Rows(integers(rows.kind), integers(rows.a), integers(rows.b), numbers(rows.sa), numbers(rows.sb),
             numbers(rows.ea), numbers(rows.eb), numbers(rows.length), numbers(rows.coefficients),
             numbers(rows.reference), numbers(rows.scale), integers(rows.loop), integers(rows.root)),
        integers(closed.ops), integers(closed.targets), closed.places, numbers(closed.x))
