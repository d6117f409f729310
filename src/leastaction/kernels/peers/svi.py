"""SVI, the scalable variational integrator (Johnson and Murphey, IEEE T-RO 2009), which the paper compares itself with.

Generalized coordinates and the midpoint rule, L_d = h L(q̄, v̄) with q̄ = (q0 + q1)/2 and v̄ = (q1 − q0)/h. From the
root to every link i come the columns J_ia = ∂V_i/∂v_a of its twist by the rates of the joints above it, and D_ia =
∂V_i/∂q_a; from link to link they only shift, the axes being those of the world. With P_i = G_i V_i and W_i the weight,
∂L/∂v_a = Σ_i J_iaᵀP_i and ∂L/∂q_a = Σ_i (D_iaᵀP_i + J_iaᵀW_i): O(n²). The second derivatives by a and b ≥ a, b below
a, are sums over i, a and b, O(n³), for ∂J_ia/∂q_b = [J_ia, J_ib] and ∂D_ia/∂q_b = [D_ia, J_ib], and ∂J_ib/∂q_a = 0.

Links are visited along paths: a path begins at a link and goes on with one child of each, to a leaf. So one line of
columns is enough, and it lies in memory joint by joint, to be worked on in fours.
"""

from collections import namedtuple

import numpy as np

from ..kinematics import inertia_times, place
from ..layout import LANES
from ..machine.columns import matrix_row
from ..machine.jit import kernel
from ..machine.memory import clear, link
from ..machine.simd import SIMD, in_fours, integers, numbers
from ..machine.svi_line import ROWS, column, line_in_fours, line_of, put_move, put_turn
from ..maths.vec3 import add, add_scaled, cross, dot, scale, sub
from ..rnea import velocities

# first: links at which paths begin; main: the next link on the path, −1 at its end; width: of the line, in numbers;
# joint: (width,) the links of the line; line: see machine/svi_line.py; upper, lower: (width²) the second derivatives by
# (a, b) and (b, a), b below a; middle: a workspace for the configuration q̄; q, v: (nv,) q̄ and v̄
Paths = namedtuple("Paths", "first main width joint line upper lower middle q v")


def paths_of(parent: np.ndarray, workspace: np.ndarray, jacobian: bool) -> Paths:
    """Allocate the scratch memory for a tree; that of the Jacobian only if asked for."""
    n = len(parent)
    main, depth = np.full(n, -1, dtype=np.int64), np.ones(n + 1, dtype=np.int64)
    depth[n] = 0
    for i in range(n):
        depth[i] = depth[parent[i]] + 1
        if parent[i] < n:
            main[parent[i]] = i
    first = np.array([i for i in range(n) if parent[i] == n or main[parent[i]] != i], dtype=np.int64)
    width = LANES * -(-int(depth.max()) // LANES)
    square = width * width if jacobian else 0
    return Paths(first, main, width, np.zeros(width, dtype=np.int64), np.zeros(ROWS * width), np.zeros(square),
                 np.zeros(square), workspace, np.zeros(n), np.zeros(n))


@kernel
def paths_as_views(paths):
    """The scratch memory through views."""
    return Paths(paths.first, integers(paths.main), paths.width, paths.joint, numbers(paths.line),
                 numbers(paths.upper), numbers(paths.lower), numbers(paths.middle), paths.q, paths.v)


@kernel
def bracket(turn, move, other_turn, other_move):
    """[x, y] of two twists."""
    return cross(turn, other_turn), add(cross(turn, other_move), cross(move, other_turn))


@kernel
def dual(m, f, turn, move):
    """The wrench z with z·y = (m, f)·[x, y] for every twist y, x = (turn, move)."""
    return add(cross(m, turn), cross(f, move)), cross(f, turn)


@kernel
def shift(line, k, arm):
    """Columns J and D of the parent, shifted to the child's origin."""
    for pair in (line.J, line.D):
        turn, move = column(pair, k)
        put_move(pair, k, add(move, cross(turn, arm)))


@kernel
def collect(line, k, momentum, weight):
    """Add what a link of this momentum and weight gives to ∂L/∂v and ∂L/∂q."""
    (m, f), (weight_m, weight_f) = momentum, weight
    (turn, move), (turn_q, move_q) = column(line.J, k), column(line.D, k)
    line.by_v[k] = line.by_v[k] + (dot(turn, m) + dot(move, f))
    line.by_q[k] = line.by_q[k] + (
        dot(turn_q, m) + dot(move_q, f) + dot(turn, weight_m) + dot(move, weight_f))


@kernel
def own_columns(L, line, k):
    """J_ii = S_i and D_ii = [V_i, S_i] of the link itself."""
    turn, move = L.axis
    own_turn, own_move = L.twist
    d_turn, d_move = bracket(own_turn, own_move, turn, move)
    put_turn(line.J, k, turn)
    put_move(line.J, k, move)
    put_turn(line.D, k, d_turn)
    put_move(line.D, k, d_move)


@kernel
def begin_path(tree, w, paths, first):
    """Clear the line and set the columns of the joints above a link, seen at its origin. Gives their number."""
    line = line_of(paths.line, paths.width)
    clear(paths.line, ROWS * paths.width)
    count, above = 0, tree.parent[first]
    while above < tree.n:
        count += 1
        above = tree.parent[above]
    origin, above = link(w, first).origin, tree.parent[first]
    for k in range(count - 1, -1, -1):
        L = link(w, above)
        paths.joint[k] = above
        own_columns(L, line, k)
        shift(line, k, sub(origin, L.origin))
        above = tree.parent[above]
    return count


@kernel
def midpoint(tree, w, q0, delta, h, paths):
    """Place the links at q̄ and set their twists at v̄."""
    for j in range(len(paths.v)):
        paths.q[j] = q0[j] + 0.5 * delta[j]
        paths.v[j] = delta[j] / h
    place(tree, w, paths.q)
    velocities(tree, w, paths.v)


@kernel
def svi(system, q0, delta, h, paths, by):
    """Set ``by`` to (∂L/∂v, ∂L/∂q), each (nv,), at the middle of the step q0 to q0 + delta. Gives twice the kinetic
    energy."""
    tree, w, line, (by_v, by_q) = system.tree, paths.middle, line_of(paths.line, paths.width), by
    midpoint(tree, w, q0, delta, h, paths)
    for j in range(len(by_v)):
        by_v[j] = 0.0
        by_q[j] = 0.0
    for start in paths.first:
        count, i = begin_path(tree, w, paths, start), start
        while i >= 0:  # root → leaves
            L = link(w, i)
            arm = L.arm if i != start else (0.0, 0.0, 0.0)
            turn, move = L.twist
            momentum, force = inertia_times(L, L.mass, turn, move), scale(L.mass, system.gravity)
            weight = cross(L.centre, force), force
            if SIMD:
                four = line_in_fours(line)
                for k in range(0, count, LANES):
                    shift(four, k, arm)
                    collect(four, k, momentum, weight)
            else:
                for k in range(count):
                    shift(line, k, arm)
                    collect(line, k, momentum, weight)
            paths.joint[count] = i
            own_columns(L, line, count)
            collect(line, count, momentum, weight)
            count += 1
            i = paths.main[i]
        for k in range(count):
            by_v[tree.iv[paths.joint[k]]] += line.by_v[k]
            by_q[tree.iv[paths.joint[k]]] += line.by_q[k]
    twice = 0.0
    for j in range(len(by_v)):
        twice += by_v[j] * paths.v[j]
    return twice


@kernel
def second_derivatives(line, k, up, low, X, Y, Xt, Yt):
    """Add X·J_b + Y·D_b to the upper row, and the same with Xt and Yt to the lower one; b = k, or k to k + 3."""
    (turn, move), (turn_q, move_q) = column(line.J, k), column(line.D, k)
    up[k] = up[k] + (dot(turn, X[0]) + dot(move, X[1]) + (dot(turn_q, Y[0]) + dot(move_q, Y[1])))
    low[k] = low[k] + (dot(turn, Xt[0]) + dot(move, Xt[1]) + (dot(turn_q, Yt[0]) + dot(move_q, Yt[1])))


@kernel
def combined(a, x, b, y):
    """a x + b y of two wrenches."""
    return add_scaled(scale(a, x[0]), b, y[0]), add_scaled(scale(a, x[1]), b, y[1])


@kernel
def link_jacobian(L, gravity, h, line, count, paths):
    """Add what a link gives to L_vv/h + (L_vq − L_qv)/2 − (h/4) L_qq, by every two joints above it."""
    mass = L.mass
    moment = scale(mass, L.centre)
    own_turn, own_move = L.twist
    m, f = inertia_times(L, mass, own_turn, own_move)
    for a in range(count):
        (turn, move), (turn_q, move_q) = column(line.J, a), column(line.D, a)
        GJ, GD = inertia_times(L, mass, turn, move), inertia_times(L, mass, turn_q, move_q)
        lever = cross(gravity, turn)
        k_m, k_f = dual(m, f, turn_q, move_q)
        K = add(k_m, cross(moment, lever)), add_scaled(k_f, mass, lever)
        even = combined(1.0 / h, GJ, -0.25 * h, K)
        odd = combined(0.5, dual(m, f, turn, move), -0.5, GD)
        X, Xt = combined(1.0, even, 1.0, odd), combined(1.0, even, -1.0, odd)
        Y, Yt = combined(0.5, GJ, -0.25 * h, GD), combined(-0.5, GJ, -0.25 * h, GD)
        up, low = matrix_row(paths.upper, a, paths.width), matrix_row(paths.lower, a, paths.width)
        if SIMD:
            four = line_in_fours(line)
            for k in range(LANES * (a // LANES), count, LANES):
                second_derivatives(four, k, in_fours(up), in_fours(low), X, Y, Xt, Yt)
        else:
            for k in range(a, count):
                second_derivatives(line, k, up, low, X, Y, Xt, Yt)


@kernel
def svi_jacobian(tree, gravity, h, paths, jacobian):
    """Fill jacobian (nv, nv) = ∂/∂q1 (∂L/∂v − (h/2) ∂L/∂q), with the terms of armature, damping and springs.

    Needs svi().
    """
    w, width, line = paths.middle, paths.width, line_of(paths.line, paths.width)
    for row in range(tree.nv):
        clear(jacobian[row], tree.nv)
    for start in paths.first:
        count, i = begin_path(tree, w, paths, start), start
        clear(paths.upper, width * width)
        clear(paths.lower, width * width)
        while i >= 0:  # root → leaves
            L = link(w, i)
            if i != start:
                arm = L.arm
                if SIMD:
                    four = line_in_fours(line)
                    for k in range(0, count, LANES):
                        shift(four, k, arm)
                else:
                    for k in range(count):
                        shift(line, k, arm)
            paths.joint[count] = i
            own_columns(L, line, count)
            count += 1
            link_jacobian(L, gravity, h, line, count, paths)
            i = paths.main[i]
        for a in range(count):
            j, up, low = tree.iv[paths.joint[a]], matrix_row(paths.upper, a, width), matrix_row(paths.lower, a, width)
            jacobian[j, j] += up[a]
            for b in range(a + 1, count):
                k = tree.iv[paths.joint[b]]
                jacobian[j, k] += up[b]
                jacobian[k, j] += low[b]
    for i in range(tree.n):
        L, j = link(w, i), tree.iv[i]
        jacobian[j, j] += L.armature / h + 0.5 * L.damping + 0.25 * h * L.stiffness
