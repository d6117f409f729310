"""The record of a run: the nodes that are kept, and the extremes of the invariants, also between these nodes."""

from collections import namedtuple

from numba.extending import overload

from .layout import EXTREMES, LANES, LEDGER
from .machine.jit import INNER, kernel
from .machine.simd import COMPILED

# q (K, nq), v (K, nv), p (K, nv), energy (K,), momentum (K, 6), ledger (K, LEDGER) and impulse (K, 2 nv) of the kept
# nodes, of which the last two may have no columns where there is nothing to write; iterations, residual, status,
# substeps (steps,); looks (steps/LOOK,): the energy after every LOOK-th step of the run, kept or not, and what has
# left by then. In lanes all have a first axis of four
Record = namedtuple("Record", "q v p energy momentum ledger impulse iterations residual status substeps looks")
# Extremes: least and greatest energy, greatest kinetic energy, least and greatest momentum (6 each), and 1 if the last
# node was looked at, else 0
LEAST, GREATEST, KINETIC, LEAST_MOMENTUM, GREATEST_MOMENTUM, KNOWN = 0, 1, 2, 3, 9, 15
MOMENTA = slice(LEAST_MOMENTUM, KNOWN)
# As Python reads them: energy (2,) and momentum (2, 6), least and greatest, and kinetic, all without the ground
Extremes = namedtuple("Extremes", "energy kinetic momentum")
LOOK = 8  # steps from one look at the invariants to the next …
FAST = 0.9996875  # … unless some link turns by 0.05 rad in a step: its cos(θ/2)
assert KNOWN + 1 == EXTREMES
# Where energy goes, J, positive where it leaves the mechanism: damping of joints, actuators, forces of the control, dry
# friction, limits, and joints that come back from beyond their limits
DAMPING, ACTUATORS, CONTROL, DRY_FRICTION, LIMITS, RECOVERY = range(LEDGER)


def by_name(extremes):
    """The extremes (EXTREMES, ...) by name: views, but for kinetic where that is one number."""
    return Extremes(extremes[:KINETIC], extremes[KINETIC], extremes[MOMENTA].reshape(2, 6, *extremes.shape[1:]))


@kernel
def follow(kinetic, energy, momentum, extremes):
    """Look at a node: widen the extremes by it."""
    extremes[LEAST] = min(extremes[LEAST], energy)
    extremes[GREATEST] = max(extremes[GREATEST], energy)
    extremes[KINETIC] = max(extremes[KINETIC], kinetic)
    for j in range(6):
        extremes[LEAST_MOMENTUM + j] = min(extremes[LEAST_MOMENTUM + j], momentum[j])
        extremes[GREATEST_MOMENTUM + j] = max(extremes[GREATEST_MOMENTUM + j], momentum[j])
    extremes[KNOWN] = 1.0


@kernel
def begin_extremes(state, twice, energy, momentum):
    """Know the energies and the momentum of a node, and let the extremes begin with them."""
    state.twice[0], state.energy[0] = twice, energy
    for j in range(6):
        state.total[j] = momentum[j]
        state.extremes[LEAST_MOMENTUM + j] = state.extremes[GREATEST_MOMENTUM + j] = momentum[j]
    state.extremes[LEAST] = state.extremes[GREATEST] = energy
    state.extremes[KINETIC], state.extremes[KNOWN] = 0.5 * twice, 1.0


def put_number(target, k, x):
    """Write a number to place k; in lanes, to that of each."""
    target[k] = x


def put_whole(target, k, x):
    """The same of a whole number."""
    target[k] = int(x)


def put_row(target, k, source, count):
    """Write numbers to row k, in lanes to row k of each. One by one, as taking the row as an array costs more."""
    for j in range(count):
        target[k, j] = source[j]


if COMPILED:
    @overload(put_number, jit_options=INNER)
    def _put_number(target, k, x):
        def lanes(target, k, x):
            for lane in range(LANES):
                target[lane, k] = x[lane]

        return lanes if target.ndim == 2 else put_number

    @overload(put_whole, jit_options=INNER)
    def _put_whole(target, k, x):
        def lanes(target, k, x):
            for lane in range(LANES):
                target[lane, k] = int(x[lane])

        return lanes if target.ndim == 2 else put_whole

    @overload(put_row, jit_options=INNER)
    def _put_row(target, k, source, count):
        def lanes(target, k, source, count):
            for lane in range(LANES):
                for j in range(count):
                    target[lane, k, j] = source[j][lane]

        return lanes if target.ndim == 3 else put_row
