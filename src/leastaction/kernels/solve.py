"""Linear systems with a factored matrix of the tree, several right-hand sides at a time."""

from .joints import get_solution
from .kinematics import read3
from .layout import FREE, LANES, SCREW
from .machine.jit import kernel
from .machine.memory import link, one_below_the_other, right, side_by_side
from .machine.simd import SIMD
from .maths import so3
from .maths.vec3 import NONE, add, cross
from .sweep import down, up


@kernel
def put_right(tree, w, r, b, transposed):
    """Set the right-hand side in the memory r from b, in the layout of v. Of the transposed Jacobian, whose equations
    belong to the increments at t_{k+1}, it is taken to t_k."""
    right(r, tree.n).wrench = NONE
    for i in range(tree.n):
        L, R, k = link(w, i), right(r, i), tree.iv[i]
        R.wrench = NONE
        if tree.kind[i] == SCREW:
            R.tau = b[k]
            continue
        m = so3.rotate(L.rotation, read3(b, k))
        if tree.kind[i] == FREE:
            f = so3.rotate(L.rotation, read3(b, k + 3))
            if transposed is not None:
                m, f = so3.rotate(L.dR, m), so3.rotate(L.dR, f)
                m = add(m, cross(L.d, f))
            R.tau6 = m, f
        else:
            R.tau3 = m if transposed is None else so3.rotate(L.dR, m)


@kernel
def solve(tree, w, r, x, newton, transposed):
    """x ← J⁻¹x or J⁻ᵀx, or M⁻¹x if ``newton`` is None; of one right-hand side, or of four. Needs factor()."""
    put_right(tree, w, r, x, transposed)
    up(tree, w, r, transposed)
    down(tree, w, r, None, newton, transposed)
    get_solution(tree, w, r, x)


@kernel
def solve_rows(tree, w, rows, room, newton, transposed):
    """The same of every row of ``rows`` (m, nv), four at a time where that can be. ``room`` is memory for right-hand
    sides, of memory.room_for() numbers."""
    if SIMD:
        for first in range(0, len(rows), LANES):
            four, memory = side_by_side(rows, first, room)
            solve(tree, w, memory, four, newton, transposed)
            one_below_the_other(four, rows, first)
    else:
        for row in rows:
            solve(tree, w, w, row, newton, transposed)
