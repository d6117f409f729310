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

from ..joints import dispatch as joint, get_solution
from ..layout import DOF
from ..machine.jit import formula, kernel
from ..machine.matrix6 import add_to_matrix, alike, matrix
from ..machine.memory import link
from ..machine.simd import after
from ..maths.vec3 import add
from .closed import EACH, EARLIER, EARLY, JOINT, LATER, LINK, NOWHERE, ROWS, SELF, Crossing, neighbour, operation
from .pivots import invert

FLOOR = 1e-11  # of what the diagonal of W has been, below which all that is left of it is round-off


@kernel
def add6_to(x, a, stride, m, f):
    x[a] += m[0]
    x[a + stride] += m[1]
    x[a + 2 * stride] += m[2]
    x[a + 3 * stride] += f[0]
    x[a + 4 * stride] += f[1]
    x[a + 5 * stride] += f[2]


@kernel
def deliver(c, y, k, column, row):
    """Add number k of a pair with neighbour y to its pair with the parent, or to the matrix of the parent."""
    x, to, square = c.x, y.to, c.places.square
    if y.move == LATER:
        add6_to(x, to + 6 * k, 1, column[0], column[1])
        add6_to(x, to + 6 * (y.dim + k), 1, row[0], row[1])
    elif y.move == EARLIER:
        add6_to(x, to + k, y.dim, row[0], row[1])
        add6_to(x, to + 6 * y.dim + k, y.dim, column[0], column[1])
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
def let_joint_go(tree, w, c, z, h, newton):
    """Factor the joint of operation z, and pass its neighbours on. Gives the sign of the pivot's determinant."""
    i, x, square = z.number, c.x, c.places.square
    L, kind = link(w, i), tree.kind[i]
    det = joint.eliminate(kind, tree, w, i, h, newton)
    t, squared = c.places.front, False
    for e in range(z.first, z.last, EACH):
        y = neighbour(c, e)
        if y.move == SELF:
            clear_square(x, square)
            squared = True
        for k in range(y.dim):
            number = Crossing(x, y.at + 6 * k, y.at + 6 * (y.dim + k), t, y.coupled)
            column, row = joint.hand_on(kind, tree, w, i, L, number, newton)
            t += 6
            if y.move != NOWHERE:
                deliver(c, y, k, column, row)
    if squared:
        add_square(tree, w, tree.parent[i], x, square)
    return det


@kernel
def let_block_go(c, z):
    """Invert the block of operation z, and set B[y, c] W⁻¹ of its neighbours. Gives (rows, rank, sign of det W)."""
    x, size, inverse = c.x, z.size, z.inverse
    most = 0.0
    for j in range(size):
        most = max(most, x[c.places.peak + z.number + j])
    found = invert(after(x, z.W), size, after(x, c.places.active + z.number), FLOOR * most, after(x, inverse),
                   after(x, c.places.scratch))
    t = c.places.front
    for e in range(z.first, z.last, EACH):
        y = neighbour(c, e)
        back = y.at + y.dim * size
        for _ in range(y.dim):
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
def update(tree, w, c, z, size, stride):
    """Take what pivot z leaves from all pairs of neighbours: it has ``size`` numbers, ``stride`` in memory."""
    x, pair = c.x, z.last
    tq = c.places.front
    for eq in range(z.first, z.last, EACH):
        q = neighbour(c, eq)
        tp = c.places.front
        for ep in range(z.first, eq, EACH):
            p, to = neighbour(c, ep), c.ops[pair]
            pair += 1
            back = to + p.dim * q.dim
            for k in range(q.dim):
                for j in range(p.dim):
                    x[to + p.dim * k + j] -= product(x, tp + 6 * j, q.at + stride * k, size)
                    x[back + p.dim * k + j] -= product(x, tq + 6 * k, p.at + stride * j, size)
            tp += 6 * p.dim
        own = c.places.square if q.kind == LINK else q.own
        if q.kind == LINK:
            clear_square(x, own)
        for k in range(q.dim):
            for j in range(q.dim):
                x[own + q.dim * k + j] -= product(x, tq + 6 * k, q.at + stride * j, size)
        if q.kind == LINK:
            add_square(tree, w, q.number, x, own)
        else:
            peak = c.places.peak + q.number
            for k in range(q.dim):
                x[peak + k] = max(x[peak + k], abs(x[own + q.dim * k + k]))
        tq += 6 * q.dim


@kernel
def factor(tree, w, c, h, newton):
    """Factor the matrix that has been begun in w and c.x. Gives the sign of its determinant, as sweep.factor; the
    number of redundant rows; and whether an early block was singular, then the factors are of no use."""
    det, redundant, lost = 1.0, 0, False
    for n in range(c.ops[0]):
        z = operation(c, n)
        if z.kind == JOINT:
            det *= let_joint_go(tree, w, c, z, h, newton)
            if z.count > 0:
                update(tree, w, c, z, DOF[tree.kind[z.number]], 6)
            continue
        rows, rank, sign = let_block_go(c, z)
        det *= sign if h > 0.0 or rows % 2 == 0 or rank < rows else -sign
        redundant += rows - rank
        lost = lost or (z.kind == EARLY and rank < rows)
        if z.count > 0:
            update(tree, w, c, z, z.size, z.size)
    return det, redundant, lost


@kernel
def add_answer(w, i, m, f):
    L = link(w, i)
    (m0, f0) = L.answer
    L.answer = add(m0, m), add(f0, f)


@kernel
def pass_up(w, c, y, stride, own, size):
    """Add B[y, z] times the numbers of the pivot z, from ``own`` on, to the right-hand side of its neighbour y."""
    x, a = c.x, y.at + stride * y.dim
    if y.kind == ROWS:
        rhs = c.places.rhs + y.number
        for k in range(y.dim):
            x[rhs + k] += product(x, a + stride * k, own, size)
        return
    add_answer(w, y.number,
               (product(x, a, own, size), product(x, a + stride, own, size), product(x, a + 2 * stride, own, size)),
               (product(x, a + 3 * stride, own, size), product(x, a + 4 * stride, own, size),
                product(x, a + 5 * stride, own, size)))


@kernel
def up_joint(tree, w, c, z):
    """Eliminate a joint from the right-hand side. Gives uᵀ D⁻¹ u."""
    i, own = z.number, c.places.square
    L, kind = link(w, i), tree.kind[i]
    norm, wrench = joint.up(kind, tree, w, w, i, L, L, L.answer, None)
    add_answer(w, tree.parent[i], wrench[0], wrench[1])
    if z.count > 0:
        joint.show_x(kind, L, c.x, own)
    for e in range(z.first, z.last, EACH):
        pass_up(w, c, neighbour(c, e), 6, own, DOF[kind])
    return norm


@kernel
def up_block(w, c, z):
    """Eliminate a block of rows from the right-hand side: λ ← −W⁻¹ d."""
    x, size, answer = c.x, z.size, c.places.answer + z.number
    for j in range(size):
        x[answer + j] = -product(x, z.inverse + size * j, c.places.rhs + z.number, size)
    for e in range(z.first, z.last, EACH):
        pass_up(w, c, neighbour(c, e), size, answer, size)


@kernel
def up(tree, w, c):
    """Eliminate, for the right-hand side tau − Sᵀ Σ wrench of the joints, and minus that in c.x of the rows. Gives
    Σ uᵀ D⁻¹ u of the joints. Needs factor()."""
    norm = 0.0
    for i in range(tree.n):
        link(w, i).answer = link(w, i).wrench
    for n in range(c.ops[0]):
        z = operation(c, n)
        if z.kind == JOINT:
            norm += up_joint(tree, w, c, z)
        else:
            up_block(w, c, z)
    return norm


@kernel
def gather_down(w, c, z, stride, size):
    """Sum B[z, y] times the solution of the neighbours y of pivot z, in the first ``size`` numbers of the square."""
    x = c.x
    for j in range(size):
        total = 0.0
        for e in range(z.first, z.last, EACH):
            y = neighbour(c, e)
            b = y.at + j
            if y.kind == ROWS:
                answer = c.places.answer + y.number
                for k in range(y.dim):
                    total += x[b + stride * k] * x[answer + k]
                continue
            m, f = link(w, y.number).answer
            total += (x[b] * m[0] + x[b + stride] * m[1] + x[b + 2 * stride] * m[2]) + (
                x[b + 3 * stride] * f[0] + x[b + 4 * stride] * f[1] + x[b + 5 * stride] * f[2])
        x[c.places.square + j] = total


@kernel
def down_joint(tree, w, c, z, k, newton):
    """Substitute at a joint, after its neighbours and its parent."""
    i = z.number
    L, kind = link(w, i), tree.kind[i]
    if z.count > 0:
        gather_down(w, c, z, 6, DOF[kind])
        joint.lessen_x(kind, tree, w, i, L, c.x, c.places.square)
    L.answer = joint.down(kind, tree, w, w, i, L, L, link(w, tree.parent[i]).answer, k, newton, None)


@kernel
def down(tree, w, c, k, newton):
    """Substitute in the opposite order: the solution of every joint, link and row. Needs up(). As sweep.down, the
    joints move by k times their solution unless k is None."""
    link(w, tree.n).answer = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    x = c.x
    for n in range(c.ops[0] - 1, -1, -1):
        z = operation(c, n)
        if z.kind == JOINT:
            down_joint(tree, w, c, z, k, newton)
        elif z.count > 0:
            gather_down(w, c, z, z.size, z.size)
            for j in range(z.size):
                x[c.places.answer + z.number + j] -= product(x, z.inverse + z.size * j, c.places.square, z.size)


@kernel
def solve_node(tree, w, c, out):
    """Solve for the right-hand sides of joints, links and rows with the mass matrix: out (nv,), and the multipliers in
    the answer of the rows. Needs factor() with h = 0."""
    up(tree, w, c)
    down(tree, w, c, None, None)
    get_solution(tree, w, w, out)
