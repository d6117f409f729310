"""Ball joints with bending and torsion apart: energy, torque and steps against formulas of this file."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

import leastaction as la
from leastaction.reference import lie

AXIS = np.array([1.0, -2.0, 0.5])
A = AXIS / np.linalg.norm(AXIS)
BENDING, TORSION = 3.0, 11.0
STEP = 1e-30  # of the complex step
REST = lie.quat_exp(np.array([0.2, -0.1, 0.4]))
INERTIA = np.diag([0.4, 0.5, 0.3])


def one_body(stiffness=(BENDING, TORSION), **options):
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("body", joint=la.Ball(AXIS, stiffness=stiffness, rest=REST, **options),
                   inertia=la.Inertia(1.0, (0, 0, 0), INERTIA))
    return model


def energy(q):
    """V = ½ k_b |ψ across a|² + ½ k_t (ψ along a)²."""
    psi = lie.quat_log(lie.quat_mul(lie.quat_inv(REST), q))
    along = A @ psi
    across = psi - along * A
    return BENDING / 2 * (across @ across) + TORSION / 2 * along**2


def torque(q):
    """−∂V/∂q by complex steps, body axes."""
    return np.array([-energy(lie.quat_mul(q, lie.quat_exp(1j * STEP * e))).imag / STEP for e in np.eye(3)])


def turned(size, seed=0):
    """A configuration turned by so much from rest, rad, about no particular axis."""
    axis = np.random.default_rng(seed).normal(size=3)
    return lie.quat_mul(REST, lie.quat_exp(size * axis / np.linalg.norm(axis)))


@pytest.mark.parametrize("size", [0.0, 1e-7, 1e-2, 0.5, 2.0, 3.1])
def test_energy_and_torque(size):
    model, q = one_body(), turned(size)
    assert la.energy(model, q, np.zeros(3)) == pytest.approx(energy(q), rel=1e-14, abs=1e-14 * size + 1e-30)
    scale = TORSION * (0.1 + size)  # q is known to round-off
    np.testing.assert_allclose(la.inverse_dynamics(model, q, np.zeros(3), np.zeros(3)), -torque(q), rtol=0,
                               atol=1e-14 * scale)
    np.testing.assert_allclose(INERTIA @ la.forward_dynamics(model, q, np.zeros(3)), torque(q), rtol=0,
                               atol=1e-14 * scale)


@pytest.mark.parametrize("integrator", [la.Variational(), la.Variational(root_finder=la.RIQN()), la.RungeKutta4()])
def test_equal_numbers_are_one_number_to_the_last_bit(integrator):
    """A pair of equal numbers, and torsion apart in a joint beside it, do not change a bit of the others."""
    both = []
    for stiffness in (BENDING, (BENDING, BENDING)):
        model = one_body(stiffness, damping=0.3)
        model.add_body("other", joint=la.Ball(AXIS, stiffness=(2.0, 9.0)), inertia=la.Inertia(1.0, matrix=INERTIA))
        both.append(la.simulate(model, v=[1.0, 2.0, -1.0, 0.5, 0.5, 3.0], dt=1e-2, steps=200, integrator=integrator))
    np.testing.assert_array_equal(both[0].q, both[1].q)
    np.testing.assert_array_equal(both[0].energy, both[1].energy)


# A beam of rods along AXIS, clamped at one end

RODS, LENGTH, MASS, THIN, THICK = 5, 0.2, 0.5, 2e-4, 3e-3
H = 2e-3


@pytest.fixture(scope="module")
def beam():
    model = la.Model(gravity=(0, 0, 0))
    matrix = THIN * np.outer(A, A) + THICK * (np.eye(3) - np.outer(A, A))
    for k in range(RODS):
        model.add_body(f"rod{k}", f"rod{k - 1}" if k else None, la.Ball(AXIS, stiffness=(BENDING, TORSION / 100)),
                       LENGTH * A if k else (0, 0, 0), inertia=la.Inertia(MASS, LENGTH / 2 * A, matrix))
    return model


def bending_modes():
    """Frequencies, rad/s, and shapes in absolute angles, of small bending in a plane."""
    lever = LENGTH * (np.tri(RODS, k=-1) + 0.5 * np.eye(RODS))  # centres move by this times the angles
    M = MASS * lever.T @ lever + THICK * np.eye(RODS)
    D = np.eye(RODS) - np.eye(RODS, k=-1)
    squares, shapes = eigh(BENDING * D.T @ D, M)
    return np.sqrt(squares), shapes


def torsion_modes():
    """The same of torsion: a clamped row of equal discs, 2 √(k/J) sin((2 j − 1) π / (4 n + 2))."""
    j = np.arange(1, RODS + 1)
    angle = (2 * j - 1) * np.pi / (4 * RODS + 2)
    return 2 * np.sqrt(TORSION / 100 / THIN) * np.sin(angle), np.sin(2 * np.outer(j, angle))


@pytest.mark.parametrize(("modes", "about"), [(bending_modes, np.cross(A, (0, 0, 1))), (torsion_modes, A)],
                         ids=["bending", "torsion"])
def test_small_vibrations_of_a_beam(beam, modes, about):
    """A step turns a mode by 2 atan(h ω / 2)."""
    about = about / np.linalg.norm(about)
    for frequency, shape in zip(modes()[0], modes()[1].T, strict=True):
        angles = 1e-5 * np.diff(np.append(0.0, shape / np.abs(shape).max()))
        q = np.concatenate([lie.quat_exp(angle * about) for angle in angles])
        traj = la.simulate(beam, q, dt=H, steps=40)
        x = traj.q.reshape(len(traj), RODS, 4)[:, :, 1:] @ about @ angles
        k = 1 + np.argmax(np.abs(x[1:-1]))
        phase = np.arccos((x[k - 1] + x[k + 1]) / (2 * x[k]))
        assert 2 / H * np.tan(phase / 2) == pytest.approx(frequency, rel=1e-6)


def exact(model, v, time):
    """q (4,) after a time by SciPy, from Euler's equations with the torque of this file."""
    def rates(_, y):
        w = y[4:]
        q = y[:4] / np.linalg.norm(y[:4])
        return np.concatenate([lie.quat_mul(q, np.append(0.0, w)) / 2,
                               np.linalg.solve(INERTIA, torque(q) - np.cross(w, INERTIA @ w))])

    y = solve_ivp(rates, (0, time), np.concatenate([model.q0, v]), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    return y[:4] / np.linalg.norm(y[:4])


def test_orders_and_explicit_methods():
    model, v = one_body(), np.array([3.0, -2.0, 4.0])
    end = exact(model, v, 0.8)
    for integrator, order in ((la.Variational(), 2), (la.Variational(order=4), 4), (la.RungeKutta4(), 4)):
        errors = [np.abs(la.simulate(model, v=v, dt=dt, duration=0.8, integrator=integrator).q[-1] - end).max()
                  for dt in (0.04, 0.02, 0.01)]
        assert np.log2(errors[-2] / errors[-1]) == pytest.approx(order, abs=0.2)
    assert np.abs(la.simulate(model, v=v, dt=0.02, duration=0.8, integrator=la.DormandPrince8(tol=1e-11)).q[-1]
                  - end).max() < 1e-9


def test_energy_has_no_trend_and_newton_is_exact(beam):
    """Large vibrations of the beam, bent and twisted; and few evaluations a step."""
    v = np.tile(3 * A + np.cross(A, (0, 0, 1.5)), RODS)
    traj = la.simulate(beam, v=v, dt=H, steps=20000, record_every=10)
    assert (2 * np.arccos(traj.q[:, ::4]) > 1.5).any()
    error = (traj.energy - traj.energy[0]) / traj.energy[0]
    tenth = len(error) // 10
    assert np.abs(error).max() < 2e-3
    assert abs(error[:tenth].mean() - error[-tenth:].mean()) < 2e-4
    assert traj.iterations.sum() < 2.5 * 20000


def test_reversal():
    sim = la.Simulator(one_body(), v=[3.0, -2.0, 4.0], dt=0.01)
    start = sim.q.copy()
    sim.step(300)
    back = la.simulate(sim.model, sim.q, -np.asarray(sim.v), dt=0.01, steps=300)
    np.testing.assert_allclose(back.q[-1], start, atol=1e-12)


def test_overdamped_bending_and_torsion_decay_at_their_own_rates():
    """Inertia so small that a step of 1 ms is 1/100 of what would resolve the damping."""
    model = la.Model(gravity=(0, 0, 0))
    model.add_body("body", joint=la.Ball(AXIS, stiffness=(BENDING, TORSION), damping=1.0),
                   inertia=la.Inertia(1.0, (0, 0, 0), 1e-5 * np.eye(3)))
    across = np.cross(A, (0, 0, 1))
    for about, k in ((A, TORSION), (across / np.linalg.norm(across), BENDING)):
        traj = la.simulate(model, lie.quat_exp(0.1 * about), dt=1e-3, steps=200)
        psi = 2 * traj.q[:, 1:] @ about
        assert np.all(np.diff(traj.energy) < 0) and np.all(np.diff(psi) < 0)
        np.testing.assert_allclose(psi / psi[0], np.exp(-k * traj.t), rtol=5e-3)


def test_batches_files_and_ensembles(tmp_path):
    model = one_body(damping=0.1)
    v = np.array([[3.0, -2.0, 4.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [5.0, 5.0, 5.0]])
    alone = [la.simulate(model, v=one, dt=1e-2, steps=100) for one in v]
    for one, many in zip(alone, la.simulate_many(model, v=v, dt=1e-2, steps=100), strict=True):
        np.testing.assert_allclose(many.q, one.q, rtol=0, atol=1e-13)
    path = tmp_path / "run.h5"
    la.simulate(model, v=v[0], dt=1e-2, steps=50, out=path)
    assert la.open(path).model.bodies[0].joint == model.bodies[0].joint
    np.testing.assert_array_equal(la.resume(path, steps=100).q, alone[0].q)
    pairs = [[BENDING, TORSION], [BENDING, 1.0], [0.0, TORSION]]
    vary = {"stiffness:body": np.array(pairs), "v": v[[0, 0, 0]]}
    made = la.Ensemble(model, members=3, vary=vary, dt=1e-2, steps=100).run(tmp_path / "members", progress=False)
    for k, pair in enumerate(pairs):
        own = la.simulate(one_body(pair, damping=0.1), v=v[0], dt=1e-2, steps=100)
        np.testing.assert_allclose(made.q[k][-1], own.q[-1], rtol=0, atol=1e-13)


def test_torsion_without_bending():
    """The body turns freely across the axis."""
    model = one_body((0.0, TORSION))
    traj = la.simulate(model, REST, 0.5 * A, dt=1e-3, steps=500)
    assert np.ptp(traj.energy) < 1e-6 * traj.energy[0]
    assert traj.energy[250] == pytest.approx(0.5 * 0.25 * A @ INERTIA @ A, rel=1e-6)
    assert la.energy(model, lie.quat_mul(REST, lie.quat_exp(np.cross(A, (0, 0, 1)))), np.zeros(3)) < 1e-25
