"""Articulated bodies: forward dynamics in O(n) (Featherstone's algorithm), and joints that nothing holds up."""

from .joints import deflections, get_solution, passive_forces, put_rhs
from .kinematics import place
from .layout import BALL, SCREW
from .machine.jit import kernel
from .machine.matrix6 import inverse6, matrix, nine, schur_complement
from .machine.memory import clear, link
from .machine.simd import below
from .maths import so3
from .maths.mat3 import determinant, mat_shift
from .maths.vec3 import sub
from .rnea import armature_forces, link_forces, velocities
from .sweep import down, factor_mass, up

SINGULAR = 1e-14  # relative to the terms it is the sum of, below which a pivot counts as zero


@kernel
def singular_joint(tree, w):
    """The last joint whose articulated inertia is not positive, or −1: those before it may only follow from it. Of four
    simulations, the last one that is so in any of them. Needs factor_mass(tree, w, 0)."""
    for i in range(tree.n - 1, -1, -1):
        L, A = link(w, i), nine(matrix(w, tree, i))
        if tree.kind[i] == SCREW:
            turn, move = L.axis
            regular = below(SINGULAR * own_terms(A[0], A[3], turn, move), 1.0 / L.inverse)
        elif tree.kind[i] == BALL:
            regular = _positive(mat_shift(A[0], L.armature), SINGULAR * (A[0][0] + A[0][4] + A[0][8]))
        else:  # there the inverse is kept
            schur, R = schur_complement(A)
            P = inverse6(A, schur, R)
            schur, _ = schur_complement(P)
            regular = (_positive(schur, SINGULAR * (P[0][0] + P[0][4] + P[0][8]))
                       and _positive(P[3], SINGULAR * (P[3][0] + P[3][4] + P[3][8])))
        if not regular:
            return i
    return -1


@kernel
def own_terms(A11, A22, turn, move):
    """What a pivot is the sum of, each term without its sign: a scale to judge it by."""
    return (turn[0] * turn[0] * A11[0] + turn[1] * turn[1] * A11[4] + turn[2] * turn[2] * A11[8]
            + move[0] * move[0] * A22[0] + move[1] * move[1] * A22[4] + move[2] * move[2] * A22[8])


@kernel
def _positive(D, small):
    """Whether a symmetric matrix is positive definite, with pivots above ``small``."""
    minor = D[0] * D[4] - D[1] * D[1]
    return below(small, D[0]) and below(small * D[0], minor) and below(small * minor, determinant(D))


@kernel
def acceleration(system, w, v, held, out):
    """Accelerations at rates v under the joint forces that are held, passive joint forces and external wrenches.

    Needs place(), deflections() and factor_mass(tree, w, 0).
    """
    tree = system.tree
    clear(out, tree.nv)
    velocities(tree, w, v)
    link_forces(tree, w, v, out, system.gravity)
    for i in range(tree.n):
        L = link(w, i)
        (m, f), (pm, pf) = L.wrench, L.push
        L.wrench = sub(m, so3.rotate(L.rotation, pm)), sub(f, so3.rotate(L.rotation, pf))
    armature_forces(tree, w, v, out, out)
    for j in range(tree.nv):
        out[j] = held.tau[j] - out[j] if held.acts else -out[j]
    passive_forces(tree, w, v, out)
    put_rhs(tree, w, out)
    up(tree, w, w, None)
    down(tree, w, w, None, None, None)
    get_solution(tree, w, w, out)


@kernel
def aba(system, w, q, v, held, out):
    """Accelerations at (q, v), from scratch."""
    place(system.tree, w, q)
    deflections(system.tree, w, q, system.rest)
    factor_mass(system.tree, w, 0.0)
    acceleration(system, w, v, held, out)
