"""The loop that every run makes: forces → step → look → record; of one simulation, or of four in lanes.

What a step is, the method says (methods.py). In lanes nothing passes from one simulation to another, so what a
simulation gives does not depend on its neighbours, to the last bit; one whose step fails is left to a single run
(rescue.py), and the others have made theirs.
"""

from . import methods
from .elements import set_time
from .elements.servo import set_commands
from .layout import LANES, LEDGER, READY, Held, System
from .machine.jit import entry, kernel, part
from .machine.memory import clear, copy, system_as_views, state_as_views, lanes_as_views
from .machine.simd import below, choose, less, number, numbers
from .momentum import generalized_momentum
from .node import prepare, save_node, set_wrenches
from .record import EXTREMES, FAST, KNOWN, LOOK, follow, put_number, put_row, put_whole
from .rnea import total_momentum
from .settings import BAD_CONTROL, NOT_FINITE

GREATEST = 1.7976931348623157e308  # of all finite numbers


@part
def hold(control, tree, state, forces, clock, k, lanes):
    """Set the forces that act during step k. Gives whether the control gave such."""
    at = k - clock.origin
    if len(forces.wrench) > 1 or (len(forces.wrench) == 1 and k == clock.first):
        set_wrenches(tree, state.w, forces.wrench[at if len(forces.wrench) > 1 else 0])
    if len(forces.command) > 1 or k == clock.first:
        # A slice from the row on: of no rows it is empty, where an index would fail
        servos = forces.command.shape[1] // (2 * lanes) if len(forces.command) > 0 else 0
        set_commands(tree, state, forces.command[at if len(forces.command) > 1 else 0 :], servos, clock.h)
    held = numbers(state.held)
    if control is not None:
        given = control(k * clock.h, forces.q, forces.v)
        if len(given) != tree.nv:
            return False
        copy(given, held, tree.nv)
    elif len(forces.tau) > 1 or (len(forces.tau) == 1 and k == clock.first):
        copy(forces.tau[at if len(forces.tau) > 1 else 0], held, lanes * tree.nv)
    return True


@kernel
def widen(state, kinetic, energy, momentum, looks):
    """Widen the extremes where this node counts among those that are looked at."""
    copy(state.extremes, state.aside, EXTREMES)
    follow(kinetic, energy, momentum, state.extremes)
    for j in range(EXTREMES):
        state.extremes[j] = choose(looks, state.extremes[j], state.aside[j])


@part
def examine(method, system, state, made, k, whole, looked_before):
    """Look at the node after step k. Gives the status of the step. It does not depend on which nodes are kept, so that
    keeping them changes nothing."""
    twice, energy = methods.look(method, system, state, made.springs, whole)
    trouble = methods.trouble(method, state, made, twice, energy, looked_before)
    status = choose(less(trouble, -0.5) * less(-0.5, made.status), trouble, made.status)
    status = choose(less(abs(energy), GREATEST), status, NOT_FINITE)
    angular, linear = total_momentum(system.tree, state.w)
    momentum = angular + linear
    looks = less(-0.5, status)
    if (k + 1) % LOOK != 0:
        looks = looks * less(made.least, FAST)
    widen(state, 0.5 * twice, energy, momentum, looks)
    state.twice[0], state.energy[0] = twice, energy
    for j in range(6):
        state.total[j] = momentum[j]
    return status


@part
def record(tree, state, clock, k, out):
    """Write the node after step k, if it is one to keep or one of every LOOK."""
    if (k + 1) % LOOK == 0:
        balance = state.energy[0]
        for j in range(LEDGER):
            balance += state.ledger[j]
        put_number(out.looks, (k + 1) // LOOK - clock.origin // LOOK - 1, balance)
    if (k + 1) % clock.every == 0:
        row = clock.head + (k + 1) // clock.every - clock.origin // clock.every - 1
        put_row(out.q, row, state.q, tree.nq)
        put_row(out.v, row, state.v, tree.nv)
        put_row(out.p, row, state.p, tree.nv)
        put_row(out.momentum, row, state.total, 6)
        put_number(out.energy, row, state.energy[0])
        put_row(out.ledger, row, state.ledger, out.ledger.shape[-1])
        put_row(out.impulse, row, state.impulse, out.impulse.shape[-1])
        clear(state.impulse, out.impulse.shape[-1])


@part
def loop(method, system, state, forces, clock, lanes, out):
    """Make the steps of the clock. Gives how many were made, and the joint to blame if some are missing."""
    tree, w = system.tree, state.w
    methods.begin(method, system, state, clock.h)
    held = Held(forces.control is not None or len(forces.tau) > 0, state.held)
    if lanes == 1:  # in lanes each simulation has its own: simulation/group.py sets it
        state.forced[0] = number(w, 1.0 if held.acts else 0.0)
    for k in range(clock.first, clock.first + clock.steps):
        if not hold(forces.control, tree, state, forces, clock, k, lanes):
            put_whole(out.status, k - clock.origin, number(w, BAD_CONTROL))
            generalized_momentum(tree, w, state.v, state.p)
            return k - clock.first, 0
        save_node(tree, state)
        set_time(system.elements, tree, w, k * clock.h)
        made = methods.advance(method, system, state, held, k, clock.h)
        status = made.status
        kept = (k + 1) % clock.every == 0 or k + 1 == clock.first + clock.steps
        whole = kept or forces.control is not None
        looked_before, state.extremes[KNOWN] = state.extremes[KNOWN], number(w, 0.0)
        # Look at a node that is kept or that the control will see, at every one of LOOK, and where a link turned fast
        if not below(status, -0.5) and (whole or (k + 1) % LOOK == 0 or not below(number(w, FAST), made.least)):
            status = examine(method, system, state, made, k, whole, looked_before)
            methods.after_look(method, system, state, kept)
            record(tree, state, clock, k, out)
        at = k - clock.origin
        put_whole(out.iterations, at, made.evaluations)
        put_number(out.residual, at, made.residual)
        put_whole(out.status, at, status)
        if not below(-0.5, choose(state.alive[0], status, 0.0)):  # a simulation that goes on has failed
            if lanes == 1:
                methods.undo(method, system, state)
            return k - clock.first, made.blamed
        state.made[0] += 1.0
    return clock.steps, -1


@entry
def run(method, system, room, forces, clock, out):
    """Make the steps of the clock, of one simulation with this state, as loop(); or set up its node, if the clock says
    what it is given by, then it gives (0, the first singular joint or −1)."""
    system = system_as_views(system)
    state = state_as_views(system.tree, room, 1)
    if clock.given != READY:
        return 0, prepare(system, state, clock.given, clock.h)
    return loop(method, system, state, forces, clock, 1, out)


@entry
def run_lanes(method, system, room, forces, clock, out):
    """The same of four simulations side by side; tau (R, 4 nv), and the arrays of ``out`` have a first axis of four. A
    lane fails if its status for the step after those made is negative: then saved_q, saved_low and node_momentum hold
    its node before."""
    system = system_as_views(system)
    state = lanes_as_views(state_as_views(system.tree, room, LANES))
    own = System(system.tree, system.rest, (state.gravity[0], state.gravity[1], state.gravity[2]), system.elements)
    if clock.given != READY:
        return 0, prepare(own, state, clock.given, clock.h)
    return loop(method, own, state, forces, clock, LANES, out)
