"""Root finders that the paper compares itself with, {DRNEA, SVI} × {dense Newton, Broyden}, and RIQN for SVI."""

from collections import namedtuple
from math import inf, isfinite, sqrt

import numpy as np

from ..drnea import drnea, gather_residual
from ..drnea_jacobian import drnea_jacobian
from ..joints import dispatch as joint, get_motion, get_solution, improve_motion, joint_residual, put_rhs
from ..machine.jit import kernel, part
from ..machine.memory import clear, link
from ..machine.simd import integers, numbers
from ..maths.vec3 import NONE
from ..root import FLOOR_LIMIT, LEAST_COSINE
from ..settings import ABSOLUTE, BROYDEN, CONVERGED, DENSE_NEWTON, EXHAUSTED, FLOOR, NOT_FINITE, ROTATION, RIQN, SVI
from ..sweep import down, up
from .linear import add_row, lu_solve, product, transposed_product
from .svi import Paths, paths_of, svi, svi_jacobian

# matrix: (nv²,) the Jacobian, or Broyden's approximation of its inverse; f, step, x, y, z: (nv,) the residual, the
# last step of the search, and scratch; paths: of svi.py
Desk = namedtuple("Desk", "matrix f step x y z paths")


def desk_of(parent: np.ndarray, nv: int, workspace: np.ndarray, residual: int, method: int) -> Desk:
    """Room to work in, for one simulation."""
    size = 0 if method == RIQN else nv
    if residual == SVI:
        paths = paths_of(parent, workspace, method == DENSE_NEWTON)
    else:
        paths = paths_of(parent[:0], workspace[:0], False)
    f, step, x, y, z = np.zeros((5, nv))
    return Desk(np.zeros(size * size), f, step, x, y, z, paths)


@part
def see_desk(desk):
    """The desk through views."""
    p = desk.paths
    return Desk(desk.matrix, desk.f, desk.step, desk.x, desk.y, desk.z, Paths(
        p.first, integers(p.main), p.width, p.joint, numbers(p.line), numbers(p.upper), numbers(p.lower),
        numbers(p.middle), p.q, p.v))


@kernel
def save_wrenches(tree, w):
    """Copy the wrenches to the place of the twists."""
    for i in range(tree.n):
        link(w, i).twist = link(w, i).wrench


@kernel
def restore_wrenches(tree, w):
    for i in range(tree.n):
        link(w, i).wrench = link(w, i).twist


@kernel
def evaluate(system, state, h, settings, residual, desk):
    """Set desk.f to the residual of the present motion. Returns twice the kinetic energy and, as drnea(), the least
    cos(θ/2). For SVI, desk.x and desk.y are ∂L/∂v and ∂L/∂q; for DRNEA, the wrenches are copied to the twists."""
    tree, w, f = system.tree, state.w, desk.f
    if residual == SVI:
        get_motion(tree, w, desk.z)
        twice = svi(system, state.q, desk.z, h, desk.paths, (desk.x, desk.y))
        for i in range(tree.n):
            joint_residual(tree, w, i, h)
            j = tree.iv[i]
            f[j] = desk.x[j] - 0.5 * h * desk.y[j] - link(w, i).tau
        return twice, 1.0
    twice, least = drnea(tree, w, h, settings.retraction, True)
    save_wrenches(tree, w)  # the solves below have another use for them
    gather_residual(tree, w, f)
    return twice, least


@kernel
def solve_with_mass(tree, w, b, x):
    """x = M⁻¹ b, M as factored. Gives bᵀM⁻¹b."""
    for i in range(tree.n + 1):
        link(w, i).wrench = NONE
    put_rhs(tree, w, b)
    square = up(tree, w, w, None)
    down(tree, w, w, None, None, None)
    get_solution(tree, w, w, x)
    return square


@kernel
def newton_step(system, w, h, settings, residual, desk):
    """desk.step = −J⁻¹ f. Gives whether J is regular."""
    tree, nv, matrix = system.tree, len(desk.f), numbers(desk.matrix)
    if residual == SVI:
        svi_jacobian(tree, system.gravity, h, desk.paths, matrix, nv)
    else:
        clear(desk.x, tree.nv)
        drnea_jacobian(tree, w, h, settings.retraction, desk.x, desk.matrix.reshape((nv, nv)))
    for j in range(nv):
        desk.step[j] = -desk.f[j]
    return lu_solve(matrix, nv, numbers(desk.step))


@kernel
def broyden_start(tree, w, h, desk):
    """The approximate inverse B = h M⁻¹, column by column; it is symmetric."""
    nv = len(desk.f)
    matrix = numbers(desk.matrix)
    clear(desk.y, tree.nv)
    for j in range(nv):
        desk.y[j] = h
        solve_with_mass(tree, w, desk.y, desk.x)
        desk.y[j] = 0.0
        for k in range(nv):
            matrix[j * nv + k] = desk.x[k]


@kernel
def broyden_step(desk, again):
    """desk.step = −B f; if it is not the first, after Broyden's update of B by the step before, s = desk.step.

    With y = f − f_before, and so B y = B f + s: B ← B + (s − By) sᵀB / sᵀBy.
    """
    nv, B, f, s, t = len(desk.f), numbers(desk.matrix), numbers(desk.f), numbers(desk.step), numbers(desk.x)
    product(B, nv, f, t)
    shrink = 1.0
    if again:
        ss, st = 0.0, 0.0
        for j in range(nv):
            ss += s[j] * s[j]
            st += s[j] * t[j]
        if ss + st != 0.0:  # at round-off a step may have no effect at all
            c = numbers(desk.y)
            transposed_product(B, nv, s, c)
            for j in range(nv):
                add_row(B, j * nv, c, 0, nv, -t[j] / (ss + st))
            shrink = ss / (ss + st)
    for j in range(nv):
        s[j] = -shrink * t[j]


@kernel
def move_joints(tree, w, step):
    """Apply to the motion of every joint its part of the step, which is in body axes."""
    put_rhs(tree, w, step)
    for i in range(tree.n):
        joint.tau_as_x(tree.kind[i], link(w, i))
    improve_motion(tree, w, 1.0)


@kernel
def find_dense_root(system, state, h, reference, settings, residual, desk):
    """As root.find_root, with the plain search only. Needs factor_mass(). Leaves the desk and the
    twists as evaluate()."""
    tree, w, best, left, stalled = system.tree, state.w, inf, inf, 0
    for iteration in range(1, settings.max_iterations + 1):
        twice, least = evaluate(system, state, h, settings, residual, desk)
        if not least > LEAST_COSINE:
            return iteration, left, ROTATION if isfinite(least) else NOT_FINITE
        square = 0.0
        for value in desk.f:
            square += value * value
        left = sqrt(square)
        if settings.rule != ABSOLUTE or settings.method == RIQN:
            square = solve_with_mass(tree, w, desk.f, desk.z)
            size = reference + 2.0 * twice
            relative = sqrt(square / size) if size > 0.0 else sqrt(square)
            left = left if settings.rule == ABSOLUTE else relative
        if not isfinite(left):
            return iteration, left, NOT_FINITE
        if left <= settings.tol:
            return iteration, left, CONVERGED
        stalled = stalled + 1 if left > 0.9 * best else 0
        if stalled > 1 and settings.rule != ABSOLUTE and left < FLOOR_LIMIT:
            return iteration, left, FLOOR
        best = min(best, left)
        if settings.method == DENSE_NEWTON:
            if not newton_step(system, w, h, settings, residual, desk):
                return iteration, left, NOT_FINITE
        elif settings.method == BROYDEN:
            if iteration == 1:
                broyden_start(tree, w, h, desk)
            broyden_step(desk, iteration > 1)
        else:
            for j in range(len(desk.z)):
                desk.step[j] = -h * desk.z[j]
        move_joints(tree, w, desk.step)
    return settings.max_iterations, left, EXHAUSTED
