"""An integrator may be given by its name, the same as on the command line; its options are pointed to their place."""

import numpy as np
import pytest

import leastaction as la
from leastaction.cli.report import Method
from leastaction.integrators import NAMED, as_integrator

MODEL = la.library.double_pendulum()


def test_the_command_takes_the_same_names():
    assert [method.value for method in Method] == list(NAMED)


@pytest.mark.parametrize(("name", "integrator"), [(name, kind()) for name, kind in NAMED.items()], ids=list(NAMED))
def test_a_name_is_as_good_as_the_object(name, integrator):
    by_name, by_object = (la.simulate(MODEL, steps=20, integrator=given) for given in (name, integrator))
    assert by_name.integrator == integrator == as_integrator(name.upper())
    np.testing.assert_array_equal(by_name.q, by_object.q)
    sim = la.Simulator(MODEL, integrator=name)
    sim.step(20)
    np.testing.assert_array_equal(sim.q, by_object.q[-1])
    many = la.simulate_many(MODEL, [MODEL.q0, MODEL.q0], steps=20, integrator=name)
    assert many[1].integrator == integrator
    np.testing.assert_allclose(many[1].q, by_object.q, atol=1e-12)
    np.testing.assert_array_equal(la.variational_step(MODEL, MODEL.q0, [1, 2], 1e-2, name),
                                  la.variational_step(MODEL, MODEL.q0, [1, 2], 1e-2, integrator))


def test_audit_takes_a_name():
    certificate = la.audit(MODEL, duration=0.02, integrator="rk4", estimate_accuracy=False)
    assert certificate.run.integrator == la.RungeKutta4()


@pytest.mark.parametrize("call", [la.simulate, la.Simulator, la.audit, la.simulate_many], ids=lambda f: f.__name__)
def test_options_of_the_integrator_are_pointed_to_their_place(call):
    with pytest.raises(TypeError, match=r"give integrator=la\.Variational\(order=4\)$"):
        call(MODEL, order=4)
    with pytest.raises(TypeError, match=r"give integrator=la\.Variational\(root_finder=la\.Newton\(tol=1e-09\)\)$"):
        call(MODEL, tol=1e-9)
    with pytest.raises(TypeError, match=r"give integrator=la\.Variational\(rescue=la\.Rescue\(max_substeps=2\)\)$"):
        call(MODEL, max_substeps=2)
