"""What the loops write down: the nodes that are kept, and the extremes of the invariants, also between those."""

from collections import namedtuple

from .machine.jit import kernel

# q (K, nq), v (K, nv), p (K, nv), energy (K,), momentum (K, 6) of the kept nodes; iterations, residual, status,
# substeps (steps,); looks (steps/LOOK,): the energy after every LOOK-th step of the run, kept or not; extremes (16,):
# least and greatest energy, greatest kinetic energy, least and greatest momentum (6), and 1 if the last node was looked
# at, else 0
Record = namedtuple("Record", "q v p energy momentum iterations residual status substeps looks extremes")
EXTREMES, MOMENTA, KNOWN = 16, slice(3, 15), 15
LOOK = 8  # steps from one look at the invariants to the next …
FAST = 0.9996875  # … unless some link turns by 0.05 rad in a step: its cos(θ/2)


@kernel
def due(k, least):
    """Whether the invariants are looked at after step k, in which the least cos(θ/2) of a link is this. It does not
    depend on which nodes are kept, so that keeping them changes nothing."""
    return k % LOOK == 0 or least < FAST


@kernel
def follow(kinetic, energy, momentum, extremes):
    """Look at a node: widen the extremes by it."""
    extremes[0] = min(extremes[0], energy)
    extremes[1] = max(extremes[1], energy)
    extremes[2] = max(extremes[2], kinetic)
    for j in range(6):
        extremes[3 + j] = min(extremes[3 + j], momentum[j])
        extremes[9 + j] = max(extremes[9 + j], momentum[j])
    extremes[KNOWN] = 1.0


@kernel
def note_energy(looks, first, k, energy):
    """Note the energy after step k of those that begin with step ``first`` of the run, if it is a LOOK-th one."""
    if (first + k + 1) % LOOK == 0:
        looks[(first + k + 1) // LOOK - first // LOOK - 1] = energy


@kernel
def write_row(target, k, source, count):
    """By single numbers: taking row k as an array of its own costs more than filling it."""
    for j in range(count):
        target[k, j] = source[j]


@kernel
def record(tree, out, k, state, energy, momentum):
    """Write a node to row k."""
    write_row(out.q, k, state.q, tree.nq)
    write_row(out.v, k, state.v, tree.nv)
    write_row(out.p, k, state.p, tree.nv)
    out.energy[k] = energy
    for j in range(6):
        out.momentum[k, j] = momentum[j]
