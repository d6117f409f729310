import numpy as np
import pytest

from leastaction.errors import ModelError
from leastaction.model import Ball, Free, Model, Revolute, library
from leastaction.model.arrays import rotation_matrix


@pytest.mark.parametrize("name", library.BUILTIN)
def test_built_in_models_are_valid_and_start_somewhere(name):
    model = library.by_name(name)
    assert model.name == name
    model.validate(strict=True)
    q, v = model.check_state(model.q0, model.v0)
    assert (q.shape, v.shape) == ((model.nq,), (model.nv,))
    assert np.isfinite(q).all()


def centres_of_mass(model: Model, q: np.ndarray) -> np.ndarray:
    """World centres of mass (nb, 3), by 4x4 products along the tree."""
    pose: dict[str | None, np.ndarray] = {None: np.eye(4)}
    centres = []
    for body in model.bodies:
        placed, moved = np.eye(4), np.eye(4)
        placed[:3, :3], placed[:3, 3] = rotation_matrix(body.quaternion), body.position
        own = q[model.q_slice(body.name)]
        if isinstance(body.joint, Revolute):
            assert body.joint.axis == (0, 1, 0)
            c, s = np.cos(own[0]), np.sin(own[0])
            moved[:3, :3] = [[c, 0, s], [0, 1, 0], [-s, 0, c]]
        else:
            moved[:3, :3] = rotation_matrix(own[-4:])
            if isinstance(body.joint, Free):
                moved[:3, 3] = own[:3]
        pose[body.name] = pose[body.parent] @ placed @ moved
        centres.append((pose[body.name] @ [*body.inertia.com, 1])[:3])
    return np.array(centres)


def test_hard_chain():
    model = library.chain(3)
    assert not model.q0.any() and not model.v0.any()
    np.testing.assert_allclose(centres_of_mass(model, model.q0), [[0.05, 0, 0], [0.15, 0, 0], [0.25, 0, 0]])
    np.testing.assert_allclose(model.bodies[1].inertia.matrix, np.diag([5e-5, 0.01 / 12, 0.01 / 12]))


def test_paper_chain():
    model = library.paper_chain(4, seed=2)
    centres = centres_of_mass(model, np.zeros(4))
    np.testing.assert_allclose(centres, [[0, 0, -0.75 - 1.5 * k] for k in range(4)])
    np.testing.assert_array_equal(model.bodies[3].inertia.matrix, np.eye(3))
    draws = np.random.default_rng(2).uniform(-np.pi / 2, np.pi / 2, 8)
    np.testing.assert_array_equal(model.q0, draws[:4])
    np.testing.assert_array_equal(model.v0, draws[4:])


def test_double_pendulum_starts_at_the_absolute_angles_of_the_reference():
    model = library.double_pendulum()
    first, second = centres_of_mass(model, model.q0)
    assert np.arctan2(-first[0], -first[2]) == pytest.approx(1.0)
    arm = second - first
    assert np.arctan2(-arm[0], -arm[2]) == pytest.approx(1.5)
    assert np.linalg.norm(first) == pytest.approx(1)
    assert np.linalg.norm(arm) == pytest.approx(1)
    assert not model.v0.any()


@pytest.mark.parametrize(("joint", "kind"), [("ball", Ball), ("revolute", Revolute)])
def test_tree_has_its_generations(joint, kind):
    model = library.tree(depth=3, branching=3, joint=joint)
    assert model.nb == 1 + 3 + 9
    assert all(isinstance(body.joint, kind) for body in model.bodies)
    assert sorted(model.parents.tolist()) == [-1] + [0, 0, 0] + [1] * 3 + [2] * 3 + [3] * 3
    centres = centres_of_mass(model, model.q0)
    assert len(np.unique(centres.round(9), axis=0)) == 13
    np.testing.assert_allclose(centres[1:4, :2].sum(0), 0, atol=1e-12)


def test_ragdoll_stands_like_a_person():
    model = library.ragdoll()
    assert model.nb == 15
    assert model.total_mass == pytest.approx(75)
    assert model.nv == 6 + 14 * 3
    centres = centres_of_mass(model, model.q0)
    heights = dict(zip(model.names, centres[:, 2], strict=True))
    assert 0 < heights["left_foot"] < heights["left_shank"] < heights["left_thigh"] < heights["pelvis"]
    assert heights["pelvis"] < heights["chest"] < heights["head"] < 1.75
    left, right = centres[model.body_index("left_hand")], centres[model.body_index("right_hand")]
    np.testing.assert_allclose(left * [1, -1, 1], right, atol=1e-12)
    assert left[1] > 0
    assert np.count_nonzero(model.v0) > 6


def test_spinning_top_is_fast_enough_to_stay_up():
    model = library.spinning_top()
    inertia = model.bodies[0].inertia
    across, axial = inertia.matrix_about_origin[0, 0], inertia.matrix[2, 2]
    assert (axial * model.v0[2]) ** 2 > 4 * across * inertia.mass * 9.81 * inertia.com[2]


def test_by_name_reads_a_size():
    assert library.by_name("chain:7").nb == 7
    assert library.by_name("tree:2").nb == 3


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rope", "there is no built-in model 'rope'; choose from chain, paper_chain, pendulum, double_pendulum"),
        ("chain:ten", "cannot read 'chain:ten'; only chain, paper_chain, tree take a size, a whole number"),
        ("pendulum:2", "cannot read 'pendulum:2'"),
        ("chain:0", "the number of links must be a whole number of at least 1, not 0"),
    ],
)
def test_by_name_says_what_it_knows(name, text):
    with pytest.raises(ModelError, match=text):
        library.by_name(name)


def test_tree_names_its_joints():
    with pytest.raises(ModelError, match="the joint of a tree must be 'ball' or 'revolute', not 'free'"):
        library.tree(joint="free")
