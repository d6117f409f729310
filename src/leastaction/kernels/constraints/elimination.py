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

from ..kinematics import shift_wrench
from ..layout import BALL, SCREW
from ..machine.jit import formula, kernel
from ..machine.matrix6 import add_to_matrix, alike, matrix, times, times_transposed
from ..machine.memory import link, side
from ..machine.simd import after
from ..maths.mat3 import mat_vec, vec_mat
from ..maths.vec3 import add, add_scaled, cross, dot, scale, sub
from ..sweep import (
    down_ball, down_free, down_screw, eliminate_ball, eliminate_free, eliminate_screw, up_ball, up_free, up_screw,
)
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
NODE, TOLD = 9, 4


@formula
def read6(x, a):
    return (x[a], x[a + 1], x[a + 2]), (x[a + 3], x[a + 4], x[a + 5])


@formula
def put3(x, a, v):
    x[a], x[a + 1], x[a + 2] = v


@formula
def put6(x, a, m, f):
    put3(x, a, m)
    put3(x, a + 3, f)


@kernel
def add6_to(x, a, stride, m, f):
    x[a] += m[0]
    x[a + stride] += m[1]
    x[a + 2 * stride] += m[2]
    x[a + 3 * stride] += f[0]
    x[a + 4 * stride] += f[1]
    x[a + 5 * stride] += f[2]


@kernel
def hand_on(x, move, to, k, dim, square, column, row):
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
def through_screw(L, x, a, b, t, joint, newton):
    """Let one number of a neighbour, whose column is at a and whose row is at b, pass the SCREW joint of link L: what
    takes their place, row D⁻¹ at t, and column and row as the parent sees them."""
    (m, f), (rm, rf), (turn, move) = read6(x, a), read6(x, b), L.axis
    after_turn, after_move = L.axis if newton is None else L.axis_after
    s = dot(turn, m) + dot(move, f)
    r = dot(after_turn, rm) + dot(after_move, rf)
    if joint >= 0:
        s -= x[joint]
        r += x[joint + 1]
    x[a], x[b] = s, r
    s, r = L.inverse * s, L.inverse * r
    x[t] = r
    (um, uf), (vm, vf) = L.column, L.column if newton is None else L.row
    (m, f), (rm, rf) = shift_wrench(m, f, L.arm), shift_wrench(rm, rf, L.arm)
    return (add_scaled(m, -s, um), add_scaled(f, -s, uf)), (add_scaled(rm, -r, vm), add_scaled(rf, -r, vf))


@kernel
def through_ball(A, L, x, a, b, t):
    """As through_screw, of a BALL joint."""
    (s, f), (rm, rf) = read6(x, a), read6(x, b)
    r = add(rm, cross(rf, L.lever))
    put3(x, b, r)
    y, z = mat_vec(L.inverse3, s), vec_mat(r, L.inverse3)
    put3(x, t, z)
    (um, uf), (vm, vf) = times(A, (y, cross(L.lever, y))), times_transposed(A, (z, scale(0.0, z)))
    return shift_wrench(sub(s, um), sub(f, uf), L.arm), shift_wrench(sub(rm, vm), sub(rf, vf), L.arm)


@kernel
def through_free(inverse, E, L, x, a, b, t):
    """As through_screw, of a FREE joint: Â D⁻¹ = 1 − E D⁻¹."""
    y, z = times(inverse, read6(x, a)), times_transposed(inverse, read6(x, b))
    put6(x, t, z[0], z[1])
    (um, uf), (vm, vf) = times(E, y), times_transposed(E, z)
    return shift_wrench(um, uf, L.arm), shift_wrench(vm, vf, L.arm)


@kernel
def add_square(tree, w, i, x, square, k):
    """Add k times the square (6 × 6) to the articulated matrix of link i."""
    A, a = matrix(w, tree, i), after(x, square)
    blocks = ((k * a[0], k * a[1], k * a[2], k * a[6], k * a[7], k * a[8], k * a[12], k * a[13], k * a[14]),
              (k * a[3], k * a[4], k * a[5], k * a[9], k * a[10], k * a[11], k * a[15], k * a[16], k * a[17]),
              (k * a[18], k * a[19], k * a[20], k * a[24], k * a[25], k * a[26], k * a[30], k * a[31], k * a[32]),
              (k * a[21], k * a[22], k * a[23], k * a[27], k * a[28], k * a[29], k * a[33], k * a[34], k * a[35]))
    add_to_matrix(w, tree, i, alike(A, blocks))


@kernel
def clear_square(x, square):
    for j in range(36):
        x[square + j] = 0.0


@kernel
def let_joint_go(tree, w, ops, o, places, x, h, newton):
    """Factor the joint of an operation, and pass its neighbours on. Gives the sign of the pivot's determinant."""
    i, count = ops[o + 1], ops[o + 2]
    L, kind, parent = link(w, i), tree.kind[i], tree.parent[i]
    if kind == SCREW:
        det = eliminate_screw(tree, w, i, h, newton)
    elif kind == BALL:
        det = eliminate_ball(tree, w, i, h, newton)
    else:
        det = eliminate_free(tree, w, i, h, newton)
    t, squared = places.front, False
    for e in range(o + HEAD, o + HEAD + EACH * count, EACH):
        dim, at, move, to, joint = ops[e + 2], ops[e + 3], ops[e + 4], ops[e + 5], ops[e + 6]
        if move == SELF:
            clear_square(x, places.square)
            squared = True
        for k in range(dim):
            a, b = at + 6 * k, at + 6 * (dim + k)
            if kind == SCREW:
                column, row = through_screw(L, x, a, b, t, joint, newton)
            elif kind == BALL:
                column, row = through_ball(matrix(w, tree, i), L, x, a, b, t)
            else:
                column, row = through_free(matrix(w, tree, i), side(tree, w, i).E, L, x, a, b, t)
            t += 6
            if move != NOWHERE:
                hand_on(x, move, to, k, dim, places.square, column, row)
    if squared:
        add_square(tree, w, parent, x, places.square, 1.0)
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
            add_square(tree, w, ops[eq + 1], x, own, 1.0)
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
            freedom = tree.kind[ops[o + 1]]
            if count > 0:
                update(tree, w, ops, o, places, x, count, 1 if freedom == SCREW else 3 if freedom == BALL else 6, 6)
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
    i, count = ops[o + 1], ops[o + 2]
    L, own, size = link(w, i), places.square, 1
    if tree.kind[i] == SCREW:
        norm, wrench = up_screw(tree, L, L, L.answer, None)
        x[own] = L.x
    elif tree.kind[i] == BALL:
        norm, wrench = up_ball(matrix(w, tree, i), L, L, L.answer, None)
        put3(x, own, L.x3)
        size = 3
    else:
        norm, wrench = up_free(matrix(w, tree, i), side(tree, w, i).E, L, L, L.answer, None)
        put6(x, own, L.x6[0], L.x6[1])
        size = 6
    add_answer(w, tree.parent[i], wrench[0], wrench[1])
    for e in range(o + HEAD, o + HEAD + EACH * count, EACH):
        pass_up(w, ops, e, places, x, ops[e + 3] + 6 * ops[e + 2], 6, own, size)
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
    L, twist = link(w, i), link(w, tree.parent[i]).answer
    if tree.kind[i] == SCREW:
        if ops[o + 2] > 0:
            gather_down(w, ops, o, places, x, 6, own, 1)
            L.x -= L.inverse * x[own]
        twist = down_screw(L, L, twist, k, newton, None)
    elif tree.kind[i] == BALL:
        if ops[o + 2] > 0:
            gather_down(w, ops, o, places, x, 6, own, 3)
            L.x3 = sub(L.x3, mat_vec(L.inverse3, read6(x, own)[0]))
        twist = down_ball(matrix(w, tree, i), L, L, twist, k, newton, None)
    else:
        A = matrix(w, tree, i)
        if ops[o + 2] > 0:
            gather_down(w, ops, o, places, x, 6, own, 6)
            (m, f), (um, uf) = L.x6, times(A, read6(x, own))
            L.x6 = sub(m, um), sub(f, uf)
        twist = down_free(A, side(tree, w, i).E, L, L, twist, k, newton, None)
    L.answer = twist


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
