"""Loops at a configuration: rows against joints in the tree, Jacobians, mobility, and states that are assembled."""

import pickle

import numpy as np
import pytest

import leastaction as la
from leastaction.closures import opening, values
from leastaction.compiled import compile_model
from reference.mechanisms import Y, Z, bricard, floating_loop, four_bar, gear_train, ladder, rod
from reference.trees import random_coordinates, random_inertia, random_joint, random_quaternion

CLOSURES = (la.Ball, la.Fixed, la.Revolute, la.Prismatic, la.Universal, la.Cylindrical, la.Planar)
MECHANISMS = {
    "four-bar": four_bar, "rod": lambda: four_bar(la.Rod(0.3)), "floating": floating_loop, "gears": gear_train,
    "floating, hinge": lambda: floating_loop(la.Revolute(Y)), "ladder": lambda: ladder(3), "bricard": bricard,
}


def doubled(rng, kind, on_ground):
    """A body on a joint, and the same joint once more as a loop, between frames that are not the bodies' own."""
    model, joint = la.Model(), random_joint(rng, kind, False)
    position, quaternion = rng.normal(size=3), random_quaternion(rng)
    model.add_body("base", None, la.Free(), inertia=random_inertia(rng))
    model.add_body("plate", "base", la.Fixed(), rng.normal(size=3), random_quaternion(rng), random_inertia(rng))
    parent = None if on_ground else "plate"
    model.add_body("a", parent, joint, position, quaternion, random_inertia(rng))
    model.add_body("b", "a", la.Revolute(Z), inertia=random_inertia(rng))
    model.add_loop("again", "a", parent, joint=joint, other_position=position, other_quaternion=quaternion)
    return model


@pytest.mark.parametrize("on_ground", [True, False])
@pytest.mark.parametrize("kind", [kind for kind in CLOSURES if kind is not la.Fixed])
def test_a_joint_in_the_tree_closes_the_same_joint_as_a_loop(kind, on_ground):
    rng = np.random.default_rng(3)
    for _ in range(5):
        model = doubled(rng, kind, on_ground)
        q = np.concatenate([random_coordinates(rng, body.joint) for body in model.bodies])
        assert la.closure(model, q).max() < 1e-14
        assert np.abs(la.constraint_jacobian(model, q)).max() < 1e-14


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", CLOSURES)
def test_a_free_body_in_a_loop_moves_as_on_that_joint(kind, reverse):
    """The rows of a loop take away just the degrees of freedom that its joint does, whichever end is on the ground."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        joint = random_joint(rng, kind, False)
        model = la.Model(gravity=(0, 0, 0))
        model.add_body("slab", None, la.Fixed(), rng.normal(size=3), random_quaternion(rng))
        model.add_body("body", None, la.Free(), inertia=random_inertia(rng))
        ends = ("slab", "body") if reverse else ("body", "slab")
        model.add_loop("l", *ends, joint=joint, position=rng.normal(size=3), quaternion=random_quaternion(rng, 0.3),
                       other_position=rng.normal(size=3), other_quaternion=random_quaternion(rng, 0.3))
        q, v = la.assemble(model, None, rng.normal(size=6))
        assert model.mobility(q) == joint.nv
        assert len(la.constraint_jacobian(model, q)) == 6 - joint.nv
        assert on_the_joint(model, joint, q) < 1e-12
        later = la.increment(model, q, 1e-4 * v)
        assert on_the_joint(model, joint, later) < 1e-6, "the velocity leads along the joint"


def on_the_joint(model, joint, q):
    """How far the frames of the loop are from a pose that the joint can have: by matrices, with no row in sight."""
    loop, world = model.loops[0], la.poses(model, q)
    ends = []
    for name, position, quaternion in ((loop.other, loop.other_position, loop.other_quaternion),
                                       (loop.body, loop.position, loop.quaternion)):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = rotation(quaternion), position
        ends.append(world[model.names.index(name)] @ T)
    T = np.linalg.inv(ends[0]) @ ends[1]
    R, p = T[:3, :3], T[:3, 3]
    axis = {la.Universal: "axis1"}.get(type(joint), "axis")
    z = np.array(Z if isinstance(joint, la.Ball) else getattr(joint, axis, Z))
    z = z / np.linalg.norm(z)
    if isinstance(joint, la.Planar):
        z = np.cross(joint.axis1, joint.axis2)
        z /= np.linalg.norm(z)
    across = p - z * (z @ p)
    off = {
        la.Ball: [p], la.Fixed: [p, R - np.eye(3)], la.Revolute: [p, R @ z - z], la.Cylindrical: [across, R @ z - z],
        la.Prismatic: [across, R - np.eye(3)], la.Planar: [z @ p, R @ z - z],
    }
    if isinstance(joint, la.Universal):
        second = np.array(joint.axis2) / np.linalg.norm(joint.axis2)
        return max(np.abs(p).max(), abs(z @ R @ second - z @ second))
    return max(np.abs(part).max() for part in off[type(joint)])


def rotation(quaternion):
    w, x, y, z = quaternion
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * K + 2 * K @ K


@pytest.mark.parametrize("make", MECHANISMS.values(), ids=MECHANISMS)
def test_jacobian_and_rates(make):
    """A against differences of the rows, and the rates in linear time against A v."""
    rng, model = np.random.default_rng(5), make()
    c = compile_model(model)
    q = la.increment(model, model.q0, 0.3 * rng.normal(size=model.nv))
    A, h = la.constraint_jacobian(model, q), 1e-5
    for j, unit in enumerate(np.eye(model.nv)):
        forth, back = (values(c, la.increment(model, q, sign * h * unit)) for sign in (1, -1))
        np.testing.assert_allclose(A[:, j], (forth - back) / (2 * h), atol=2e-9)
    v = rng.normal(size=model.nv)
    g, rates = opening(c, q, v)
    np.testing.assert_allclose(rates, A @ v, atol=1e-13)
    np.testing.assert_array_equal(g, values(c, q))


@pytest.mark.parametrize("make", MECHANISMS.values(), ids=MECHANISMS)
def test_assembled_states_are_closed(make):
    rng, model = np.random.default_rng(6), make()
    q = la.increment(model, model.q0, 0.1 * rng.normal(size=model.nv))
    q, v = la.assemble(model, q, rng.normal(size=model.nv))
    assert la.closure(model, q).max() < 1e-13
    assert np.abs(la.constraint_jacobian(model, q) @ v).max() < 1e-12
    again, same = la.assemble(model, q, v)
    np.testing.assert_allclose(again, q, atol=1e-12)
    np.testing.assert_allclose(same, v, atol=1e-12)


def test_the_velocity_is_the_nearest():
    """What is added to the velocity is M⁻¹ Aᵀ μ: no closed velocity is nearer in the metric of M."""
    rng, model = np.random.default_rng(7), floating_loop()
    v = rng.normal(size=model.nv)
    q, nearest = la.assemble(model, model.q0, v)
    A, push = la.constraint_jacobian(model, q), la.mass_matrix(model, q) @ (nearest - v)
    mu = np.linalg.lstsq(A.T, push, rcond=None)[0]
    np.testing.assert_allclose(A.T @ mu, push, atol=1e-12)


def test_a_nearly_singular_velocity_is_closed_to_round_off():
    """Beside a flat position one projection leaves round-off over the smallest singular value."""
    model = four_bar(lengths=(1.0, 2.0, 1.0), base=2.0)
    for crank in (1e-3, 1e-4, 1e-5):
        q, v = la.assemble(model, (crank, -crank, crank), (1.0, -1.3, 0.8))
        assert np.abs(la.constraint_jacobian(model, q) @ v).max() < 1e-14


@pytest.mark.parametrize("crank", [0.3, 1.2, 2.5, 4.0])
def test_four_bar_by_its_triangles(crank):
    """The angles of a four-bar whose crank is held, by the intersection of two circles."""
    model = four_bar()
    guess = model.q0
    for angle in np.linspace(guess[0], crank, 12):  # along the same branch
        guess[0] = angle
        guess, v = la.assemble(model, guess, (1.0, 0.0, 0.0), keep="crank")
    tip = np.array([np.cos(crank), np.sin(crank)])
    way = np.array([2.2, 0.0]) - tip
    far = np.linalg.norm(way)
    inner = np.arccos((far**2 + 2.0**2 - 1.5**2) / (2 * far * 2.0))
    coupler = np.arctan2(way[1], way[0]) + inner
    rocker = np.arctan2(*(tip + 2.0 * np.array([np.cos(coupler), np.sin(coupler)]) - [2.2, 0.0])[::-1])
    turned = np.array([guess[0], guess[0] + guess[1], guess[2]]) - [crank, coupler, rocker]
    np.testing.assert_allclose(np.exp(1j * turned), 1.0, atol=1e-13)
    assert guess[0] == crank and v[0] == 1.0
    slope = (np.sin(coupler - crank)) / (1.5 * np.sin(coupler - rocker))
    assert v[2] == pytest.approx(slope, rel=1e-12)


def test_links_that_are_too_short():
    model = la.Model(name="short")
    model.add_body("a", None, la.Revolute(Z), inertia=rod(1.0))
    model.add_body("b", None, la.Revolute(Z), (5, 0, 0), inertia=rod(1.5))
    model.add_loop("tips", "a", "b", joint=la.Ball(), position=(1, 0, 0), other_position=(1.5, 0, 0))
    with pytest.raises(la.AssemblyError, match=r"short cannot be assembled from there: loop 'tips' stays open by 2.5 m"
                       ) as error:
        la.assemble(model, (0.3, 2.5))
    assert error.value.loop == "tips" and error.value.distance == pytest.approx(2.5, rel=1e-4)
    assert isinstance(error.value, la.ModelError)
    copy = pickle.loads(pickle.dumps(error.value))
    assert (str(copy), copy.loop, copy.distance) == (str(error.value), "tips", error.value.distance)


def test_a_rod_tells_its_distance():
    model = la.Model(name="tied")
    model.add_body("ball", None, la.Free(), inertia=la.Inertia.sphere(1.0, 0.1))
    model.add_loop("rod", "ball", joint=la.Rod(1.5))
    for distance in (0.0, 1e-3, 0.5, 1.5, 5.0):
        gap = la.closure(model, (0.6 * distance, 0.8 * distance, 0, 1, 0, 0, 0))[0]
        assert gap == pytest.approx(abs(distance - 1.5), abs=1e-12)
    with pytest.raises(la.AssemblyError, match=r"loop 'rod' stays open by 1.5 m. A rod whose ends coincide has no dir"):
        la.assemble(model)


def test_kept_joints_may_be_too_many():
    model = four_bar()
    with pytest.raises(la.AssemblyError, match="with the joints that keep= names held: loop 'pin' stays open by"):
        la.assemble(model, (1.2, -0.9, 1.6), keep=("crank", "rocker"))
    with pytest.raises(la.AssemblyError, match="no velocity of the other joints suits those that keep= names"):
        la.assemble(model, model.q0, (1.0, 1.0, 1.0), keep=("crank", "rocker"))
    with pytest.raises(ValueError, match="keep= names every joint"):
        la.assemble(model, keep=model.names)
    with pytest.raises(la.ModelError, match="no body 'cranc'"):
        la.assemble(model, keep="cranc")
    for keep in (None, 0, [0]):
        with pytest.raises(ValueError, match="keep must be names of joints, such as keep='crank', not"):
            la.assemble(model, keep=keep)


@pytest.mark.parametrize("joint", [la.Revolute(Z), la.Fixed(), la.Cylindrical(Z), la.Planar((1, 0, 0), Y),
                                   la.Prismatic(Z)], ids=lambda joint: type(joint).__name__)
def test_the_wrong_way_round(joint):
    """Axes that point against each other satisfy the rows, and a weld turned by 180° does: they are not closed."""
    model = la.Model()
    model.add_body("box", None, la.Free(), inertia=la.Inertia.box(1.0, (0.1, 0.2, 0.3)))
    model.add_loop("hinge", "box", joint=joint)
    turned = np.array([0.01, 0, 0, 0.05, 1.0, 0.02, 0.0])
    turned[3:] /= np.linalg.norm(turned[3:])
    with pytest.raises(la.AssemblyError, match="loop 'hinge' would close with its two ends turned against each other"):
        la.assemble(model, turned)
    q, _ = la.assemble(model, (0.01, 0, 0, *np.array([1.0, 0.3, 0.2, 0.1]) / np.sqrt(1.14)))
    assert la.closure(model, q).max() < 1e-13


@pytest.mark.parametrize(("make", "mobility", "rows"), [
    (four_bar, 1, 5), (lambda: four_bar(la.Rod(0.3)), 2, 1), (bricard, 1, 5), (gear_train, 1, 2),
    (floating_loop, 13, 3), (lambda: ladder(5), 1, 25),
])
def test_mobility(make, mobility, rows):
    model = make()
    assert model.mobility() == model.mobility(model.q0) == mobility
    assert la.constraint_jacobian(model).shape == (rows, model.nv)


def test_a_flat_parallelogram_gains_a_degree_of_freedom():
    model = four_bar(lengths=(1.0, 2.0, 1.0), base=2.0)
    assert model.mobility((0.5, -0.5, 0.5)) == 1
    assert model.mobility((0.0, 0.0, 0.0)) == 2


def test_far_from_the_origin():
    """A loop in a tree that has drifted away is told to the last digit, as if it were here."""
    model = floating_loop()
    q = la.increment(model, model.q0, 1e-3 * np.random.default_rng(8).normal(size=model.nv))
    away = q.copy()
    away[:3] += (1e9, -1e8, 1e7)
    c = compile_model(model)
    np.testing.assert_array_equal(values(c, away), values(c, q))


def test_numbers_that_are_none():
    model = four_bar()
    with pytest.raises(ValueError, match="q is not finite at body 'crank'"):
        la.assemble(model, (np.nan, 0, 0))
    with pytest.raises(ValueError, match=r"v must have the shape \(3,\)"):
        la.assemble(model, None, (1.0,))
