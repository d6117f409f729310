"""The articulated-body recursion with rows: one sweep factors [J, −A₀ᵀ; A₁, 0] or [M, −Aᵀ; A, 0], two solve with it.

Unknown are the motions ζ of the links and the multipliers λ of the rows. A joint or a block of rows is the pivot, one
after the other; which, says a list of operations that is made with the model (constraint_plan/). Whatever the pivot
z is coupled to, rows or links, is a *neighbour* y, with B[z, y] and B[y, z]. With S, S⁺, D, Â, X as in sweep.py:

- joint of link z:  B[y, k] ← B[y, k] − B[y, z] S⁺ D⁻¹ Sᵀ B[z, k] for all neighbours y, k; and to the parent l go
      B[l, y] ← B[l, y] + Xᵀ (B[z, y] − Â S⁺ D⁻¹ Sᵀ B[z, y]),  B[y, l] ← B[y, l] + (B[y, z] − B[y, z] S⁺ D⁻¹ Sᵀ Â) X;
- block of rows c:  B[y, k] ← B[y, k] − B[y, c] W⁻¹ B[c, k], with W = B[c, c].

If every block of rows waits until the joints of its loop are gone, the neighbours of a link are rows that are open in
its subtree. If one goes before, as soon as its W is regular, the links that it acts on become neighbours.

How all these blocks lie in memory, machine/fronts.py knows. Once a joint is gone, Sᵀ B[z, y] and B[y, z] S⁺ are in
their place.
"""

from ..joints import dispatch as joint, get_solution
from ..layout import DOF
from ..machine.fronts import (
    add_square, beside, block_of, clear_square, crossing, deliver, diagonal, entry, from_pivot, inverse_times,
    lessen_matrix, lessen_own, lessen_pair, numbers_of, row_of_six, weigh,
)
from ..machine.jit import formula, kernel
from ..machine.memory import link
from ..machine.operations import (
    EARLY, JOINT, LINK, NOWHERE, ROWS, SELF, earlier, neighbour, neighbours, of_joint, operation, pair_of,
)
from ..machine.simd import WIDTH
from ..maths.vec3 import add, dot
from .closed import row
from .pivots import invert

FLOOR = 1e-11  # of what the diagonal of W has been, below which all that is left of it is round-off


@formula
def let_joint_go(tree, w, c, z, h, newton):
    """Factor the joint of operation z, and pass its neighbours on. Gives the sign of the pivot's determinant."""
    i = z.number
    L, kind = link(w, i), tree.kind[i]
    det = joint.eliminate(kind, tree, w, i, h, newton)
    front, squared = 0, False
    for e in neighbours(z):
        y = neighbour(c, e)
        if y.move == SELF:
            clear_square(c)
            squared = True
        for k in range(0, y.dim, WIDTH):
            columns, rows = joint.hand_on(kind, tree, w, i, L, crossing(c, y, k, front), newton)
            if y.move != NOWHERE:
                deliver(c, y, k, columns, rows)
        front += y.room
    if squared:
        add_square(tree, w, c, tree.parent[i])
    return det


@kernel
def let_block_go(c, z):
    """Invert the block of operation z, and weigh its neighbours by W⁻¹. Gives (rows, rank, sign of det W)."""
    most, active, (W, inverse, scratch) = 0.0, numbers_of(c), block_of(c, z)
    for j in range(z.size):
        R = row(c, z.number + j)
        most, active[j] = max(most, R.peak), R.active
    found = invert(W, z.size, active, FLOOR * most, inverse, scratch)
    front = 0
    for e in neighbours(z):
        y = neighbour(c, e)
        weigh(c, z, y, front)
        front += y.room
    return found


@formula
def update(tree, w, c, z):
    """Take what pivot z leaves from all pairs of neighbours."""
    pair = front_q = 0
    for eq in neighbours(z):
        q, front_p = neighbour(c, eq), 0
        for ep in earlier(z, eq):
            p = neighbour(c, ep)
            lessen_pair(c, z, pair_of(c, z, pair), p, q, front_p, front_q)
            pair += 1
            front_p += p.room
        if q.kind == LINK:
            lessen_matrix(tree, w, c, z, q, front_q)
        else:
            lessen_own(c, z, q, front_q)
            for k in range(q.dim):
                R = row(c, q.number + k)
                R.peak = max(R.peak, abs(diagonal(c, q, k)))
        front_q += q.room


@kernel
def factor(tree, w, c, h, newton):
    """Factor the matrix that has been begun in w and c.x. Gives the sign of its determinant, as sweep.factor; the
    number of redundant rows; and whether an early block was singular, then the factors are of no use."""
    det, redundant, lost = 1.0, 0, False
    for n in range(c.ops[0]):
        z = operation(c, n)
        if z.kind == JOINT:
            det *= let_joint_go(tree, w, c, z, h, newton)
        else:
            rows, rank, sign = let_block_go(c, z)
            det *= sign if h > 0.0 or rows % 2 == 0 or rank < rows else -sign
            redundant += rows - rank
            lost = lost or (z.kind == EARLY and rank < rows)
        if z.count > 0:
            update(tree, w, c, z)
    return det, redundant, lost


@formula
def add_answer(w, i, m, f):
    L = link(w, i)
    (m0, f0) = L.answer
    L.answer = add(m0, m), add(f0, f)


@formula
def pass_up(w, c, z, own):
    """Add B[y, z] times the numbers of pivot z to the right-hand side of its neighbours y."""
    for e in neighbours(z):
        y = neighbour(c, e)
        if y.kind == ROWS:
            for k in range(y.dim):
                R = row(c, y.number + k)
                R.rhs += from_pivot(c, z, y, k, own)
            continue
        add_answer(w, y.number,
                   (from_pivot(c, z, y, 0, own), from_pivot(c, z, y, 1, own), from_pivot(c, z, y, 2, own)),
                   (from_pivot(c, z, y, 3, own), from_pivot(c, z, y, 4, own), from_pivot(c, z, y, 5, own)))


@kernel
def up_joint(tree, w, c, z, own):
    """Eliminate a joint from the right-hand side. Gives uᵀ D⁻¹ u."""
    i = z.number
    L, kind = link(w, i), tree.kind[i]
    norm, wrench = joint.up(kind, tree, w, w, i, L, L, L.answer, None)
    add_answer(w, tree.parent[i], wrench[0], wrench[1])
    if z.count > 0:
        joint.show_x(kind, L, own, 0)
        pass_up(w, c, of_joint(z, DOF[kind]), own)
    return norm


@formula
def up_block(c, z, own):
    """Eliminate a block of rows from the right-hand side: λ ← −W⁻¹ d."""
    given = beside(own)
    for j in range(z.size):
        given[j] = row(c, z.number + j).rhs
    for j in range(z.size):
        own[j] = -inverse_times(c, z, j, given)
        row(c, z.number + j).answer = own[j]


@kernel
def up(tree, w, c):
    """Eliminate, for the right-hand side tau − Sᵀ Σ wrench of the joints, and minus R.rhs of the rows. Gives
    Σ uᵀ D⁻¹ u of the joints. Needs factor()."""
    norm, own = 0.0, numbers_of(c)
    for i in range(tree.n):
        link(w, i).answer = link(w, i).wrench
    for n in range(c.ops[0]):
        z = operation(c, n)
        if z.kind == JOINT:
            norm += up_joint(tree, w, c, z, own)
        else:
            up_block(c, z, own)
            pass_up(w, c, z, own)
    return norm


@formula
def gather_down(w, c, z, own):
    """Sum B[z, y] times the solution of the neighbours y of pivot z."""
    for j in range(z.size):
        total = 0.0
        for e in neighbours(z):
            y = neighbour(c, e)
            if y.kind == ROWS:
                for k in range(y.dim):
                    total += entry(c, z, y, j, k) * row(c, y.number + k).answer
                continue
            (m, f), (bm, bf) = link(w, y.number).answer, row_of_six(c, z, y, j)
            total += dot(bm, m) + dot(bf, f)
        own[j] = total


@kernel
def down_joint(tree, w, c, z, own, k, newton):
    """Substitute at a joint, after its neighbours and its parent."""
    i = z.number
    L, kind = link(w, i), tree.kind[i]
    if z.count > 0:
        gather_down(w, c, of_joint(z, DOF[kind]), own)
        joint.lessen_x(kind, tree, w, i, L, own, 0)
    L.answer = joint.down(kind, tree, w, w, i, L, L, link(w, tree.parent[i]).answer, k, newton, None)


@kernel
def down(tree, w, c, k, newton):
    """Substitute in the opposite order: the solution of every joint, link and row. Needs up(). As sweep.down, the
    joints move by k times their solution unless k is None."""
    link(w, tree.n).answer = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    own = numbers_of(c)
    for n in range(c.ops[0] - 1, -1, -1):
        z = operation(c, n)
        if z.kind == JOINT:
            down_joint(tree, w, c, z, own, k, newton)
        elif z.count > 0:
            gather_down(w, c, z, own)
            for j in range(z.size):
                row(c, z.number + j).answer -= inverse_times(c, z, j, own)


@kernel
def solve_node(tree, w, c, out):
    """Solve for the right-hand sides of joints, links and rows with the mass matrix: out (nv,), and the multipliers in
    the answer of the rows. Needs factor() with h = 0."""
    up(tree, w, c)
    down(tree, w, c, None, None)
    get_solution(tree, w, w, out)
