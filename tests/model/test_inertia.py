import numpy as np
import pytest

from leastaction.errors import ModelError
from leastaction.model import Inertia
from leastaction.model.arrays import about, rotation_matrix


def sampled(points, weights):
    """Mass, com and inertia about the com of point masses."""
    mass = weights.sum()
    com = weights @ points / mass
    d = points - com
    matrix = np.einsum("n,n,ij->ij", weights, (d * d).sum(1), np.eye(3)) - np.einsum("n,ni,nj->ij", weights, d, d)
    return mass, com, matrix


def grid(inside, half, cells=60):
    """Points of a regular grid over a box that lie inside a solid."""
    axes = [(np.arange(cells) + 0.5) / cells * 2 * h - h for h in half]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    return points[inside(points)]


def cap_distance(points):
    """Distance from the segment between (0, 0, -0.3) and (0, 0, 0.3)."""
    return np.linalg.norm(points - np.clip(points[:, 2:], -0.3, 0.3) * [0, 0, 1], axis=1)


@pytest.mark.parametrize(
    ("shape", "inside", "half"),
    [
        (Inertia.box(2.0, (0.2, 0.4, 0.6)), lambda p: p[:, 0] < 1, (0.1, 0.2, 0.3)),
        (Inertia.sphere(2.0, 0.3), lambda p: (p * p).sum(1) < 0.09, (0.3,) * 3),
        (Inertia.cylinder(2.0, 0.2, 0.6), lambda p: np.hypot(p[:, 0], p[:, 1]) < 0.2, (0.2, 0.2, 0.3)),
        (Inertia.capsule(2.0, 0.2, 0.6), lambda p: cap_distance(p) < 0.2, (0.2, 0.2, 0.5)),
    ],
    ids=["box", "sphere", "cylinder", "capsule"],
)
def test_solids_match_a_sum_over_grid_points(shape, inside, half):
    points = grid(inside, half)
    _, com, matrix = sampled(points, np.full(len(points), 2.0 / len(points)))
    np.testing.assert_allclose(com, shape.com, atol=1e-12)
    np.testing.assert_allclose(shape.matrix, matrix, rtol=4e-3, atol=1e-12)


def test_axis_turns_a_solid_of_revolution():
    quaternion = about((1, 2, -1), 0.8)
    axis = 3 * rotation_matrix(quaternion) @ [0, 0, 1]
    for make in (Inertia.cylinder, Inertia.capsule):
        turned = make(2.0, 0.1, 0.7).moved(quaternion=quaternion)
        np.testing.assert_allclose(make(2.0, 0.1, 0.7, axis=axis).matrix, turned.matrix, atol=1e-15)
    np.testing.assert_allclose(Inertia.rod(3.0, 2.0, (1, 0, 0)).matrix, np.diag([0, 1, 1]))


def test_thin_capsule_is_a_rod_and_short_one_a_sphere():
    np.testing.assert_allclose(Inertia.capsule(2, 0, 0.7).matrix, Inertia.rod(2, 0.7).matrix)
    np.testing.assert_allclose(Inertia.capsule(2, 0.3, 0).matrix, Inertia.sphere(2, 0.3).matrix)


def test_moved_and_added_match_point_masses():
    rng = np.random.default_rng(3)
    points, weights = rng.normal(size=(9, 3)), rng.uniform(0.5, 2, 9)
    quaternion, position = about((1, -2, 0.5), 1.1), np.array([0.3, -0.7, 0.2])
    first, second = (Inertia(*sampled(points[part], weights[part])) for part in (slice(4), slice(4, 9)))
    whole = (first + second).moved(position, quaternion)
    mass, com, matrix = sampled(points @ rotation_matrix(quaternion).T + position, weights)
    assert whole.mass == pytest.approx(mass)
    np.testing.assert_allclose(whole.com, com, atol=1e-14)
    np.testing.assert_allclose(whole.matrix, matrix, atol=1e-13)


def test_matrix_about_origin_is_that_of_a_compound_pendulum():
    rod = Inertia.rod(3.0, 2.0, axis=(0, 0, 1), com=(0, 0, -1.0))
    np.testing.assert_allclose(rod.matrix_about_origin, np.diag([4.0, 4.0, 0.0]))


def test_massless_inertias_add():
    total = Inertia(0.0, (1, 0, 0), np.eye(3)) + Inertia(0.0, (0, 2, 0))
    assert total.mass == 0
    np.testing.assert_array_equal(total.matrix, np.eye(3))
    with pytest.raises(ModelError, match="masses cancel"):
        Inertia(1.0, (1, 0, 0)) + Inertia(-1.0)


def test_arrays_are_copies_and_read_only():
    com = np.zeros(3)
    inertia = Inertia(1, com)
    com[0] = 5
    assert inertia.com[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        inertia.matrix[0, 0] = 1.0


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Inertia("1,5kg"), "the mass of an inertia must be a number, not '1,5kg'"),
        (lambda: Inertia.sphere("1,5kg", 1), "the mass of an inertia must be a number, not '1,5kg'"),
        (lambda: Inertia(1, (0, 0)), r"the com of an inertia must be numbers of shape \(3,\), not \(0, 0\)"),
        (lambda: Inertia(1, matrix=(1, 2, 3)), r"the matrix of an inertia must be numbers of shape \(3, 3\)"),
        (lambda: Inertia.sphere(1, -2), "the sphere radius must be finite and not negative, not -2"),
        (lambda: Inertia.rod(1, float("nan")), "the rod length must be finite and not negative, not nan"),
        (lambda: Inertia.rod(1, 1, (0, 0, 0)), "the axis of an inertia must have a direction"),
    ],
)
def test_what_is_not_numbers_is_refused(make, text):
    with pytest.raises(ModelError, match=text):
        make()
