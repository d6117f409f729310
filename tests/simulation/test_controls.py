"""Control functions: what they raise ends the run, they get copies of the state, and what they return counts."""

import numba
import numpy as np
import pytest

import leastaction as la

MODEL = la.library.chain(3)
INTEGRATORS = [la.Variational(), la.SemiImplicitEuler(), la.RungeKutta4(), la.DormandPrince8(),
               la.Variational(root_finder=la.RIQN())]


def failing(t, q, v):
    if t > 0.0105:
        raise ValueError("sensor lost")
    return -0.5 * v


def dividing(t, q, v):
    return v / (1 // int(t < 0.0105))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda i: type(i).__name__)
@pytest.mark.parametrize(("law", "kind"), [(failing, ValueError), (dividing, ZeroDivisionError)])
def test_what_a_control_raises_ends_the_run(law, kind, integrator, compiled):
    control = numba.njit(law) if compiled else law
    with pytest.raises(kind) as caught:
        la.simulate(MODEL, dt=1e-3, steps=40, control=control, integrator=integrator)
    assert "raised by the control at step 11, t = 0.011 s" in caught.value.__notes__[0]
    good = la.simulate(MODEL, dt=1e-3, steps=11, control=control, integrator=integrator)
    failure = caught.value.__cause__
    assert isinstance(failure, la.StepError) and failure.step == 11
    np.testing.assert_array_equal(failure.q, good.q[-1])
    np.testing.assert_allclose(failure.v, good.v[-1], rtol=0, atol=1e-14)


def test_in_a_batch_the_member_is_named():
    with pytest.raises(ValueError, match="sensor lost") as caught:
        la.simulate_many(MODEL, [MODEL.q0] * 3, dt=1e-3, steps=40, control=[None, None, numba.njit(failing)])
    assert any("member 2 of simulate_many" in note for note in caught.value.__notes__)


def test_a_failure_that_does_not_come_again_is_said():
    calls = np.zeros(1)

    @numba.njit
    def count():
        with numba.objmode(n="float64"):
            calls[0] += 1
            n = calls[0]
        return n

    def fickle(t, q, v):
        if count() == 8.0:
            raise ValueError("once")
        return 0.0 * v

    with pytest.raises(la.StepError, match="does not fail when it is called again"):
        la.simulate(MODEL, dt=1e-3, steps=40, control=numba.njit(fickle))


RETURNS = {
    "integers": lambda t, q, v: np.array([1, 2, 3]),
    "float32": lambda t, q, v: np.array([1, 2, 3], dtype=np.float32),
    "a slice": lambda t, q, v: np.array([1.0, 0.0, 2.0, 0.0, 3.0, 0.0])[::2],
    "a tuple": lambda t, q, v: (1.0, 2.0, 3.0),
    "a mixed tuple": lambda t, q, v: (1, 2.0, 3),
    "a list": lambda t, q, v: [1.0, 2.0, 3.0],
}


@pytest.mark.parametrize("name", RETURNS)
def test_numbers_of_any_kind_are_converted(name):
    held = la.simulate(MODEL, dt=1e-3, steps=20, control=[1.0, 2.0, 3.0])
    for law in (RETURNS[name], numba.njit(RETURNS[name])):
        got = la.simulate(MODEL, dt=1e-3, steps=20, control=law)
        np.testing.assert_allclose(got.q, held.q, rtol=0, atol=1e-15)


@pytest.mark.parametrize("law", [lambda t, q, v: np.empty(0), lambda t, q, v: 1.0, lambda t, q, v: np.ones((3, 1)),
                                 lambda t, q, v: np.ones(3 if t < 0.005 else 2), lambda t, q, v: "a",
                                 lambda t, q, v: np.ones(3 if t < 0.005 else 0)])
@pytest.mark.parametrize("compiled", [True, False])
def test_anything_else_is_refused(law, compiled):
    with pytest.raises(ValueError):
        la.simulate(MODEL, dt=1e-3, steps=20, control=numba.njit(law) if compiled else law)


def test_a_scalar_is_enough_for_one_degree_of_freedom():
    pendulum = la.library.pendulum()
    held = la.simulate(pendulum, dt=1e-3, steps=20, control=[0.5])
    for law in (lambda t, q, v: 0.5, numba.njit(lambda t, q, v: 0.5)):
        np.testing.assert_array_equal(la.simulate(pendulum, dt=1e-3, steps=20, control=law).q, held.q)


def test_a_control_gets_copies():
    def meddling(t, q, v):
        q[0] = 99.0
        v[:] = 0.0
        return q

    runs = [la.simulate(MODEL, dt=1e-3, steps=50, control=law) for law in (meddling, numba.njit(meddling))]
    same = la.simulate(MODEL, dt=1e-3, steps=50, control=lambda t, q, v: np.array([99.0, q[1], q[2]]))
    for run in runs:
        np.testing.assert_array_equal(run.q, same.q)
