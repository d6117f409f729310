"""What is no real number, or no number that can be meant, is refused in a sentence before anything is computed."""

import copy
import gc
import pickle
import re
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

import leastaction as la
from leastaction.arguments import all_finite, copied_row

pendulum = la.library.pendulum
COMPLEX, DATES = np.array([1j]), np.array(["2026-11-01"], dtype="datetime64[s]")
MASKED = np.ma.masked_array([1.0], mask=[True])


@pytest.mark.parametrize(("value", "meant"), [
    (COMPLEX, "complex numbers"), ([1 + 0j], "complex numbers"), (MASKED, "a masked array: fill its gaps"),
    ([np.ma.masked], "a masked array"), (DATES, "dates"), (DATES - DATES, "durations"), (["1.0"], "text"),
    ([None], r"\[None\]"), ([10**400], r"\[1000"), ([[1.0], [1.0, 2.0]], r"\[\[1.0\], \[1.0, 2.0\]\]"),
])
@pytest.mark.parametrize("use", [
    lambda value: la.simulate(pendulum(), value, steps=1), lambda value: la.simulate(pendulum(), None, value, steps=1),
    lambda value: la.simulate(pendulum(), steps=1, control=value),
    lambda value: la.simulate(pendulum(), steps=1, control=lambda t, q, v: value),
    lambda value: la.Simulator(pendulum()).step(1, value), lambda value: setattr(pendulum(), "q0", value),
    lambda value: la.forward_dynamics(pendulum(), None, None, value),
    lambda value: la.increment(pendulum(), [0.0], value),
], ids=["q", "v", "control", "function", "tau", "q0", "dynamics", "increment"])
def test_arrays_that_are_no_real_numbers(use, value, meant):
    with pytest.raises(ValueError, match=f"must be .*numbers, not {meant}"):
        use(value)


@pytest.mark.parametrize("use", [
    lambda x: la.Model(gravity=x), lambda x: la.Inertia(1.0, com=x), lambda x: la.Model().add_body("a", position=x),
], ids=["gravity", "com", "position"])
@pytest.mark.parametrize("value", [[1j, 0, 0], np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0]), ["1", "2", "3"]])
def test_models_of_no_real_numbers(use, value):
    with pytest.raises(la.ModelError, match=r"must be numbers of shape \(3,\), not (complex|a masked|text)"):
        use(value)


def test_joints_of_complex_numbers():
    model = la.Model()
    model.add_body("a", joint=la.Revolute(axis=(0, 1j, 0)), inertia=la.Inertia.sphere(1.0, 0.1))
    with pytest.raises(la.ModelError, match="axis must be three numbers"):
        model.validate()


@pytest.mark.parametrize("options", [
    {"gravity": [[0, 0, 1j]]}, {"mass": np.ma.masked_array([[1.0]], mask=[[1]])}, {"q": [[1j]]},
    {"v": np.ma.masked_array([[1.0]], mask=[[1]])},
], ids=["gravity", "mass", "q", "v"])
def test_members_of_no_real_numbers(options):
    with pytest.raises(ValueError, match=r"must be .*numbers, not (complex|a masked)"):
        la.simulate_many(pendulum(), steps=1, **options)


@pytest.mark.parametrize("value", [[Fraction(1, 2)], [np.float32(0.5)], np.array([0.5], dtype=np.longdouble), (0.5,)])
def test_other_real_numbers_are_taken(value):
    assert la.simulate(pendulum(), value, steps=1).q[0, 0] == 0.5


BAD = ["x", None, 1j, [1e-3], True, np.nan, np.datetime64("2026"), 10**400, b"1", object]


@pytest.mark.parametrize("value", BAD, ids=map(str, range(len(BAD))))
@pytest.mark.parametrize(("name", "use"), [
    ("dt", lambda x: la.simulate(pendulum(), dt=x, steps=1)), ("dt", lambda x: la.Simulator(pendulum(), dt=x)),
    ("tol", lambda x: la.Newton(tol=x)), ("h", lambda x: la.variational_step(pendulum(), [0.0], [0.0], x)),
    ("dt", lambda x: la.discrete_residual(pendulum(), [0.0], [0.0], [0.0], x)),
    ("t", lambda x: la.simulate(pendulum(), steps=1).at(x)),
    ("duration", lambda x: la.simulate(pendulum(), duration="" if x is None else x)),
])
def test_wrong_numbers(name, use, value):
    with pytest.raises(ValueError, match=rf"{name} must be "):
        use(value)


@pytest.mark.parametrize("value", [*BAD, 1.0, 2**63, 2**64, -1], ids=map(str, range(len(BAD) + 4)))
@pytest.mark.parametrize(("name", "use"), [
    ("record_every", lambda x: la.simulate(pendulum(), steps=1, record_every=x)),
    ("steps", lambda x: la.simulate(pendulum(), steps="" if x is None else x)),
    ("max_iterations", lambda x: la.Newton(max_iterations=x)),
    ("max_substeps", lambda x: la.Rescue(max_substeps=x)),
    ("n", lambda x: la.Simulator(pendulum()).step(x)),
    ("threads", lambda x: la.simulate_many(pendulum(), [[0.0]], steps=1, threads="" if x is None else x)),
    ("number of links", lambda x: la.library.chain(x)), ("depth", lambda x: la.library.tree(x)),
])
def test_wrong_whole_numbers(name, use, value):
    with pytest.raises(ValueError, match=rf"{name} must be (a whole number of at least|at most [\d,]+, not)") as caught:
        use(value)
    assert len(str(caught.value)) < 200


def test_wrong_models_flags_and_durations():
    with pytest.raises(TypeError, match=r"model must be a leastaction.Model, not 'chain:10'; .*find_model"):
        la.simulate("chain:10", steps=1)
    with pytest.raises(ValueError, match=r"rescue must be la.Rescue\(...\) or None, not True"):
        la.Variational(rescue=True)
    with pytest.raises(ValueError, match="chord must be True or False, not 'no'"):
        la.Newton(chord="no")
    with pytest.raises(ValueError, match=r"order must be one of 2, 4, 6, 8, not \[2\]"):
        la.Variational(order=[2])
    with pytest.raises(ValueError, match=r"duration 1e\+300 s is more than .* steps"):
        la.simulate(pendulum(), duration=1e300)


@pytest.mark.parametrize("name", [
    "chain:10000000000", "chain:1e10", "chain:1000001", "paper_chain:99999999", "tree:100", "tree:20",
    "chain:" + "9" * 5000, "tree:" + "9" * 5000,
])
def test_models_beyond_the_limit(name):
    with pytest.raises(la.ModelError, match="1,000,000") as caught:
        la.find_model(name)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("integrator", ["variational", "euler", "rk4", "dop853"])
def test_a_simulator_of_an_edited_model_stops(integrator):
    model = la.library.chain(3)
    sim = la.Simulator(model, integrator=integrator)
    sim.step(5)
    model.gravity = (0, 0, 0)
    for use in (sim.step, lambda: sim.checkpoint("never.h5")):
        with pytest.raises(la.ModelError, match=r"'chain' was changed while it was being simulated: make a new Simul"):
            use()
    assert sim.steps == 5
    model.q0 = model.q0 + 0.1  # where a run begins is not of what it is made
    la.Simulator(model).step(5)


@pytest.mark.parametrize("copied", [lambda sim: pickle.loads(pickle.dumps(sim)), copy.deepcopy, copy.copy])
def test_a_copied_simulator_goes_on_by_itself(copied):
    sim = la.Simulator(la.library.chain(3))
    for steps in (0, 5):
        sim.step(steps)
        twin = copied(sim)
        twin.step(5)
        assert (sim.steps, twin.steps) == (steps, steps + 5)
    sim.step(5)
    np.testing.assert_array_equal(sim.q, twin.q)
    assert sim.energy == twin.energy


@pytest.mark.parametrize("run", [la.simulate, lambda model, **options: la.simulate_many(model, [[1.0]], **options)])
def test_a_control_that_edits_the_model_ends_the_run(run):
    model = pendulum()

    def edit(t, q, v):
        if t > 0.0055:
            model.add_body("more", "link1")
        return 0.0 * v

    with pytest.raises(la.ModelError, match="was changed while it was being simulated"):
        run(model, dt=1e-3, steps=20, control=edit)


@pytest.mark.parametrize("name", ["control", "wrench"])
@pytest.mark.parametrize("since", [-1.0, 0.0055])
def test_a_function_that_returns_nothing_is_no_force_of_zero(name, since):
    def forgetful(t, q, v):
        if t < since:
            return 0.0 * v if name == "control" else np.zeros((1, 6))

    with pytest.raises(ValueError, match=f"what {name} returns must be real numbers, not None"):
        la.simulate(pendulum(), dt=1e-3, steps=10, **{name: forgetful})


def slider():
    model = la.Model(name="slider")
    model.add_body("cart", joint=la.Prismatic((0, 0, 1)), inertia=la.Inertia.sphere(1.0, 0.1))
    return model


@pytest.mark.parametrize("integrator", ["variational", "euler", "rk4", "dop853"])
@pytest.mark.parametrize(("q", "v", "named"), [
    ([0.0], [1e200], "v is 1e+200 at body 'cart'"), ([1e308], [0.0], "q is 1e+308 at body 'cart'"),
])
def test_a_state_whose_energy_is_no_number_is_refused(q, v, named, integrator):
    for use in (la.simulate, la.Simulator):
        options = {"steps": 3} if use is la.simulate else {}
        with pytest.raises(ValueError, match=r"beyond the range of numbers: " + re.escape(named)):
            use(slider(), q, v, integrator=integrator, **options)
    with pytest.raises(ValueError, match=r"member 1: the energy .*" + re.escape(named)):
        la.simulate_many(slider(), [[0.0], q], [[0.0], v], threads=1, integrator=integrator, steps=3)


@pytest.mark.parametrize("integrator", [
    "variational", "euler", "rk4", la.Variational(order=4), la.Variational(root_finder=la.RIQN()),
    la.Variational(rescue=None), la.Variational(root_finder=la.peers.DenseNewton()),
], ids=["variational", "euler", "rk4", "order 4", "riqn", "no rescue", "dense"])
@pytest.mark.parametrize("force", [1e153, 1e157, 1e160])
def test_a_run_whose_energy_overflows_ends_before(integrator, force):
    """The numbers q and v would stay finite for long, but no result may hold an infinite energy."""
    control = np.zeros((40, 1))
    control[10:] = force
    options = {"dt": 1e-3, "steps": 40, "integrator": integrator, "record_every": 3}
    alone = la.simulate(slider(), control=control, on_failure="truncate", **options)
    many = la.simulate_many(slider(), np.zeros((5, 1)), control=[None, control, control, None, None], **options)
    for run in (alone, many, *many):
        for name in ("q", "v", "p", "energy", "momentum", "residual"):
            assert np.isfinite(getattr(run, name)).all(), name
    for run in (alone, *many):
        assert np.isfinite(run.energy_range).all() and np.isfinite(run.momentum_range).all()
    assert (alone.failure is not None) == bool(many.failed[1]) == bool(many.failed[2])
    assert force < 1e160 or "finite" in alone.failure.status
    assert not many.failed[[0, 3, 4]].any() and (many.steps[[0, 3, 4]] == 40).all()


@pytest.mark.parametrize("ask", [la.energy, la.momentum, la.mass_matrix, la.poses])
def test_answers_beyond_the_range_of_numbers_are_refused(ask):
    model = la.Model()
    model.add_body("a", joint=la.Prismatic((1, 0, 0)), inertia=la.Inertia.sphere(1.0, 0.1))
    model.add_body("b", "a", la.Revolute((0, 1, 0)), (1.0, 0, 0), inertia=la.Inertia(1e300, (0, 0, -1e5)))
    model.add_body("c", "b", la.Prismatic((1, 0, 0)), (1e308, 0, 0), inertia=la.Inertia.sphere(1.0, 0.1))
    q, v = [0.0, 0.0, 1e308], [1e200, 1e200, 0.0]
    with pytest.raises(ValueError, match="beyond the range of numbers"):
        ask(model, q) if ask in (la.mass_matrix, la.poses) else ask(model, q, v)


def test_a_run_too_long_for_memory_says_so():
    with pytest.raises(MemoryError, match=r"nodes of 1 runs do not fit in memory: .*record_every.* out"):
        la.simulate(pendulum(), steps=2**50)
    assert la.simulate(pendulum(), steps=3, record_every=2**50).steps == 3


def traced(run):
    """Bytes that are held after a run, and at most meanwhile."""
    run()
    gc.collect()
    tracemalloc.start()
    kept = run()
    held, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept is not None
    return held, most


def test_memory_follows_record_every():
    """A run of 300,000 steps that keeps 300 nodes: 32 bytes a step would be 9.6 MB."""
    held, most = traced(lambda: la.simulate(pendulum(), dt=1e-3, steps=300_000, record_every=1000, progress=False))
    assert held < 1e6 and most < 6e6
    q = np.linspace(0.1, 1.0, 12)[:, None]
    held, _ = traced(lambda: la.simulate_many(pendulum(), q, dt=1e-3, steps=20_000, record_every=1000, threads=1))
    assert held < 1e6  # 32 bytes a step and member would be 7.7 MB


@pytest.mark.parametrize("size", [1, 3, 39, 41, 200])
def test_finite_numbers_are_told_from_others_however_many_and_large(size):
    large = np.full(size, 1.7e308)  # whose sum overflows
    assert all_finite(large) and all_finite(large.reshape(1, size)) and all_finite(np.zeros((size, 0)))
    assert np.array_equal(copied_row(large, size), large) and copied_row(large, size + 1) is None
    for bad in (np.nan, np.inf, -np.inf):
        for at in {0, size - 1}:
            numbers = np.ones(size)
            numbers[at] = bad
            assert not all_finite(numbers) and not all_finite(numbers[:, None]) and copied_row(numbers, size) is None


def test_only_rows_of_floats_are_copied_without_a_closer_look():
    row = np.arange(6.0)
    assert copied_row(row, 6) is not row
    assert np.array_equal(copied_row(row[::2], 3), row[::2]) and copied_row(row[::2], 3).flags.c_contiguous
    for other in (row.tolist(), row.astype(np.float32), row.astype(">f8"), row.reshape(2, 3), np.ma.array(row), None):
        assert copied_row(other, 6) is None
