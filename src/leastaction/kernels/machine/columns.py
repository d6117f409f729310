"""Vectors, pairs of vectors and rows that lie one behind the other in an array, by their number."""

from ..maths.spatial import put6, read3, read6
from .jit import formula
from .simd import after


@formula
def vector(x, k):
    """Vector k of x."""
    return read3(x, 3 * k)


@formula
def put_vector(x, k, v):
    x[3 * k], x[3 * k + 1], x[3 * k + 2] = v


@formula
def pair(x, k):
    """Pair k of vectors of x."""
    return read6(x, 6 * k)


@formula
def put_pair(x, k, v):
    put6(x, 6 * k, v)


@formula
def matrix_row(x, k, width):
    """Row k of x, a matrix of so many columns: the view of x from there on."""
    return after(x, k * width)
