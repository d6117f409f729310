"""Inverses of small pivot blocks W (m × m, m ≤ 6) that tell their rank: redundant rows make a block singular.

Gaussian elimination with full pivoting, W = Pᵀ L D U Qᵀ. Pivots below RELATIVE times the first count as zero. What is
left has full rank r, with L (m × r) and U (r × m) well conditioned, all their numbers being at most one; the inverse is
then Moore and Penrose's,
    W⁺ = Q Uᵀ (U Uᵀ)⁻¹ D⁻¹ (Lᵀ L)⁻¹ Lᵀ P,
which gives the least multipliers among all that do the same. A row that is switched off has a zero row and a zero
column in W⁺.

Rows may also follow from those of blocks that went before, or from locked joints: then all of W is round-off of what
has cancelled in it, and pivots below a floor, which the caller gives, count as zero.
"""

from ..machine.jit import kernel
from ..machine.simd import after

RELATIVE = 1e-8  # pivots below, relative to the first, are of redundant rows
SIDE = 6  # rows of a block, at most
SCRATCH = 4 * SIDE * SIDE + 3 * SIDE  # numbers that invert() works in


@kernel
def eliminate(A, m, floor, order, other):
    """A (m × m) ← its factors, with rows and columns taken in the orders that are set. Gives the rank, and the sign of
    the determinant."""
    det, first = 1.0, 0.0
    for j in range(m):
        order[j], other[j] = float(j), float(j)
    for k in range(m):
        row, column, most = k, k, 0.0
        for i in range(k, m):
            for j in range(k, m):
                if abs(A[m * i + j]) > most:
                    row, column, most = i, j, abs(A[m * i + j])
        if k == 0:
            first = max(most, floor / RELATIVE)
        if not most > RELATIVE * first:  # also where it is not a number
            return k, det
        if row != k:
            order[k], order[row], det = order[row], order[k], -det
            for j in range(m):
                A[m * k + j], A[m * row + j] = A[m * row + j], A[m * k + j]
        if column != k:
            other[k], other[column], det = other[column], other[k], -det
            for i in range(m):
                A[m * i + k], A[m * i + column] = A[m * i + column], A[m * i + k]
        pivot = A[m * k + k]
        det = -det if pivot < 0.0 else det
        inverse = 1.0 / pivot
        for i in range(k + 1, m):
            A[m * i + k] *= inverse
            for j in range(k + 1, m):
                A[m * i + j] -= A[m * i + k] * A[m * k + j]
    return m, det


@kernel
def solve_regular(A, m, X):
    """X (m × m, the identity) ← (L D U)⁻¹."""
    for c in range(m):
        for i in range(m):
            for j in range(i):
                X[m * i + c] -= A[m * i + j] * X[m * j + c]
        for i in range(m - 1, -1, -1):
            for j in range(i + 1, m):
                X[m * i + c] -= A[m * i + j] * X[m * j + c]
            X[m * i + c] /= A[m * i + i]


@kernel
def lower(A, m, i, k):
    """L[i, k]."""
    return A[m * i + k] if i > k else (1.0 if i == k else 0.0)


@kernel
def upper(A, m, k, j):
    """U[k, j], its diagonal being one."""
    return A[m * k + j] / A[m * k + k] if j > k else (1.0 if j == k else 0.0)


@kernel
def solve_definite(G, r, X, m):
    """X (r × m) ← G⁻¹ X, for a symmetric positive matrix G (r × r), which is overwritten."""
    for k in range(r):
        for i in range(k + 1, r):
            ratio = G[r * i + k] / G[r * k + k]
            for j in range(k, r):
                G[r * i + j] -= ratio * G[r * k + j]
            for c in range(m):
                X[m * i + c] -= ratio * X[m * k + c]
    for i in range(r - 1, -1, -1):
        for c in range(m):
            for j in range(i + 1, r):
                X[m * i + c] -= G[r * i + j] * X[m * j + c]
            X[m * i + c] /= G[r * i + i]


@kernel
def solve_singular(A, m, r, X, G, Y):
    """X (m × m) ← Uᵀ (U Uᵀ)⁻¹ D⁻¹ (Lᵀ L)⁻¹ Lᵀ, of rank r."""
    for i in range(r):
        for j in range(m):
            Y[m * i + j] = lower(A, m, j, i)
        for j in range(r):
            G[r * i + j] = 0.0
            for k in range(m):
                G[r * i + j] += lower(A, m, k, i) * lower(A, m, k, j)
    solve_definite(G, r, Y, m)
    for i in range(r):
        for j in range(m):
            Y[m * i + j] /= A[m * i + i]
        for j in range(r):
            G[r * i + j] = 0.0
            for k in range(m):
                G[r * i + j] += upper(A, m, i, k) * upper(A, m, j, k)
    solve_definite(G, r, Y, m)
    for i in range(m):
        for j in range(m):
            X[m * i + j] = 0.0
            for k in range(r):
                X[m * i + j] += upper(A, m, k, i) * Y[m * k + j]


@kernel
def invert(W, size, active, floor, out, scratch):
    """out (size × size) ← W⁺ of the rows that are active (1 or 0 each). Gives their number, their rank and the sign of
    the determinant, 1 if it is zero."""
    if size == 1:
        if active[0] == 0.0:
            out[0] = 0.0
            return 0, 0, 1.0
        if not abs(W[0]) > floor:
            out[0] = 0.0
            return 1, 0, 1.0
        out[0] = 1.0 / W[0]
        return 1, 1, -1.0 if W[0] < 0.0 else 1.0
    if size == 2 and active[0] != 0.0 and active[1] != 0.0:  # as below, for a plane
        det, most = W[0] * W[3] - W[1] * W[2], max(max(abs(W[0]), abs(W[1])), max(abs(W[2]), abs(W[3])))
        if abs(det) > max(RELATIVE * most, floor) * most:
            out[0], out[1], out[2], out[3] = W[3] / det, -W[1] / det, -W[2] / det, W[0] / det
            return 2, 2, -1.0 if det < 0.0 else 1.0
    A, X, kept = scratch, after(scratch, SIDE * SIDE), after(scratch, 4 * SIDE * SIDE)
    order, other = after(kept, SIDE), after(kept, 2 * SIDE)
    m = 0
    for i in range(size):
        if active[i] != 0.0:
            kept[m] = float(i)
            m += 1
    for i in range(size * size):
        out[i] = 0.0
    for i in range(m):
        for j in range(m):
            A[m * i + j] = W[size * int(kept[i]) + int(kept[j])]
            X[m * i + j] = 1.0 if i == j else 0.0
    rank, det = eliminate(A, m, floor, order, other)
    if rank == m:
        solve_regular(A, m, X)
    else:
        solve_singular(A, m, rank, X, after(scratch, 2 * SIDE * SIDE), after(scratch, 3 * SIDE * SIDE))
        det = 1.0
    for i in range(m):
        for j in range(m):
            out[size * int(kept[int(other[i])]) + int(kept[int(order[j])])] = X[m * i + j]
    return m, rank, det
