"""COUPLE: (q_a − ref_a) − Σ c_k (q_b − ref_b)^k of two SCREW joints. The verbs are those of dispatch.py."""

from ...machine.jit import kernel

ON_JOINTS = True
POWERS = 5  # coefficients c_k


@kernel
def value(rows, r, ends):
    k, x = rows.scale[r], ends.qb - rows.reference[2 * r + 1]
    total = slope = 0.0 * x
    for j in range(POWERS * (r + 1) - 1, POWERS * r - 1, -1):  # Horner, the value and its derivative
        slope = slope * x + total
        total = total * x + rows.coefficients[j]
    return k * (ends.qa - rows.reference[2 * r] - total), (k, -k * slope, 0.0), (0.0, 0.0, 0.0)


@kernel
def bias(rows, r, La, Lb, gap, rate, gravity):
    x, bend = Lb.angle - rows.reference[2 * r + 1], 0.0
    for k in range(POWERS - 1, 1, -1):  # Σ k (k − 1) c_k x^(k−2)
        bend = bend * x + k * (k - 1) * rows.coefficients[POWERS * r + k]
    return -rows.scale[r] * bend * rate * rate


@kernel
def extent(rows, r, far, qa, qb, slope):
    return rows.scale[r] * (abs(qa) + abs(rows.reference[2 * r])) + abs(slope * qb)
