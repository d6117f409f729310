"""The line of columns of peers/svi.py: where the columns of each joint lie, to be read one joint or four at a time."""

from collections import namedtuple

from .jit import formula, kernel
from .simd import after, in_fours

# J = ∂V/∂v and D = ∂V/∂q: columns (turn, move), each vector as three rows of so many numbers as there are joints in the
# line; by_v, by_q: rows of ∂L/∂v and ∂L/∂q
Line = namedtuple("Line", "J D by_v by_q")
ROWS = 14


@kernel
def line_of(numbers, width):
    """The line of ``width`` joints that begins at a view, through views."""
    turn, turned = three_rows(numbers, width)
    move, moved = three_rows(turned, width)
    d_turn, d_turned = three_rows(moved, width)
    d_move, by_v = three_rows(d_turned, width)
    return Line((turn, move), (d_turn, d_move), by_v, after(by_v, width))


@kernel
def three_rows(first, width):
    """The rows of a vector, and the row after them."""
    second = after(first, width)
    third = after(second, width)
    return (first, second, third), after(third, width)


@kernel
def line_in_fours(line):
    """The same line, read four joints at a time: index k is joints k to k + 3."""
    (turn, move), (d_turn, d_move) = line.J, line.D
    return Line((rows_in_fours(turn), rows_in_fours(move)), (rows_in_fours(d_turn), rows_in_fours(d_move)),
                in_fours(line.by_v), in_fours(line.by_q))


@kernel
def rows_in_fours(rows):
    x, y, z = rows
    return in_fours(x), in_fours(y), in_fours(z)


@formula
def column(pair, k):
    """The column (turn, move) of joint k, or of joints k to k + 3."""
    (a, b, c), (x, y, z) = pair
    return (a[k], b[k], c[k]), (x[k], y[k], z[k])


@formula
def put_turn(pair, k, turn):
    a, b, c = pair[0]
    a[k], b[k], c[k] = turn


@formula
def put_move(pair, k, move):
    x, y, z = pair[1]
    x[k], y[k], z[k] = move
