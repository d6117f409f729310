"""Physics is called kept exactly where independent checks agree: on the library's models and on robots.

The checks share no code with the judgement: energies are computed anew from the kept states by `la.energy`, the medians
of tenths by hand, momenta from the kept states too. Reversal is checked on the double pendulum to 30 digits.
"""

import numpy as np
import pytest
from mpmath import mp, mpf

import leastaction as la
from leastaction.formats import zoo

MODELS = ["chain:5", "paper_chain:10", "pendulum", "double_pendulum", "tree:3", "spinning_top", "ragdoll"]
HARD = ["chain:20"]


def energy_is_kept(run):
    """Whether the levels of the error in the tenths of the run lie closer than 4e-4, or than it swings."""
    energies = np.array([la.energy(run.model, q, v) for q, v in zip(run.q[::8], run.v[::8], strict=True)])
    error = (energies[1:] - energies[0]) / run.peak_kinetic_energy
    tenths = [np.sort(part) for part in np.array_split(error, 10)]
    levels = [part[len(part) // 2] for part in tenths]
    swings = sorted(part[int(0.9 * len(part))] - part[int(0.1 * len(part))] for part in tenths)
    return max(levels) - min(levels) <= max(4e-4, swings[5])


def momentum_is_kept(run):
    """Whether a floating tree keeps its horizontal momentum, and its angular momentum about the vertical axis."""
    if not isinstance(run.model.bodies[0].joint, la.Free):
        return True
    momenta = np.array([la.momentum(run.model, q, v) for q, v in zip(run.q[::100], run.v[::100], strict=True)])
    up = np.argmax(np.abs(run.model.gravity))
    kept = momenta[:, [up, *(3 + axis for axis in range(3) if axis != up)]]
    mass = sum(body.inertia.mass for body in run.model.bodies)
    return np.ptp(kept, axis=0).max() < 1e-9 * np.sqrt(run.peak_kinetic_energy * mass)


def check(run):
    certificate = la.audit(run, estimate_accuracy=False)
    agreed = (bool(run.judgement.reason) or energy_is_kept(run)) and momentum_is_kept(run)
    assert certificate.kept == agreed, str(certificate)
    return certificate


@pytest.mark.parametrize("retraction", ["split", "exp"])
@pytest.mark.parametrize("order", [2, 4, 8])
@pytest.mark.parametrize("name", MODELS)
def test_models_of_the_library(name, order, retraction):
    run = la.simulate(la.find_model(name), dt=1e-3, duration=3.0, integrator=la.Variational(order=order,
                                                                                           retraction=retraction))
    certificate = check(run)
    assert certificate.kept
    assert certificate.symplecticity.passed and certificate.irreversibility.passed


@pytest.mark.parametrize("integrator", [la.Variational(), la.RungeKutta4()],
                         ids=lambda i: type(i).__name__)
@pytest.mark.parametrize("name", HARD)
def test_a_step_that_is_too_long_is_not_called_kept(name, integrator):
    run = la.simulate(la.find_model(name), dt=1e-3, duration=10.0, integrator=integrator)
    assert not check(run).kept


@pytest.mark.filterwarnings("ignore::leastaction.errors.ModelWarning")
def test_twenty_robots():
    """Falling or swinging from a push; damped ones are judged by their momentum alone."""
    judged = 0
    for path in zoo.paths("example-robot-data"):
        try:
            model = zoo.survey(path).load(root="free" if judged % 2 else "fixed")
            push = 0.3 * np.random.default_rng(judged).standard_normal(model.nv)
            run = la.simulate(model, model.q0, push, dt=1e-3, duration=1.0, ignore=("limits", "friction"))
        except (la.ModelError, ValueError):  # files that are refused, or have nothing that moves
            continue
        check(run)
        judged += 1
        if judged == 20:
            break
    assert judged == 20


def test_the_double_pendulum_is_reversible_to_thirty_digits():
    """The split step of two point masses, transcribed: it undoes itself, and the library follows it to round-off."""
    with mp.workdps(30):
        gravity, h, start = mpf(9.81), mpf(0.01), [mpf(1), mpf(0.5)]

        def places(q):
            x1, z1 = mp.sin(q[0]), -mp.cos(q[0])
            angle = q[0] + q[1]
            return x1, z1, x1 + mp.sin(angle), z1 - mp.cos(angle)

        def slopes(q):
            """∂(x1, z1, x2, z2)/∂q."""
            a, b = (mp.cos(q[0]), mp.sin(q[0])), (mp.cos(q[0] + q[1]), mp.sin(q[0] + q[1]))
            return [(a[0], a[1], a[0] + b[0], a[1] + b[1]), (mpf(0), mpf(0), b[0], b[1])]

        def momentum(at, ends, step, sign):
            """∓D L_d at one end of a step: with sign −1 at its start, where gravity still has to act, +1 at its end."""
            moved = [b - a for a, b in zip(places(ends[0]), places(ends[1]), strict=True)]
            return [sum(s * e for s, e in zip(row, moved, strict=True)) / step
                    - sign * step / 2 * gravity * (row[1] + row[3]) for row in slopes(at)]

        def advance(q, p, step):
            def left(a, b):
                return [m - n for m, n in zip(momentum(q, (q, [a, b]), step, -1), p, strict=True)]

            root = mp.findroot(left, (q[0], q[1]), tol=mpf(10) ** -50)
            q1 = [root[0], root[1]]
            return q1, momentum(q1, (q, q1), step, 1)

        q, p = start, [mpf(0), mpf(0)]
        for _ in range(20):
            q, p = advance(q, p, h)
        ours = la.simulate(la.library.double_pendulum(), dt=0.01, steps=20)
        assert max(abs(a - mpf(b)) for a, b in zip(q, ours.q[-1].tolist(), strict=True)) < 1e-13
        for _ in range(20):
            q, p = advance(q, p, -h)
        assert max(abs(a - b) for a, b in zip(q, start, strict=True)) < mpf(10) ** -24
