"""What eliminating joints and rows keeps (constraints/elimination.py): the blocks B[z, y] and B[y, z] of every pivot z
and neighbour y. All addresses are made by the plan (constraint_plan/), come by operations.py, and are used here only.

Of a pair the node that is eliminated first says how its two blocks lie: B[first, later]ᵀ, row by row, and behind it
B[later, first]. ``c`` is the record Closed of constraints/closed.py; the *front* of a pivot are the numbers of all its
neighbours, one after the other. It has two sides: B[y, z] D⁻¹ on the left, B[z, y] on the right, each number of the
pivot in a row of its own, so that what a pivot leaves is added up row by row.
"""

from collections import namedtuple

from .jit import formula, kernel
from .matrix6 import add_outer, add_to_matrix, alike, matrix, put_matrix
from .operations import EARLIER, LATER
from .simd import WIDTH, after, wide
from ..maths.spatial import read6
from ..maths.vec3 import neg

SIDE = 6  # numbers of a pivot, at most

# One number of a neighbour y, as the verb hand_on of a joint z takes it (joints/dispatch.py): the column of B[z, y] is
# at x[a], the row of B[y, z] at x[b]; l, r: its places in both sides of the front, of which numbers are ``step`` apart
Crossing = namedtuple("Crossing", "x a b l r step coupled")


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


@formula
def has_place(c, r):
    """Whether row r is in a block."""
    return c.targets[6 * r] >= 0 or c.targets[6 * r + 3] >= 0


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
    """Number k of a neighbour, which is number ``front`` of the front."""
    return Crossing(c.x, y.at + 6 * k, y.at + 6 * (y.dim + k), _left(c, 0) + front, _right(c, 0) + front,
                    c.places.wide, y.coupled)


@formula
def column_and_row(number):
    """Column of B[z, y] and row of B[y, z]."""
    return read6(number.x, number.a), read6(number.x, number.b)


@formula
def coupling(number):
    """What a row of joints takes from Sᵀ B[z, y], and what it adds to B[y, z] S⁺."""
    if number.coupled < 0:
        return 0.0, 0.0
    return number.x[number.coupled], number.x[number.coupled + 1]


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
    x, a, b = number.x, number.a, number.b
    x[a], x[a + 1], x[a + 2] = s
    x[b], x[b + 1], x[b + 2] = r
    _put3(x, number.r, number.step, s)
    _put3(x, number.l, number.step, t)


@formula
def keep6(number, s, t):
    """Keep B[z, y] and B[y, z] D⁻¹ of a FREE joint."""
    x, step = number.x, number.step
    _put3(x, number.r, step, s[0])
    _put3(x, number.r + 3 * step, step, s[1])
    _put3(x, number.l, step, t[0])
    _put3(x, number.l + 3 * step, step, t[1])


@formula
def _add(x, a, stride, m, f):
    x[a] += m[0]
    x[a + stride] += m[1]
    x[a + 2 * stride] += m[2]
    x[a + 3 * stride] += f[0]
    x[a + 4 * stride] += f[1]
    x[a + 5 * stride] += f[2]


@formula
def deliver(c, y, k, column, row):
    """Add number k of a pair with neighbour y to its pair with the parent, or to the square of the parent."""
    x, to, square = c.x, y.to, c.places.square
    if y.move == LATER:
        _add(x, to + 6 * k, 1, column[0], column[1])
        _add(x, to + 6 * (y.dim + k), 1, row[0], row[1])
    elif y.move == EARLIER:
        _add(x, to + k, y.dim, row[0], row[1])
        _add(x, to + 6 * y.dim + k, y.dim, column[0], column[1])
    else:
        _add(x, square + k, 6, column[0], column[1])
        _add(x, square + 6 * k, 1, row[0], row[1])


@kernel
def clear_square(c):
    """Begin what is to be added to the articulated matrix of a link."""
    for j in range(36):
        c.x[c.places.square + j] = 0.0


@kernel
def add_square(tree, w, c, i):
    """Add it to that of link i."""
    A, a = matrix(w, tree, i), after(c.x, c.places.square)
    blocks = ((a[0], a[1], a[2], a[6], a[7], a[8], a[12], a[13], a[14]),
              (a[3], a[4], a[5], a[9], a[10], a[11], a[15], a[16], a[17]),
              (a[18], a[19], a[20], a[24], a[25], a[26], a[30], a[31], a[32]),
              (a[21], a[22], a[23], a[27], a[28], a[29], a[33], a[34], a[35]))
    add_to_matrix(w, tree, i, alike(A, blocks))


# A block of rows is the pivot


@formula
def block_of(c, z):
    """W of a block, its inverse, and room to invert it in, as views."""
    return after(c.x, z.W), after(c.x, z.inverse), after(c.x, c.places.scratch)


@formula
def weigh(c, z, y, front):
    """Keep B[z, y] and B[y, z] W⁻¹ of a neighbour."""
    x, size = c.x, z.size
    row = y.at + y.dim * size
    for k in range(front, front + y.dim):
        for j in range(size):
            total = 0.0
            for i in range(size):
                total += x[row + i] * x[z.inverse + size * i + j]
            x[_left(c, j) + k] = total
            x[_right(c, j) + k] = x[row - y.dim * size + j]
        row += size


@formula
def inverse_times(c, z, j, numbers):
    """Row j of W⁻¹ times the numbers of the block."""
    total = c.x[z.inverse + z.size * j] * numbers[0]
    for k in range(1, z.size):
        total += c.x[z.inverse + z.size * j + k] * numbers[k]
    return total


# What any pivot leaves of its neighbours, B[y, k] ← B[y, k] − B[y, z] D⁻¹ B[z, k]


@formula
def _lessen(x, a, k, b, count):
    """x[a + j] −= k x[b + j] for j < count."""
    fours, whole = wide(x), count - count % WIDTH
    for j in range(0, whole, WIDTH):
        fours[a + j] = fours[a + j] - k * fours[b + j]
    for j in range(whole, count):
        x[a + j] -= k * x[b + j]


@formula
def lessen_pair(c, z, pair, p, q, front_p, front_q):
    """Of two neighbours, p before q, which are at these numbers of the front."""
    x, back = c.x, pair + p.dim * q.dim
    for j in range(z.size):
        left, right = _left(c, j), _right(c, j)
        for k in range(q.dim):
            _lessen(x, pair + p.dim * k, x[right + front_q + k], left + front_p, p.dim)
            _lessen(x, back + p.dim * k, x[left + front_q + k], right + front_p, p.dim)


@formula
def lessen_own(c, z, q, front):
    """W of a neighbour's rows."""
    for j in range(z.size):
        left, right = _left(c, j) + front, _right(c, j) + front
        for k in range(q.dim):
            _lessen(c.x, q.own + q.dim * k, c.x[left + k], right, q.dim)


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
    a = y.at + z.stride * (y.dim + k)
    total = c.x[a] * numbers[0]
    for j in range(1, z.size):
        total += c.x[a + j] * numbers[j]
    return total


@formula
def entry(c, z, y, j, k):
    """B[z, y][j, k]."""
    return c.x[y.at + z.stride * k + j]


@formula
def row_of_six(c, z, y, j):
    """Row j of B[z, y], y being a link."""
    return ((entry(c, z, y, j, 0), entry(c, z, y, j, 1), entry(c, z, y, j, 2)),
            (entry(c, z, y, j, 3), entry(c, z, y, j, 4), entry(c, z, y, j, 5)))
