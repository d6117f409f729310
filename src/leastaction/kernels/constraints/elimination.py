"""The articulated-body recursion with rows: one sweep factors [J, −A₀ᵀ; A₁, 0] or [M, −Aᵀ; A, 0], two solve with it.

Unknown are the motions ζ of the links and the multipliers λ of the rows. A joint or a block of rows is the pivot, one
after the other; which, says a list of operations that is made with the model (constraint_plan.py). Whatever the pivot
z is coupled to, rows or links, is a *neighbour* y, with B[z, y] and B[y, z]. With S, S⁺, D, Â, X as in sweep.py:

- joint of link z:  B[y, k] ← B[y, k] − B[y, z] S⁺ D⁻¹ Sᵀ B[z, k] for all neighbours y, k; and to the parent l go
      B[l, y] ← B[l, y] + Xᵀ (B[z, y] − Â S⁺ D⁻¹ Sᵀ B[z, y]),  B[y, l] ← B[y, l] + (B[y, z] − B[y, z] S⁺ D⁻¹ Sᵀ Â) X;
- block of rows c:  B[y, k] ← B[y, k] − B[y, c] W⁻¹ B[c, k], with W = B[c, c].

If every block of rows waits until the joints of its loop are gone, the neighbours of a link are rows that are open in
its subtree. If one goes before, as soon as its W is regular, the links that it acts on become neighbours.

Of a pair the pivot that comes first says how the two blocks lie in memory: B[earlier, later]ᵀ, row by row, and behind
it B[later, earlier]. Once a joint is gone, Sᵀ B[z, y] and B[y, z] S⁺ are in their place.
"""

from collections import namedtuple

from ..joints import dispatch as joint
from ..layout import DOF
from ..machine.jit import formula, kernel
from ..machine.matrix6 import add_to_matrix, alike, matrix
from ..machine.memory import link
from ..machine.simd import after
from ..maths.vec3 import add
from .pivots import invert

# An operation: JOINT, BLOCK or EARLY (a block that must be regular); number of the link, or of the first row; number of
# neighbours; rows; addresses of W and of its inverse
JOINT, BLOCK, EARLY = 0, 1, 2
HEAD = 6
# A neighbour: 0 for a link, 1 for rows; its number, or that of the first row; how many numbers it has; address of the
# pair; to the parent: NOWHERE, LATER or EARLIER (than the parent), or SELF; address of that pair; address of what a
# COUPLE row gives to the joint, or −1; address of W
EACH = 8
NOWHERE, LATER, EARLIER, SELF = 0, 1, 2, 3
# After the neighbours, which are in the order in which they go, the address of each pair (p, q), p < q: by q, then p

# Number of rows, size of what is cleared before a matrix is begun, and where the parts of the memory of the rows begin:
# - rhs, answer (m): right-hand side and solution; active (m): 1, or 0 for a row that is switched off
# - node (m, NODE): at t_k, wrench (m, f) on link a and gap to link b; of a COUPLE row ∂g/∂q_a and ∂g/∂q_b
# - near (n + 1, 3): see rows.near_origins
# - total, kick (m): multipliers λ of the last step and μ of the last projection, N m s or N s
# - told (TOLD): what the last node was found to be (projection.py)
# - scratch of pivots.invert(); square (6 × 6); front: SIDE numbers for every number of the widest front
Places = namedtuple("Places", "rows cleared rhs answer active node near total kick told scratch square front")
NODE, TOLD = 9, 5


@kernel
def add6_to(x, a, stride, m, f):
    x[a] += m[0]
    x[a + stride] += m[1]
    x[a + 2 * stride] += m[2]
    x[a + 3 * stride] += f[0]
    x[a + 4 * stride] += f[1]
    x[a + 5 * stride] += f[2]


@kernel
def deliver(x, move, to, k, dim, square, column, row):
    """Add number k of a neighbour's pair to its pair with the parent, or to the matrix of the parent."""
    if move == LATER:
        add6_to(x, to + 6 * k, 1, column[0], column[1])
        add6_to(x, to + 6 * (dim + k), 1, row[0], row[1])
    elif move == EARLIER:
        add6_to(x, to + k, dim, row[0], row[1])
        add6_to(x, to + 6 * dim + k, dim, column[0], column[1])
    else:
        add6_to(x, square + k, 6, column[0], column[1])
        add6_to(x, square + 6 * k, 1, row[0], row[1])


@kernel
def add_square(tree, w, i, x, square):
    """Add the square (6 × 6) to the articulated matrix of link i."""
    A, a = matrix(w, tree, i), after(x, square)
    blocks = ((a[0], a[1], a[2], a[6], a[7], a[8], a[12], a[13], a[14]),
              (a[3], a[4], a[5], a[9], a[10], a[11], a[15], a[16], a[17]),
              (a[18], a[19], a[20], a[24], a[25], a[26], a[30], a[31], a[32]),
              (a[21], a[22], a[23], a[27], a[28], a[29], a[33], a[34], a[35]))
    add_to_matrix(w, tree, i, alike(A, blocks))


@kernel
def clear_square(x, square):
    for j in range(36):
        x[square + j] = 0.0


@kernel
def let_joint_go(tree, w, ops, o, places, x, h, newton):
    """Factor the joint of an operation, and pass its neighbours on. Gives the sign of the pivot's determinant."""
    i, count = ops[o + 1], ops[o + 2]
    L, kind = link(w, i), tree.kind[i]
    det = joint.eliminate(kind, tree, w, i, h, newton)
    t, squared = places.front, False
    for e in range(o + HEAD, o + HEAD + EACH * count, EACH):
        dim, at, move, to, coupled = ops[e + 2], ops[e + 3], ops[e + 4], ops[e + 5], ops[e + 6]
        if move == SELF:
            clear_square(x, places.square)
            squared = True
        for k in range(dim):
            column, row = joint.hand_on(kind, tree, w, i, L, x, at + 6 * k, at + 6 * (dim + k), t, coupled, newton)
            t += 6
            if move != NOWHERE:
                deliver(x, move, to, k, dim, places.square, column, row)
    if squared:
        add_square(tree, w, tree.parent[i], x, places.square)
    return det


@kernel
def let_block_go(ops, o, places, x):
    """Invert the block of an operation, and set B[y, c] W⁻¹ of its neighbours. Gives (rows, rank, sign of det W)."""
    first, count, size = ops[o + 1], ops[o + 2], ops[o + 3]
    inverse = ops[o + 5]
    found = invert(after(x, ops[o + 4]), size, after(x, places.active + first), after(x, inverse),
                   after(x, places.scratch))
    t = places.front
    for e in range(o + HEAD, o + HEAD + EACH * count, EACH):
        dim, at = ops[e + 2], ops[e + 3]
        back = at + dim * size
        for _ in range(dim):
            for j in range(size):
                total = 0.0
                for k in range(size):
                    total += x[back + k] * x[inverse + size * k + j]
                x[t + j] = total
            back += size
            t += 6
    return found


@formula
def product(x, a, b, count):
    total = x[a] * x[b]
    for j in range(1, count):
        total += x[a + j] * x[b + j]
    return total


@kernel
def update(tree, w, ops, o, places, x, count, size, stride):
    """Take what the pivot leaves from all pairs of neighbours: the pivot has ``size`` numbers, ``stride`` in memory."""
    first = o + HEAD
    pair = first + EACH * count
    tq = places.front
    for eq in range(first, first + EACH * count, EACH):
        dq, q = ops[eq + 2], ops[eq + 3]
        tp = places.front
        for ep in range(first, eq, EACH):
            dp, p, to = ops[ep + 2], ops[ep + 3], ops[pair]
            pair += 1
            back = to + dp * dq
            for k in range(dq):
                for j in range(dp):
                    x[to + dp * k + j] -= product(x, tp + 6 * j, q + stride * k, size)
                    x[back + dp * k + j] -= product(x, tq + 6 * k, p + stride * j, size)
            tp += 6 * dp
        own = places.square if ops[eq] == 0 else ops[eq + 7]
        if ops[eq] == 0:
            clear_square(x, own)
        for k in range(dq):
            for j in range(dq):
                x[own + dq * k + j] -= product(x, tq + 6 * k, q + stride * j, size)
        if ops[eq] == 0:
            add_square(tree, w, ops[eq + 1], x, own)
        tq += 6 * dq


@kernel
def factor(tree, w, ops, places, x, h, newton):
    """Factor the matrix that has been begun in w and x. Gives the sign of its determinant, as sweep.factor; the number
    of redundant rows; and whether an early block was singular, then the factors are of no use."""
    det, redundant, lost = 1.0, 0, False
    for n in range(ops[0]):
        o = ops[1 + n]
        kind, count = ops[o], ops[o + 2]
        if kind == JOINT:
            det *= let_joint_go(tree, w, ops, o, places, x, h, newton)
            if count > 0:
                update(tree, w, ops, o, places, x, count, DOF[tree.kind[ops[o + 1]]], 6)
            continue
        rows, rank, sign = let_block_go(ops, o, places, x)
        det *= sign if h > 0.0 or rows % 2 == 0 or rank < rows else -sign
        redundant += rows - rank
        lost = lost or (kind == EARLY and rank < rows)
        if count > 0:
            update(tree, w, ops, o, places, x, count, ops[o + 3], ops[o + 3])
    return det, redundant, lost


@kernel
def add_answer(w, i, m, f):
    L = link(w, i)
    (m0, f0) = L.answer
    L.answer = add(m0, m), add(f0, f)


@kernel
def pass_up(w, ops, e, places, x, a, stride, own, size):
    """Add B[y, z] times the numbers of the pivot, from ``own`` on, to the right-hand side of a neighbour."""
    if ops[e] == 1:
        rhs = places.rhs + ops[e + 1]
        for k in range(ops[e + 2]):
            x[rhs + k] += product(x, a + stride * k, own, size)
        return
    add_answer(w, ops[e + 1],
               (product(x, a, own, size), product(x, a + stride, own, size), product(x, a + 2 * stride, own, size)),
               (product(x, a + 3 * stride, own, size), product(x, a + 4 * stride, own, size),
                product(x, a + 5 * stride, own, size)))


@kernel
def up_joint(tree, w, ops, o, places, x):
    """Eliminate a joint from the right-hand side. Gives uᵀ D⁻¹ u."""
    i, count, own = ops[o + 1], ops[o + 2], places.square
    L, kind = link(w, i), tree.kind[i]
    norm, wrench = joint.up(kind, tree, w, w, i, L, L, L.answer, None)
    add_answer(w, tree.parent[i], wrench[0], wrench[1])
    if count > 0:
        joint.show_x(kind, L, x, own)
    for e in range(o + HEAD, o + HEAD + EACH * count, EACH):
        pass_up(w, ops, e, places, x, ops[e + 3] + 6 * ops[e + 2], 6, own, DOF[kind])
    return norm


@kernel
def up_block(w, ops, o, places, x):
    """Eliminate a block of rows from the right-hand side: λ ← −W⁻¹ d."""
    first, count, size, inverse = ops[o + 1], ops[o + 2], ops[o + 3], ops[o + 5]
    for j in range(size):
        x[places.answer + first + j] = -product(x, inverse + size * j, places.rhs + first, size)
    for e in range(o + HEAD, o + HEAD + EACH * count, EACH):
        pass_up(w, ops, e, places, x, ops[e + 3] + size * ops[e + 2], size, places.answer + first, size)


@kernel
def up(tree, w, ops, places, x):
    """Eliminate, for the right-hand side tau − Sᵀ Σ wrench of the joints, and minus that in x of the rows. Gives
    Σ uᵀ D⁻¹ u of the joints. Needs factor()."""
    norm = 0.0
    for i in range(tree.n):
        link(w, i).answer = link(w, i).wrench
    for n in range(ops[0]):
        o = ops[1 + n]
        if ops[o] == JOINT:
            norm += up_joint(tree, w, ops, o, places, x)
        else:
            up_block(w, ops, o, places, x)
    return norm


@kernel
def gather_down(w, ops, o, places, x, stride, own, size):
    """Sum B[z, y] times the solution of the neighbours y of a pivot, in the numbers from ``own`` on."""
    for j in range(size):
        x[own + j] = 0.0
    for e in range(o + HEAD, o + HEAD + EACH * ops[o + 2], EACH):
        a = ops[e + 3]
        if ops[e] == 1:
            for k in range(ops[e + 2]):
                value = x[places.answer + ops[e + 1] + k]
                for j in range(size):
                    x[own + j] += x[a + stride * k + j] * value
            continue
        m, f = link(w, ops[e + 1]).answer
        for j in range(size):
            b = a + j
            x[own + j] += (x[b] * m[0] + x[b + stride] * m[1] + x[b + 2 * stride] * m[2]) + (
                x[b + 3 * stride] * f[0] + x[b + 4 * stride] * f[1] + x[b + 5 * stride] * f[2])


@kernel
def down_joint(tree, w, ops, o, places, x, k, newton):
    """Substitute at a joint, after its neighbours and its parent."""
    i, own = ops[o + 1], places.square
    L, kind = link(w, i), tree.kind[i]
    if ops[o + 2] > 0:
        gather_down(w, ops, o, places, x, 6, own, DOF[kind])
        joint.lessen_x(kind, tree, w, i, L, x, own)
    L.answer = joint.down(kind, tree, w, w, i, L, L, link(w, tree.parent[i]).answer, k, newton, None)


@kernel
def down(tree, w, ops, places, x, k, newton):
    """Substitute in the opposite order: the solution of every joint, link and row. Needs up(). As sweep.down, the
    joints move by k times their solution unless k is None."""
    link(w, tree.n).answer = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for n in range(ops[0] - 1, -1, -1):
        o = ops[1 + n]
        if ops[o] == JOINT:
            down_joint(tree, w, ops, o, places, x, k, newton)
            continue
        first, size, inverse, own = ops[o + 1], ops[o + 3], ops[o + 5], places.square
        if ops[o + 2] > 0:
            gather_down(w, ops, o, places, x, size, own, size)
            for j in range(size):
                x[places.answer + first + j] -= product(x, inverse + size * j, own, size)
