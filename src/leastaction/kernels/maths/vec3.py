"""Vectors of three and symmetric 3×3 matrices (xx, yy, zz, xy, xz, yz), as tuples of numbers."""

from ..machine.jit import formula

ZERO = 0.0, 0.0, 0.0  # the vector zero
NONE = ZERO, ZERO  # the twist or wrench zero


@formula
def add(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@formula
def sub(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@formula
def neg(a):
    return -a[0], -a[1], -a[2]


@formula
def scale(k, a):
    return k * a[0], k * a[1], k * a[2]


@formula
def add_scaled(a, k, b):
    """a + k b."""
    return a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]


@formula
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@formula
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@formula
def sym_add(A, B):
    return A[0] + B[0], A[1] + B[1], A[2] + B[2], A[3] + B[3], A[4] + B[4], A[5] + B[5]


@formula
def sym_mul(A, b):
    return (
        A[0] * b[0] + A[3] * b[1] + A[4] * b[2],
        A[3] * b[0] + A[1] * b[1] + A[5] * b[2],
        A[4] * b[0] + A[5] * b[1] + A[2] * b[2],
    )


@formula
def sym_add_scaled(A, k, B):
    """A + k B."""
    return (A[0] + k * B[0], A[1] + k * B[1], A[2] + k * B[2], A[3] + k * B[3], A[4] + k * B[4], A[5] + k * B[5])


@formula
def sym_add_square(A, k, b):
    """A + k b bᵀ."""
    x, y, z = k * b[0], k * b[1], k * b[2]
    return (A[0] + x * b[0], A[1] + y * b[1], A[2] + z * b[2], A[3] + x * b[1], A[4] + x * b[2], A[5] + y * b[2])


@formula
def sym_add_dyads(A, b, c):
    """A + ½ (b cᵀ + c bᵀ)."""
    x, y, z = 0.5 * c[0], 0.5 * c[1], 0.5 * c[2]
    return (A[0] + b[0] * c[0], A[1] + b[1] * c[1], A[2] + b[2] * c[2],
            A[3] + b[0] * y + b[1] * x, A[4] + b[0] * z + b[2] * x, A[5] + b[1] * z + b[2] * y)


@formula
def sym_commutator(a, B):
    """â B − B â, which is symmetric."""
    x, y, z = 2.0 * a[0] * B[5], 2.0 * a[1] * B[4], 2.0 * a[2] * B[3]
    return (y - z, z - x, x - y, a[1] * B[5] - a[0] * B[4] + a[2] * (B[0] - B[1]),
            a[0] * B[3] - a[2] * B[5] + a[1] * (B[2] - B[0]), a[2] * B[4] - a[1] * B[3] + a[0] * (B[1] - B[2]))


@formula
def unit(j):
    """Unit vector j = 0, 1 or 2; zero for any other j."""
    return 1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0
