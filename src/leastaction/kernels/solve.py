"""Linear systems with a factored matrix of the tree, several right-hand sides at a time."""

from .maths import so3
from .machine.jit import kernel
from .kinematics import read3
from .layout import FREE, LANES, RIGHT, SCREW
from .machine.memory import link, right
from .machine.simd import SIMD, in_columns, in_lanes, numbers
from .sweep import down, up
from .maths.vec3 import NONE, add, cross


def room_for(n: int, nv: int) -> int:
    """Numbers that the memory for four right-hand sides takes: the rows themselves, and a record for every link."""
    return LANES * nv + (n + 1) * RIGHT.block


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
def get_solution(tree, w, r, x):
    """The solution in the memory r, in the layout of v."""
    for i in range(tree.n):
        L, R, k = link(w, i), right(r, i), tree.iv[i]
        if tree.kind[i] == SCREW:
            x[k] = R.x
            continue
        x[k], x[k + 1], x[k + 2] = so3.unrotate(L.rotation, R.x3)
        if tree.kind[i] == FREE:
            x[k + 3], x[k + 4], x[k + 5] = so3.unrotate(L.rotation, R.x6[1])


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
    sides, of room_for() numbers."""
    nv, done = tree.nv, 0
    if SIMD:
        four, memory = numbers(room), in_columns(room[LANES * nv :])
        while done < len(rows):
            for lane in range(LANES):  # the last row is repeated
                for j in range(nv):
                    four[LANES * j + lane] = rows[min(done + lane, len(rows) - 1), j]
            solve(tree, w, memory, in_lanes(room), newton, transposed)
            for lane in range(min(LANES, len(rows) - done)):
                for j in range(nv):
                    rows[done + lane, j] = four[LANES * j + lane]
            done += LANES
    else:
        for row in rows:
            solve(tree, w, w, row, newton, transposed)
