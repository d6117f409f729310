"""What is drawn for a member: a function of the plan and its number, put into the model as the name says."""

import numpy as np
import pytest

import leastaction as la
from leastaction.ensemble.plan import Plan
from reference.mechanisms import four_bar

BODY = la.Inertia(2.0, (0.1, 0.0, -0.3), np.diag([0.1, 0.2, 0.15]))


def arm():
    model = la.Model(name="arm")
    model.add_body("base", None, la.Free(), inertia=BODY)
    model.add_body("upper", "base", la.Ball(name="shoulder", damping=0.5), position=(0, 0, -0.1), inertia=BODY)
    model.add_body("lower", "upper", la.Revolute((0, 1, 0), name="elbow", stiffness=3.0, rest=0.2),
                   position=(0, 0, -0.5), inertia=BODY)
    model.add_body("hand", "lower", la.Universal((1, 0, 0), (0, 1, 0), damping=(0.1, 0.2)), position=(0, 0, -0.5),
                   inertia=BODY)
    model.add_body("frame", "hand")
    return model


def drawn(vary, members=6, seed=3, model=None):
    return la.Ensemble(model or arm(), members, vary, seed=seed, dt=1e-2, steps=2).plan.draw(0, members)


def generator(seed, member):
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(member,)))


def test_numbers_are_drawn_in_the_order_of_the_names():
    found = drawn({"mass:*": la.Normal(relative=0.1), "gravity": la.Uniform((-1, 0, -10), (1, 0, -9)),
                   "damping:elbow": lambda rng: rng.exponential(), "v:elbow": la.Normal(1.0, 0.5)})
    assert [*found.parameters] == ["mass:base", "mass:upper", "mass:lower", "mass:hand", "gravity", "damping:elbow",
                                   "v:elbow"]
    for b in range(6):
        rng = generator(3, b)
        masses = 2.0 + 2.0 * 0.1 * rng.standard_normal(4)
        gravity = np.array([-1.0, 0, -10]) + rng.random(3) * [2.0, 0, 1.0]
        damping, v = rng.exponential(), 1.0 + 0.5 * rng.standard_normal()
        bodies = found.models[b].bodies
        assert [body.inertia.mass for body in bodies[:4]] == masses.tolist()
        assert bodies[4].inertia.mass == 0  # a frame without mass is not matched
        np.testing.assert_array_equal(found.models[b].gravity, gravity)
        assert bodies[2].joint.damping == damping and bodies[2].joint.stiffness == 3.0
        assert found.v[b, 9] == v
        assert found.parameters["mass:lower"][b] == masses[2]


@pytest.mark.parametrize(("of_one", "single"), [
    (la.Normal(relative=[0.1]), la.Normal(relative=0.1)), (la.Normal([1.0], [0.1]), la.Normal(1.0, 0.1)),
    (la.Uniform([1.0], [2.0]), la.Uniform(1.0, 2.0)), (la.Uniform(around=[0.1]), la.Uniform(around=0.1))])
def test_a_list_of_one_number_is_that_number(of_one, single):
    assert of_one == single
    for name in ("mass:hand", "stiffness:elbow"):
        np.testing.assert_array_equal(drawn({name: of_one}).parameters[name], drawn({name: single}).parameters[name])


@pytest.mark.parametrize("first", [0, 1, 5])
def test_a_member_does_not_depend_on_who_is_drawn_with_it(first):
    vary = {"q": la.Normal(std=0.3), "com:hand": la.Normal(std=0.01), "mass:*": la.Uniform(relative=0.2),
            "damping:hand": lambda rng: rng.random(2)}
    plan = la.Ensemble(arm(), 9, vary, dt=1e-2, steps=2).plan
    whole, some = plan.draw(0, 9), plan.draw(first, 3)
    for b in range(3):
        assert some.q[b].tobytes() == whole.q[first + b].tobytes()
        assert some.models[b] == whole.models[first + b]
    for name, values in some.parameters.items():
        assert values.tobytes() == whole.parameters[name][first : first + 3].tobytes()


def test_quaternions_are_turned():
    model = arm()
    model.q0 = la.increment(model, model.q0, 0.3 * np.ones(model.nv))
    found = drawn({"q:shoulder": la.Normal(std=0.2), "q:base": la.Uniform(around=(0.0, 0.0, 0.5, 1.0, 0.0, 0.0))},
                  model=model)
    for b in range(6):
        rng = generator(3, b)
        turn = np.zeros(model.nv)
        turn[6:9] = 0.2 * rng.standard_normal(3)
        turn[:6] = (2 * rng.random(6) - 1) * [0.0, 0.0, 0.5, 1.0, 0.0, 0.0]
        np.testing.assert_allclose(found.q[b], la.increment(model, model.q0, turn), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(found.parameters["q:shoulder"], found.q[:, 7:11])


def test_arrays_are_taken_by_row():
    rest, q = np.arange(6.0), np.tile(arm().q0, (6, 1))
    q[:, 11] = np.arange(6)
    plan = la.Ensemble(arm(), 6, {"rest:elbow": rest, "q": q}, dt=1e-2, steps=2).plan
    found = plan.draw(2, 3)
    assert [model.bodies[2].joint.rest for model in found.models] == [2.0, 3.0, 4.0]
    assert found.q[:, 11].tolist() == [2.0, 3.0, 4.0]


def test_the_model_itself_stays_and_may_change_later():
    model = arm()
    ensemble = la.Ensemble(model, 2, {"mass:hand": la.Normal(relative=0.1)}, dt=1e-2, steps=2)
    model.gravity = (0, 0, 0)
    assert ensemble.model.gravity[2] == -9.81
    assert ensemble.model.bodies[3].inertia.mass == 2.0


@pytest.mark.parametrize(("vary", "said"), [
    ({"mas:hand": la.Normal(std=1)}, "vary has no 'mas' of bodies or joints in 'mas:hand'; there are .*; did you mean "
                                     "'mass'"),
    ({"mass:hend": la.Normal(std=1)}, "'mass:hend' matches nothing of arm that has 'mass', .*; did you mean 'hand'"),
    ({"damping:elbo": la.Normal(std=1)}, "did you mean 'elbow'"),
    ({"damping:frame": la.Normal(std=1)}, "matches nothing of arm that has 'damping', which are 'base', 'shoulder'"),
    ({"mass": la.Normal(std=1)}, "'mass' needs the name of a body or joint: 'mass:\\*' for all, .* 'mass:base'"),
    ({"hand": la.Normal(std=1)}, "vary has no 'hand': give 'q', 'v', 'gravity', or .* 'mass:base' or 'mass:\\*'"),
    ({"friction:elbow": la.Normal(std=1)}, "friction of joints cannot be varied"),
    ({3: la.Normal(std=1)}, "names of vary are text"),
    ({"mass:hand": 2.0}, "is given the number 2.0, which would be the same for all members"),
    ({"mass:hand": [1.0, 2.0]}, r"'mass:hand' must have the shape \(6,\), not \(2,\)"),
    ({"com:hand": np.ones(6)}, r"'com:hand' must have the shape \(6, 3\), not \(6,\)"),
    ({"mass:hand": "5%"}, "'mass:hand' must be Normal"),
    ({"mass:hand": la.Normal}, "'mass:hand' is given Normal without numbers: give Normal"),
    ({"com:hand": la.Normal(std=(1, 2))}, r"std for 'com:hand' must be a number or 3 numbers, not \(1"),
    ({"gravity": la.Normal(-9.81, 0.1)}, "mean for 'gravity' must be 3 numbers, not -9.81"),
    ({"com:hand": la.Uniform(0.1, 0.2)}, "low for 'com:hand' must be 3 numbers, not 0.1"),
    ({"v": la.Normal(relative=0.1)}, "'v' is 0 in arm, and a part of 0 is 0, so that no member would differ"),
    ({"mass:*": la.Normal(std=1), "mass:hand": la.Normal(std=1)}, "'mass:hand' is varied twice, by 'mass:\\*' and"),
    ({"q": la.Normal(std=1), "q:elbow": la.Normal(std=1)}, "'q:elbow' is varied twice, by 'q' and 'q:elbow'"),
    ({"q:elbow": la.Normal(std=1), "q": la.Normal(std=1)}, "'q' is varied twice, by 'q:elbow' and 'q'"),
    ({"q:shoulder": la.Uniform(0, 1)}, "'q:shoulder' has quaternions, so give its std or around"),
    ({"q:shoulder": la.Normal(0.0, 1)}, "mean for 'q:shoulder' must be 4 numbers"),
    ("mass:hand", "vary must be a dict"),
])
def test_names_and_values_that_cannot_be(vary, said):
    with pytest.raises(ValueError, match=said):
        drawn(vary)


@pytest.mark.parametrize(("make", "said"), [
    (lambda: la.Normal(1.0), "Normal needs either std or relative"),
    (lambda: la.Normal(std=1.0, relative=0.1), "Normal needs either std or relative"),
    (lambda: la.Normal(std=-1.0), "must not be negative"),
    (lambda: la.Normal(std=np.inf), "std of Normal must be a finite number"),
    (lambda: la.Normal(std="5%"), "std of Normal must be"),
    (lambda: la.Uniform(1.0), "Uniform needs low and high"),
    (lambda: la.Uniform(1.0, 0.0), "low of Uniform must not be greater"),
    (lambda: la.Uniform(around=-1.0), "range of Uniform must not be negative"),
    (lambda: la.Uniform(0, 1, relative=0.1), "Uniform needs low and high, or around, or relative"),
])
def test_distributions_that_cannot_be(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_a_function_that_returns_the_wrong_shape():
    with pytest.raises(ValueError, match="the function that vary has for 'com:hand' must return 3 numbers"):
        drawn({"com:hand": lambda rng: rng.random(2)})


def test_a_plan_comes_back_from_its_data():
    law, push = (lambda rng: rng.random()), np.ones((2, 5, 6))
    ensemble = la.Ensemble(arm(), 6, {"mass:hand": law, "q:elbow": np.arange(6), "v": la.Normal(std=(0.1,) * 12)},
                           dt=1e-2, steps=2, wrench=push, keep=2, integrator=la.Variational(order=4))
    plan = ensemble.plan
    again = Plan.of(plan.to_dict(), plan.arrays, plan.functions)
    assert again.to_dict() == plan.to_dict()
    assert again.draw(0, 6).v.tobytes() == plan.draw(0, 6).v.tobytes()
    with pytest.raises(ValueError, match="the array for 'wrench' of the plan is damaged"):
        Plan.of(plan.to_dict(), plan.arrays | {"wrench": push + 1}, plan.functions)


def test_digests_of_functions():
    from leastaction.ensemble.functions import digest_of

    def scaled(factor, table):
        return lambda rng, more=1.0: factor * rng.normal() + table[0] * more

    same = digest_of(scaled(2.0, np.ones(3)))
    assert digest_of(scaled(2.0, np.ones(3))) == same
    assert digest_of(scaled(2.5, np.ones(3))) != same
    assert digest_of(scaled(2.0, np.zeros(3))) != same
    assert digest_of(lambda rng: rng.normal()) != digest_of(lambda rng: rng.random())


def test_members_with_loops_start_closed():
    """What is varied by itself stays as it was drawn, and the other joints follow; parameters are what was drawn."""
    model, law = four_bar(), la.Normal(std=0.05)
    alone, whole = drawn({"q:crank": law}, model=model), drawn({"q": law}, model=model)
    for one in (alone, whole):
        for q, v in zip(one.q, one.v, strict=True):
            assert la.closure(model, q).max() < 1e-13
            assert np.abs(la.constraint_jacobian(model, q) @ v).max() < 1e-13
    np.testing.assert_array_equal(alone.q[:, 0], alone.parameters["q:crank"])
    assert la.closure(model, whole.parameters["q"][0]).max() > 1e-3
    both = drawn({"q:crank": law, "q:rocker": law}, model=model)
    assert all(isinstance(error, la.AssemblyError) for error in both.models)
