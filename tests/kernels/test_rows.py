"""Constraint rows: values against their definition in mpmath, wrenches against a complex step of the values."""

import mpmath
import numpy as np
import pytest
from compiled import plain

from leastaction.kernels.constraints.rows import COUPLE, DIST, DOT, POS, Rows
from leastaction.model.arrays import rotation_matrix

GEOMETRIC = {"POS": POS, "DOT": DOT, "DIST": DIST}
STEP = 1e-30


def random_table(rng, kinds):
    """A table of rows with random numbers everywhere, whether their kinds read them or not."""
    m = len(kinds)
    unit = rng.normal(size=(2, m, 3))
    unit /= np.linalg.norm(unit, axis=2, keepdims=True)
    return Rows(np.array(kinds), np.zeros(m, int), np.ones(m, int), *rng.normal(size=(2, 3 * m)), *unit.reshape(2, -1),
                rng.uniform(0.5, 2.0, m), rng.normal(size=5 * m), rng.normal(size=2 * m), rng.uniform(0.5, 2.0, m),
                np.arange(m), np.zeros(2, int))


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def turned(q, w):
    """exp(w) q to first order in the rotation vector w, which is imaginary and tiny."""
    return tuple(plain("maths.so3").multiply((1.0, *(0.5 * w)), tuple(q)))


def definition(rows, r, Ra, Rb, gap):
    """The row as its docstring defines it, in 50 digits."""
    mpmath.mp.dps = 50
    Ra, Rb = (mpmath.matrix(rotation_mp(q)) for q in (Ra, Rb))
    columns = rows.sa, rows.sb, rows.ea, rows.eb
    sa, sb, ea, eb = (mpmath.matrix(column.reshape(-1, 3)[r].tolist()) for column in columns)
    d = mpmath.matrix(list(gap)) + Ra * sa - Rb * sb
    ua, ub, length = Ra * ea, Rb * eb, mpmath.mpf(rows.length[r])
    value = {POS: (ub.T * d)[0], DOT: (ub.T * ua)[0] - length, DIST: ((d.T * d)[0] - length**2) / (2 * length)}
    return mpmath.mpf(rows.scale[r]) * value[rows.kind[r]]


def rotation_mp(q):
    w, x, y, z = (mpmath.mpf(float(c)) for c in q)
    n = w * w + x * x + y * y + z * z
    return [[(w*w + x*x - y*y - z*z) / n, 2 * (x*y - w*z) / n, 2 * (x*z + w*y) / n],
            [2 * (x*y + w*z) / n, (w*w - x*x + y*y - z*z) / n, 2 * (y*z - w*x) / n],
            [2 * (x*z - w*y) / n, 2 * (y*z + w*x) / n, (w*w - x*x - y*y + z*z) / n]]


def value(rows, r, Ra, Rb, gap):
    """g and the wrench of a row of links."""
    kinds = plain("constraints.kinds.dispatch")
    return kinds.value(rows.kind[r], rows, r, kinds.Ends(Ra, Rb, gap, 0.0, 0.0))


def couple(rows, qa, qb):
    """g and the slopes of row 1, which is of joints."""
    kinds = plain("constraints.kinds.dispatch")
    g, (ca, cb, _), _ = kinds.value(COUPLE, rows, 1, kinds.Ends(None, None, None, qa, qb))
    return g, ca, cb


@pytest.mark.parametrize("kind", GEOMETRIC.values(), ids=GEOMETRIC)
def test_geometric_rows(kind):
    rng = np.random.default_rng(kind)
    opposite = plain("constraints.rows").opposite
    for _ in range(20):
        rows = random_table(rng, [kind] * 2)
        Ra, Rb, gap = random_quaternion(rng), random_quaternion(rng), rng.normal(size=3)
        g, m, f = value(rows, 1, tuple(Ra), tuple(Rb), tuple(gap))
        assert g == pytest.approx(float(definition(rows, 1, Ra, Rb, gap)), abs=1e-14)
        for j in range(6):
            w, v = (1j * STEP * np.eye(6)[j]).reshape(2, 3)
            on_a = value(rows, 1, turned(Ra, w), tuple(Rb), tuple(gap + v))[0].imag / STEP
            on_b = value(rows, 1, tuple(Ra), turned(Rb, w), tuple(gap - v))[0].imag / STEP
            assert np.concatenate([m, f])[j] == pytest.approx(on_a, abs=2e-15 * 10)
            assert np.concatenate(opposite(m, f, tuple(gap)))[j] == pytest.approx(on_b, abs=2e-15 * 10)


def test_couple_row():
    rng = np.random.default_rng(7)
    for _ in range(20):
        rows = random_table(rng, [COUPLE] * 2)
        qa, qb = rng.normal(size=2)
        (ref_a, ref_b), c, k = rows.reference[2:], rows.coefficients[5:], rows.scale[1]
        g, ca, cb = couple(rows, qa, qb)
        assert g == pytest.approx(k * (qa - ref_a - sum(c[j] * (qb - ref_b) ** j for j in range(5))), abs=1e-12)
        assert ca == pytest.approx(couple(rows, qa + 1j * STEP, qb)[0].imag / STEP, rel=1e-14)
        assert cb == pytest.approx(couple(rows, qa, qb + 1j * STEP)[0].imag / STEP, rel=1e-13)


def test_after_a_step_the_same_text_serves():
    """Rows at t_{k+1} from ΔR R and the gap grown by d_a − d_b are those of the poses there."""
    rng = np.random.default_rng(8)
    multiply = plain("maths.so3").multiply
    rows = random_table(rng, [POS, DOT, DIST])
    (Ra, Rb, dRa, dRb), (oa, ob, da, db) = (random_quaternion(rng) for _ in range(4)), rng.normal(size=(4, 3))
    for r in range(3):
        after = value(rows, r, multiply(dRa, Ra), multiply(dRb, Rb), tuple((oa - ob) + (da - db)))[0]
        there = definition(rows, r, multiply(dRa, Ra), multiply(dRb, Rb), (oa + da) - (ob + db))
        assert after == pytest.approx(float(there), abs=1e-14)
    assert np.allclose(rotation_matrix(np.array(multiply(dRa, Ra))), rotation_matrix(dRa) @ rotation_matrix(Ra))


def test_a_kind_that_nobody_knows_is_not_taken_for_another():
    kinds = plain("constraints.kinds.dispatch")
    unknown, ends = len(kinds.KINDS), kinds.Ends(None, None, None, 0.0, 0.0)
    assert np.isnan(kinds.value(unknown, None, 0, ends)[0])
    assert np.isnan(kinds.bias(unknown, None, 0, None, None, None, 0.0, None))
    assert np.isnan(kinds.extent(unknown, None, 0, 0.0, 0.0, 0.0, 0.0))
    assert not kinds.on_joints(unknown)
    assert kinds.on_joints(COUPLE)
