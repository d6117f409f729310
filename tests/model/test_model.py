import numpy as np
import pytest

from leastaction.errors import ModelError
from leastaction.model import Ball, Fixed, Free, Inertia, Model, Revolute, Universal, merge_fixed
from leastaction.model.arrays import about, product, rotated, rotation_matrix

Y = (0, 1, 0)


def mixed() -> Model:
    model = Model(name="mixed")
    model.add_body("base", joint=Free(), inertia=Inertia.sphere(2.0, 0.1))
    model.add_body("arm", "base", Revolute(Y), inertia=Inertia.sphere(1.0, 0.1))
    model.add_body("tool", "arm", Fixed(), inertia=Inertia(0.5))
    model.add_body("wrist", "tool", Ball())
    model.add_body("finger", "wrist", Universal((1, 0, 0), Y), inertia=Inertia.sphere(0.25, 0.01))
    return model


def test_layout_follows_the_order_added():
    model = mixed()
    assert (model.nb, model.nq, model.nv) == (5, 14, 12)
    assert [model.q_slice(name) for name in model.names] == [
        slice(0, 7), slice(7, 8), slice(8, 8), slice(8, 12), slice(12, 14)
    ]
    assert [model.v_slice(name) for name in model.names] == [
        slice(0, 6), slice(6, 7), slice(7, 7), slice(7, 10), slice(10, 12)
    ]
    assert model.total_mass == 3.75
    assert model.body_index("wrist") == 3
    assert model.parents.tolist() == [-1, 0, 1, 2, 3]


def test_default_state_is_neutral_and_at_rest():
    model = mixed()
    assert model.q0.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    assert not model.v0.any()
    model.q0[7] = 1.0  # a copy: the model keeps its own
    assert model.q0[7] == 0


def test_bodies_added_after_the_state_get_their_neutral_one():
    model = Model()
    model.add_body("a", joint=Revolute(Y))
    model.q0, model.v0 = [0.5], [2.0]
    model.add_body("b", "a", Ball())
    assert model.q0.tolist() == [0.5, 1, 0, 0, 0]
    assert model.v0.tolist() == [2, 0, 0, 0]


def test_parents_may_come_later():
    model = Model()
    for name, parent in [("d", "c"), ("b", "a"), ("c", "b"), ("a", None), ("e", "a")]:
        model.add_body(name, parent, Revolute(Y), inertia=Inertia.sphere(1, 1))
    model.validate()
    order = model.order()
    assert sorted(order) == list(range(5))
    at = {model.names[b]: k for k, b in enumerate(order)}
    assert all(body.parent is None or at[body.parent] < at[body.name] for body in model.bodies)


def test_revision_grows_with_bodies_and_gravity():
    model = Model()
    seen = [model.revision]
    model.add_body("a", joint=Revolute(Y))
    seen.append(model.revision)
    model.gravity = (0, 0, 0)
    seen.append(model.revision)
    assert seen == sorted(set(seen))
    with pytest.raises(ValueError, match="read-only"):
        model.gravity[0] = 1


def test_unknown_body_is_answered_with_the_nearest():
    with pytest.raises(ModelError, match=r"there is no body 'wirst' in mixed; did you mean 'wrist'\?"):
        mixed().q_slice("wirst")
    with pytest.raises(ModelError, match=r"there is no body 'xyz' in mixed$"):
        mixed().body_index("xyz")


def test_a_body_is_found_by_its_joint_too():
    model = Model()
    model.add_body("a", joint=Revolute(Y, name="hinge"))
    model.add_body("b", "a", Revolute(Y, name="a"))
    assert model.q_slice("hinge") == slice(0, 1)
    assert model.q_slice("a") == slice(0, 1)   # the body's name comes first
    with pytest.raises(ModelError, match="there is no body ''"):
        model.body_index("")


def test_text_of_a_model():
    model = mixed()
    assert repr(model) == "<Model 'mixed': 5 bodies, nq = 14, nv = 12, 3.75 kg>"
    assert str(model).splitlines() == [
        repr(model),
        "└─base            free       q[0:7]    2 kg",
        "  └─arm           revolute   q[7]      1 kg",
        "    └─tool        fixed                0.5 kg",
        "      └─wrist     ball       q[8:12]   0 kg",
        "        └─finger  universal  q[12:14]  0.25 kg",
    ]


def test_text_of_a_model_tells_bending_from_torsion():
    model = Model(name="rod")
    model.add_body("rod", joint=Ball((0, 0, 1), stiffness=(20.0, 5.0), name="root"), inertia=Inertia(1.0))
    assert "└─rod  ball 'root', bending 20, torsion 5 N m  q[0:4]  1 kg" in str(model)


def test_large_chain_needs_no_recursion():
    model = Model()
    hinge, link = Revolute(Y), Inertia.sphere(1.0, 0.1)
    for i in range(20_000):
        model.add_body(f"b{i}", f"b{i - 1}" if i else None, hinge, (0, 0, -1), inertia=link)
    model.validate()
    assert model.order() == list(range(20_000))
    assert str(model).splitlines()[-1] == "... and 19940 more"


def test_merging_fixed_joints_sums_inertias_in_the_carrier():
    rng = np.random.default_rng(5)

    def piece():
        a = rng.normal(size=(3, 3))
        return Inertia(rng.uniform(1, 2), rng.normal(size=3), a @ a.T)

    turns = [about(rng.normal(size=3), angle) for angle in (0.4, 1.3, 2.0)]
    shifts = rng.normal(size=(3, 3))
    base, welded, tip, post = (piece() for _ in range(4))
    model = Model()
    model.add_body("tip", "welded", Fixed(), shifts[1], turns[1], tip)
    model.add_body("post", None, Fixed(), shifts[2], turns[2], post)
    model.add_body("base", "post", Revolute(Y), (1, 2, 3), inertia=base)
    model.add_body("welded", "base", Fixed(), shifts[0], turns[0], welded)
    merged = merge_fixed(model)

    assert merged.carrier.tolist() == [2, -1, 2, 2]
    whole = base + (welded + tip.moved(shifts[1], turns[1])).moved(shifts[0], turns[0])
    assert merged.mass.tolist() == pytest.approx([0, 0, whole.mass, 0])
    np.testing.assert_allclose(merged.first_moment[2], whole.mass * whole.com, rtol=1e-12)
    np.testing.assert_allclose(merged.centre[2], whole.com, rtol=1e-12)
    np.testing.assert_allclose(merged.inertia_com[2], whole.matrix, rtol=1e-12)
    assert not merged.inertia_com[[0, 1, 3]].any()
    np.testing.assert_allclose(merged.quaternion[0], product(turns[0], turns[1]))
    np.testing.assert_allclose(merged.position[0], shifts[0] + rotation_matrix(turns[0]) @ shifts[1])
    np.testing.assert_array_equal(merged.quaternion[2], [1, 0, 0, 0])
    np.testing.assert_array_equal(merged.position[2], [0, 0, 0])
    np.testing.assert_allclose(merged.position[1], shifts[2])
    assert merged.ground_mass == post.mass
    np.testing.assert_allclose(merged.ground_first_moment, post.mass * post.moved(shifts[2], turns[2]).com)


def test_quaternion_helpers_agree_with_matrices():
    rng = np.random.default_rng(0)
    a, b, x = about(rng.normal(size=3), 0.7), about(rng.normal(size=3), 2.1), rng.normal(size=3)
    np.testing.assert_allclose(rotation_matrix(product(a, b)), rotation_matrix(a) @ rotation_matrix(b), atol=1e-15)
    np.testing.assert_allclose(rotated(a, x), rotation_matrix(a) @ x, atol=1e-15)
    np.testing.assert_allclose(rotation_matrix(about((0, 0, 1), np.pi / 2)) @ [1, 0, 0], [0, 1, 0], atol=1e-15)
