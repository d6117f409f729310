"""K, how a link's momentum answers a move of the link, against complex steps through 4×4 matrices; both retractions."""

import numpy as np
import pytest
from compiled import call_with_link

from leastaction.kernels import stiffness
from leastaction.kernels.machine.memory import BLOCK, python_link
from leastaction.reference import lie
from leastaction.reference.links import spatial_inertia
from leastaction.reference.retractions import RETRACTIONS
from reference.trees import random_inertia

H = 0.01
STEP = 1e-30  # of the complex step
BOTH = pytest.mark.parametrize("retraction", ["exp", "split"])
CODES = {"exp": stiffness.EXP, "split": stiffness.SPLIT}
SIZES = [1e-6, 0.02, 0.4, 1.0, 2.5]  # of the motion, rad and m: polynomials and closed forms


def centre_of(G):
    """Centre of mass (3,) of an inertia, from its block mĉ."""
    return np.array([G[2, 4], G[0, 5], G[1, 3]]) / G[3, 3]


def link(seed, size):
    """A link's inertia G (6, 6), its motion ΔT (4, 4), and the array in which the kernels find both."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=6)
    x *= size / np.linalg.norm(x[:3])
    G, T = spatial_inertia(random_inertia(rng)), lie.exp(x)
    w = np.zeros(BLOCK)
    mass, centre = G[3, 3], centre_of(G)
    c = lie.hat(centre)
    central = G[:3, :3] + mass * c @ c
    about_centre = [central[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    L = python_link(w, 0)
    L.mass, L.centre, L.inertia_world, L.dR, L.d = mass, centre, about_centre, lie.quat_exp(x[:3]), T[:3, 3]
    return G, T, w


def moved(T, zeta):
    """exp(ζ) T."""
    return lie.exp(np.asarray(zeta)) @ T


def twist_and_derivative(G, T, retraction):
    """x = τ⁻¹(T) and dτ⁻¹ (6, 6) of a link with this inertia."""
    chosen, c = RETRACTIONS[retraction], centre_of(G)
    x = chosen.inverse(T, c)
    return x, chosen.dinverse(x, c)


def momentum(G, T, retraction):
    """μ = [dτ⁻¹]ᵀ G x / h (6,)."""
    x, D = twist_and_derivative(G, T, retraction)
    return D.T @ G @ x / H


def by_complex_steps(function):
    """Columns of the derivative of a function of ζ (6,) at zero."""
    return np.array([function(1j * STEP * e).imag / STEP for e in np.eye(6)]).T


def stiffness_of(w, retraction, exact):
    """K of the link at slot 0, (6, 6)."""
    call_with_link(stiffness.put_stiffness)(w, H, retraction, exact)
    return matrix(python_link(w, 0).K)


def matrix(blocks):
    """Four 3×3 blocks as a matrix (6, 6)."""
    K11, K12, K21, K22 = (np.reshape(block, (3, 3)) for block in blocks)
    return np.block([[K11, K12], [K21, K22]])


@BOTH
@pytest.mark.parametrize("size", SIZES)
def test_derivative_of_the_retraction_in_the_reference(size, retraction):
    """The matrices that this file rests on are themselves derivatives of x."""
    G, T, _ = link(1, size)
    D = by_complex_steps(lambda zeta: twist_and_derivative(G, moved(T, zeta), retraction)[0])
    np.testing.assert_allclose(twist_and_derivative(G, T, retraction)[1], D, rtol=0, atol=1e-12 * np.abs(D).max())


@BOTH
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(4))
def test_stiffness_is_the_derivative_of_the_momentum(seed, size, retraction):
    G, T, w = link(seed, size)
    K = stiffness_of(w, CODES[retraction], True)
    exact = by_complex_steps(lambda zeta: momentum(G, moved(T, zeta), retraction))
    np.testing.assert_allclose(K, exact, rtol=0, atol=1e-12 * np.abs(exact).max())


@pytest.mark.parametrize("seed", range(4))
def test_stiffness_to_second_order_errs_by_the_cube_of_the_motion(seed):
    def both(size):
        _, _, w = link(seed, size)
        return [stiffness_of(w, stiffness.EXP, exact) for exact in (True, False)]

    errors = [np.abs(np.subtract(*both(size))).max() for size in (0.08, 0.04, 0.02, 0.01)]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 3, atol=0.15)
    exact, rough = both(1e-7)
    np.testing.assert_allclose(rough, exact, rtol=0, atol=1e-14 * np.abs(exact).max())


@pytest.mark.parametrize("exact", [True, False])
def test_no_retraction_is_split(exact):
    _, _, w = link(5, 0.3)
    expected = stiffness_of(w, stiffness.SPLIT, True)
    np.testing.assert_array_equal(stiffness_of(w, None, exact), expected)
