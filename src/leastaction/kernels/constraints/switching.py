"""Rows that are switched on and off between steps: a row that is off has no multiplier, and its loop is open."""

from ..machine.jit import kernel
from .closed import row, told_of
from .projection import KNOWN


@kernel
def switch(c, r, on):
    """Switch row r on or off for the steps that follow. If it is on and its loop is open, the next step closes it."""
    R = row(c, r)
    R.active = 1.0 if on else 0.0
    R.answer = R.total = R.kick = 0.0
    told_of(c)[KNOWN] = 0.0  # what is known of the node is without this row, or with it
