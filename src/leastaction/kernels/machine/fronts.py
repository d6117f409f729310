"""What eliminating joints and rows keeps (constraints/elimination.py): the blocks B[z, y] and B[y, z] of every pivot z
and neighbour y. All addresses are made by the plan (constraint_plan/), come by operations.py, and are used here only.

Of a pair the node that is eliminated first says how its two blocks lie: B[first, later] row by row, and behind it
B[later, first] transposed. A row has the numbers of the later node and room for whole fours of them, so that four are
worked on at a time; what lies in the rest of its room is never read for itself. ``c`` is the record Closed of
constraints/closed.py; the *front* of a pivot are the numbers of all its neighbours, one after the other, each with its
room. It has two sides: B[y, z] D⁻¹ on the left, B[z, y] on the right, each number of the pivot in a row of its own, so
that what a pivot leaves is added up row by row.
"""

from collections import namedtuple

from .float4 import transposed
from .jit import formula, kernel
from .matrix6 import add_outer, add_to_matrix, alike, matrix, put_matrix
from .operations import EARLIER
from .simd import SIMD, WIDTH, after, wide
from ..maths.spatial import read6
from ..maths.vec3 import neg

SIDE = 6  # numbers of a pivot, at most
LINK_ROOM = 8  # of the six numbers of a link
SQUARE = 2 * SIDE * LINK_ROOM  # numbers of what is added to the articulated matrix of a link

# Four numbers of a neighbour y, as the verb hand_on of a joint z takes them (joints/dispatch.py); one where there is no
# SIMD. In ``x`` the columns of B[z, y] begin at a, the rows of B[y, z] at b, both with ``room`` from number to number;
# l, r: places in both sides of the front, with ``step`` from number to number; coupled: see coupling()
Crossing = namedtuple("Crossing", "x numbers a b room l r step coupled")


# Putting rows in place


@kernel
def clear_blocks(c):
    """Clear all blocks before a matrix is begun."""
    for j in range(c.places.cleared):
        c.x[j] = 0.0


@formula
def _put(x, at, stride, k, m, f):
    x[at], x[at + stride], x[at + 2 * stride] = k * m[0], k * m[1], k * m[2]
    x[at + 3 * stride], x[at + 4 * stride], x[at + 5 * stride] = k * f[0], k * f[1], k * f[2]


@formula
def put_on_link(c, r, end, before, now):
    """Put the wrenches of row r on one of its links, end 0 or 1, in place: −C₀ᵀ and C₁. The ground has no place."""
    t = 6 * r + 3 * end
    at = c.targets[t]
    if at >= 0:
        _put(c.x, at, c.targets[t + 2], -1.0, before[0], before[1])
        _put(c.x, c.targets[t + 1], c.targets[t + 2], 1.0, now[0], now[1])


@formula
def put_on_joint(c, r, end, before, now):
    """The same of a row of two joints, and its slopes."""
    at = c.targets[6 * r + 3 * end]
    if at >= 0:
        c.x[at], c.x[at + 1] = before, now


# The front


@formula
def _left(c, j):
    """Address of row j of the left side."""
    return c.places.front + c.places.wide * j


@formula
def _right(c, j):
    """Address of row j of the right side."""
    return c.places.front + c.places.wide * (SIDE + j)


# A joint is the pivot


@formula
def crossing(c, y, k, front):
    """Numbers k … of a neighbour, which is number ``front`` of the front."""
    return Crossing(wide(c.x), c.x, y.at + k, y.at + SIDE * y.room + k, y.room, _left(c, 0) + front + k,
                    _right(c, 0) + front + k, c.places.wide, y.coupled)


@formula
def _read6(x, a, room):
    return (x[a], x[a + room], x[a + 2 * room]), (x[a + 3 * room], x[a + 4 * room], x[a + 5 * room])


@formula
def columns_and_rows(number):
    """Columns of B[z, y] and rows of B[y, z]."""
    return _read6(number.x, number.a, number.room), _read6(number.x, number.b, number.room)


@formula
def coupling(number):
    """What a row of joints takes from Sᵀ B[z, y], and what it adds to B[y, z] S⁺."""
    if number.coupled < 0:
        return 0.0, 0.0
    return number.numbers[number.coupled], number.numbers[number.coupled + 1]


@formula
def keep1(number, s, r, t):
    """Keep Sᵀ B[z, y], B[y, z] S⁺ and B[y, z] S⁺ D⁻¹ of a SCREW joint."""
    number.x[number.a], number.x[number.b] = s, r
    number.x[number.r], number.x[number.l] = s, t


@formula
def _put3(x, a, step, v):
    x[a], x[a + step], x[a + 2 * step] = v


@formula
def keep3(number, s, r, t):
    """The same of a BALL joint."""
    x, room, step = number.x, number.room, number.step
    _put3(x, number.a, room, s)
    _put3(x, number.b, room, r)
    _put3(x, number.r, step, s)
    _put3(x, number.l, step, t)


@formula
def keep6(number, s, t):
    """Keep B[z, y] and B[y, z] D⁻¹ of a FREE joint."""
    x, step = number.x, number.step
    _put3(x, number.r, step, s[0])
    _put3(x, number.r + 3 * step, step, s[1])
    _put3(x, number.l, step, t[0])
    _put3(x, number.l + 3 * step, step, t[1])


@formula
def _add_along(x, a, room, m, f):
    """Add numbers that lie as the pair does."""
    x[a] += m[0]
    x[a + room] += m[1]
    x[a + 2 * room] += m[2]
    x[a + 3 * room] += f[0]
    x[a + 4 * room] += f[1]
    x[a + 5 * room] += f[2]


def _one_across(x, a, count, m, f):
    x[a] += m[0]
    x[a + 1] += m[1]
    x[a + 2] += m[2]
    x[a + 3] += f[0]
    x[a + 4] += f[1]
    x[a + 5] += f[2]


@formula
def _add_row(x, a, k, count, moment, rest):
    if k < count:
        x[a + k * LINK_ROOM] += moment
        x[a + k * LINK_ROOM + WIDTH] += rest


def _four_across(x, a, count, m, f):
    heads, rest = transposed(m[0], m[1], m[2], f[0]), transposed(f[1], f[2], f[1], f[2])
    _add_row(x, a, 0, count, heads[0], rest[0])
    _add_row(x, a, 1, count, heads[1], rest[1])
    _add_row(x, a, 2, count, heads[2], rest[2])
    _add_row(x, a, 3, count, heads[3], rest[3])


_add_across = formula(_four_across if SIMD else _one_across)  # numbers, ``count`` at most, of a pair that lies across


@formula
def deliver(c, y, k, columns, rows):
    """Add numbers k … of a pair with neighbour y to its pair with the parent, or to the square of the parent."""
    x = wide(c.x)
    if y.move == EARLIER:
        to = y.to + LINK_ROOM * k
        _add_across(x, to, y.dim - k, rows[0], rows[1])
        _add_across(x, to + LINK_ROOM * y.dim, y.dim - k, columns[0], columns[1])
        return
    to = y.to + k
    _add_along(x, to, y.room, columns[0], columns[1])
    _add_along(x, to + SIDE * y.room, y.room, rows[0], rows[1])


@kernel
def clear_square(c):
    """Begin what is to be added to the articulated matrix of a link."""
    for j in range(SQUARE):
        c.x[c.places.square + j] = 0.0


@formula
def _block_of_square(x, j, k):
    """Three rows and columns of both halves, of which the second is transposed."""
    a, b = LINK_ROOM * j + k, SIDE * LINK_ROOM + LINK_ROOM * k + j
    return (x[a] + x[b], x[a + 1] + x[b + 8], x[a + 2] + x[b + 16],
            x[a + 8] + x[b + 1], x[a + 9] + x[b + 9], x[a + 10] + x[b + 17],
            x[a + 16] + x[b + 2], x[a + 17] + x[b + 10], x[a + 18] + x[b + 18])


@kernel
def add_square(tree, w, c, i):
    """Add it to that of link i."""
    A, x = matrix(w, tree, i), after(c.x, c.places.square)
    blocks = (_block_of_square(x, 0, 0), _block_of_square(x, 0, 3),
              _block_of_square(x, 3, 0), _block_of_square(x, 3, 3))
    add_to_matrix(w, tree, i, alike(A, blocks))


# A block of rows is the pivot


@formula
def block_of(c, z):
    """W of a block, its inverse, and room to invert it in, as views."""
    return after(c.x, z.W), after(c.x, z.inverse), after(c.x, c.places.scratch)


@formula
def weigh(c, z, y, front):
    """Keep B[z, y] and B[y, z] W⁻¹ of a neighbour."""
    x, fours, size, back = c.x, wide(c.x), z.size, y.at + y.room * z.size
    for k in range(0, y.dim, WIDTH):
        for j in range(size):
            total = fours[back + k] * x[z.inverse + j]
            for i in range(1, size):
                total += fours[back + y.room * i + k] * x[z.inverse + size * i + j]
            fours[_left(c, j) + front + k] = total
            fours[_right(c, j) + front + k] = fours[y.at + y.room * j + k]


@formula
def inverse_times(c, z, j, numbers):
    """Row j of W⁻¹ times the numbers of the block."""
    total = c.x[z.inverse + z.size * j] * numbers[0]
    for k in range(1, z.size):
        total += c.x[z.inverse + z.size * j + k] * numbers[k]
    return total


# What any pivot leaves of its neighbours, B[y, k] ← B[y, k] − B[y, z] D⁻¹ B[z, k]


@formula
def lessen_pair(c, z, pair, p, q, front_p, front_q):
    """Of two neighbours, p before q, which are at these numbers of the front."""
    x, fours, back = c.x, wide(c.x), pair + q.room * p.dim
    for j in range(z.size):
        left, right = _left(c, j), _right(c, j)
        for k in range(0, q.dim, WIDTH):
            own_left, own_right = fours[left + front_q + k], fours[right + front_q + k]
            for i in range(p.dim):
                a = q.room * i + k
                fours[pair + a] = fours[pair + a] - x[left + front_p + i] * own_right
                fours[back + a] = fours[back + a] - x[right + front_p + i] * own_left


@formula
def lessen_own(c, z, q, front):
    """W of a neighbour's rows."""
    for j in range(z.size):
        left, right = _left(c, j) + front, _right(c, j) + front
        for k in range(q.dim):
            for i in range(q.dim):
                c.x[q.own + q.dim * k + i] -= c.x[left + k] * c.x[right + i]


@formula
def lessen_matrix(tree, w, c, z, q, front):
    """The articulated matrix of a neighbour that is a link."""
    A = matrix(w, tree, q.number)
    for j in range(z.size):
        m, f = read6(c.x, _left(c, j) + front)
        A = add_outer(A, (neg(m), neg(f)), read6(c.x, _right(c, j) + front))
    put_matrix(w, tree, q.number, A)


@formula
def diagonal(c, q, k):
    """Number k of the diagonal of W of a neighbour."""
    return c.x[q.own + q.dim * k + k]


# Right-hand sides and solutions


@formula
def numbers_of(c):
    """Room for the numbers of a pivot."""
    return after(c.x, c.places.square)


@formula
def beside(numbers):
    """Room for as many other numbers."""
    return after(numbers, SIDE)


@formula
def from_pivot(c, z, y, k, numbers):
    """Row k of B[y, z] times the numbers of the pivot."""
    a = y.at + y.room * z.stride + k
    total = c.x[a] * numbers[0]
    for j in range(1, z.size):
        total += c.x[a + y.room * j] * numbers[j]
    return total


@formula
def entry(c, z, y, j, k):
    """B[z, y][j, k]."""
    return c.x[y.at + y.room * j + k]


@formula
def row_of_six(c, z, y, j):
    """Row j of B[z, y], y being a link."""
    return read6(c.x, y.at + LINK_ROOM * j)
