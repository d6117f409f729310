"""Root finders that the paper compares itself with, {DRNEA, SVI} × {dense Newton, Broyden}, and RIQN for SVI."""

from collections import namedtuple
from math import inf, isfinite, sqrt

import numpy as np

from ..drnea import drnea, gather_residual
from ..drnea_jacobian import drnea_jacobian
from ..joints import dispatch as joint, get_motion, get_solution, improve_motion, joint_residual, put_rhs
from ..machine.jit import kernel, part
from ..machine.memory import clear, link
from ..machine.simd import numbers
from ..maths.vec3 import NONE
from ..root import FLOOR_LIMIT, LEAST_COSINE
from ..settings import ABSOLUTE, BROYDEN, CONVERGED, DENSE_NEWTON, EXHAUSTED, FLOOR, NOT_FINITE, ROTATION, RIQN, SVI
from ..sweep import down, up
from .linear import add_row, lu_solve, product, transposed_product
from .svi import paths_as_views, paths_of, svi, svi_jacobian

# matrix: (nv²,) the Jacobian, or Broyden's approximation of its inverse; f, step, x, y, z: (nv,) the residual, the
# last step of the search, and scratch; paths: of svi.py
Scratch = namedtuple("Scratch", "matrix f step x y z paths")


def scratch_of(parent: np.ndarray, nv: int, workspace: np.ndarray, residual: int, method: int) -> Scratch:
    """Room to work in, for one simulation."""
    size = 0 if method == RIQN else nv
    if residual == SVI:
        paths = paths_of(parent, workspace, method == DENSE_NEWTON)
    else:
        paths = paths_of(parent[:0], workspace[:0], False)
    f, step, x, y, z = np.zeros((5, nv))
    return Scratch(np.zeros(size * size), f, step, x, y, z, paths)


@part
def scratch_as_views(scratch):
    """Scratch memory through views."""
    return Scratch(scratch.matrix, scratch.f, scratch.step, scratch.x, scratch.y, scratch.z,
                   paths_as_views(scratch.paths))


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
def evaluate(system, state, h, settings, residual, scratch):
    """Set scratch.f to the residual of the present motion. Returns twice the kinetic energy and, as drnea(), the least
    cos(θ/2). For SVI, scratch.x and scratch.y are ∂L/∂v and ∂L/∂q; for DRNEA, the wrenches are copied to the twists."""
    tree, w, f = system.tree, state.w, scratch.f
    if residual == SVI:
        get_motion(tree, w, scratch.z)
        twice = svi(system, state.q, scratch.z, h, scratch.paths, (scratch.x, scratch.y))
        for i in range(tree.n):
            joint_residual(tree, w, i, h)
            j = tree.iv[i]
            f[j] = scratch.x[j] - 0.5 * h * scratch.y[j] - link(w, i).tau
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
def newton_step(system, w, h, settings, residual, scratch):
    """scratch.step = −J⁻¹ f. Gives whether J is regular."""
    tree, nv = system.tree, len(scratch.f)
    jacobian = scratch.matrix.reshape((nv, nv))
    if residual == SVI:
        svi_jacobian(tree, system.gravity, h, scratch.paths, jacobian)
    else:
        clear(scratch.x, tree.nv)
        drnea_jacobian(tree, w, h, settings.retraction, scratch.x, jacobian)
    for j in range(nv):
        scratch.step[j] = -scratch.f[j]
    return lu_solve(numbers(scratch.matrix), nv, numbers(scratch.step))


@kernel
def broyden_start(tree, w, h, scratch):
    """The approximate inverse B = h M⁻¹, column by column; it is symmetric."""
    nv = len(scratch.f)
    matrix = numbers(scratch.matrix)
    clear(scratch.y, tree.nv)
    for j in range(nv):
        scratch.y[j] = h
        solve_with_mass(tree, w, scratch.y, scratch.x)
        scratch.y[j] = 0.0
        for k in range(nv):
            matrix[j * nv + k] = scratch.x[k]


@kernel
def broyden_step(scratch, again):
    """scratch.step = −B f; if it is not the first, after Broyden's update of B by the step before, s = scratch.step.

    With y = f − f_before, and so B y = B f + s: B ← B + (s − By) sᵀB / sᵀBy.
    """
    nv, B, f = len(scratch.f), numbers(scratch.matrix), numbers(scratch.f)
    s, t = numbers(scratch.step), numbers(scratch.x)
    product(B, nv, f, t)
    shrink = 1.0
    if again:
        ss, st = 0.0, 0.0
        for j in range(nv):
            ss += s[j] * s[j]
            st += s[j] * t[j]
        if ss + st != 0.0:  # at round-off a step may have no effect at all
            c = numbers(scratch.y)
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
def find_dense_root(system, state, h, reference, settings, residual, scratch):
    """As root.find_root, with the plain search only. Needs factor_mass(). Leaves the scratch memory and the
    twists as evaluate()."""
    tree, w, best, left, stalled = system.tree, state.w, inf, inf, 0
    for iteration in range(1, settings.max_iterations + 1):
        twice, least = evaluate(system, state, h, settings, residual, scratch)
        if not least > LEAST_COSINE:
            return iteration, left, ROTATION if isfinite(least) else NOT_FINITE
        square = 0.0
        for value in scratch.f:
            square += value * value
        left = sqrt(square)
        if settings.rule != ABSOLUTE or settings.method == RIQN:
            square = solve_with_mass(tree, w, scratch.f, scratch.z)
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
            if not newton_step(system, w, h, settings, residual, scratch):
                return iteration, left, NOT_FINITE
        elif settings.method == BROYDEN:
            if iteration == 1:
                broyden_start(tree, w, h, scratch)
            broyden_step(scratch, iteration > 1)
        else:
            for j in range(len(scratch.z)):
                scratch.step[j] = -h * scratch.z[j]
        move_joints(tree, w, scratch.step)
    return settings.max_iterations, left, EXHAUSTED
