"""The split retraction: a link turns by exp on SO(3), while its centre of mass moves along a straight line.

x = (w, e): w = log ΔR and e the displacement of the centre of mass; L_d = (wᵀI w + m eᵀe)/2h with the inertia I about
that centre. Translation and rotation do not mix: free fall is exact whatever the link does, and momentum and K take
half the work of the exponential on SE(3). Everything serves one link, or four (w a view in fours).
"""

from ..machine.jit import formula
from ..maths import so3
from ..maths.mat3 import hat, mat_add, mat_mul, mat_of_sym, mat_scale, mat_shift, mat_sub, outer, scalar, transpose
from ..maths.vec3 import add, add_scaled, cross, dot, scale, sym_mul


@formula
def moved(L):
    """Motion of a link over the step: vector part of its rotation, and e. Needs displacements()."""
    q = L.dR
    return so3.vector(q), add(L.d, so3.rotate_less_one(q, L.centre))


@formula
def split_twist(L, ratio):
    """x = (w, e), given θ/sin(θ/2) of the rotation."""
    u, move = moved(L)
    return scale(ratio, u), move


@formula
def split_momentum(L, h, ratio, beta):
    """Alg. 2, line 7: μ about the link's origin at t_k, and xᵀ G x."""
    turn, move = split_twist(L, ratio)
    y = sym_mul(L.inertia_world, turn)
    mass = L.mass
    energy = dot(turn, y) + mass * dot(move, move)
    ty = cross(turn, y)
    m = add_scaled(add_scaled(y, 0.5, ty), beta, cross(turn, ty))  # [dlog_w]ᵀ I w
    f = scale(mass, move)
    m = add(m, cross(L.centre, f))
    return scale(1.0 / h, m), scale(1.0 / h, f), energy


@formula
def rotation_derivative(turn, beta):
    """dlog_w on SO(3), of w = turn: 1 − ½ŵ + β(w wᵀ − w·w)."""
    A = mat_add(mat_scale(-0.5, hat(turn)), outer(scale(beta, turn), turn))
    return mat_shift(A, 1.0 - beta * dot(turn, turn))


@formula
def split_stiffness(L, h, ratio, beta, gamma):
    """K as blocks: [[K_w − k ĉ ê, k ĉ], [−k ê, k]], k = m/h; c and e are the centre of mass before and after."""
    turn, move = split_twist(L, ratio)
    inertia = L.inertia_world
    y = sym_mul(inertia, turn)
    ty = cross(turn, y)
    A = rotation_derivative(turn, beta)
    # The derivative of [dlog_w]ᵀ y at fixed y; products of hats are dyads
    N = mat_sub(outer(scale(gamma, cross(turn, ty)), turn), mat_scale(0.5, hat(y)))
    N = mat_sub(N, mat_scale(beta, mat_sub(outer(add(y, y), turn), outer(turn, y))))
    N = mat_shift(N, beta * dot(turn, y))
    Kw = mat_mul(mat_add(mat_mul(transpose(A), mat_of_sym(inertia)), N), A)
    centre, k = L.centre, L.mass / h
    after = add(centre, move)
    K11 = mat_sub(mat_scale(1.0 / h, Kw), outer(scale(k, after), centre))
    c, e = scale(k, centre), scale(k, after)
    return mat_shift(K11, dot(c, after)), hat(c), transpose(hat(e)), scalar(k)
