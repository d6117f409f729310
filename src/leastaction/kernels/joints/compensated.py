"""Sums that keep what round-off would lose (Kahan)."""

from ..machine.jit import kernel


@kernel
def add_compensated(x, low, k, value):
    """x[k] += value, with the rounding error kept in low[k]."""
    value += low[k]
    total = x[k] + value
    low[k] = value - (total - x[k])
    x[k] = total
