"""Linear systems with a factored matrix of the tree, several right-hand sides at a time."""

from .joints import dispatch as joint, get_solution
from .layout import LANES
from .machine.jit import kernel
from .machine.memory import link, one_below_the_other, right, side_by_side
from .machine.simd import SIMD
from .maths.vec3 import NONE
from .sweep import down, up


@kernel
def put_right(tree, w, r, b, transposed):
    """Set the right-hand side in the memory r from b, in the layout of v. For the transposed Jacobian, whose equations
    belong to the increments at t_{k+1}, b is turned to the axes at t_k."""
    right(r, tree.n).wrench = NONE
    for i in range(tree.n):
        R = right(r, i)
        R.wrench = NONE
        joint.put_right(tree.kind[i], link(w, i), R, b, tree.iv[i], transposed)


@kernel
def solve(tree, w, r, x, newton, transposed):
    """x ← J⁻¹x or J⁻ᵀx, or M⁻¹x if ``newton`` is None; for one right-hand side or four. Needs factor()."""
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
