"""Runs in files are the same as in memory; any moment of them, and what comes after, bit for bit."""


import numba
import numpy as np
import pytest
from runs import NODES, RANGES, STEPS, broken_off, pair, same, step_law

import leastaction as la


@pytest.mark.parametrize("integrator", [
    la.Variational(), la.Variational(order=4, root_finder=la.RIQN(tol=1e-10)), la.peers.SVI(),
    la.Variational(la.RIQN(tol=la.peers.Absolute(1e-9)), rescue=None), la.RungeKutta4(), la.SemiImplicitEuler(),
    la.DormandPrince8(tol=1e-7),
], ids=repr)
@pytest.mark.parametrize("every", [1, 7])
def test_a_run_in_a_file_is_the_same(path, integrator, every):
    memory, stored = pair(path, integrator=integrator, record_every=every, dt=2e-3)
    same(memory, stored, NODES + RANGES + STEPS)
    assert stored.tally == memory.tally and stored.report() == memory.report() and stored.integrator == integrator
    same(memory, la.open(path), NODES)


def test_statistics_between_nodes(path):
    every = 7
    options = {"dt": 0.05, "steps": 150}   # at which some steps have to be divided
    memory, stored = pair(path, record_every=every, **options)
    each = la.simulate(la.library.chain(5), **options)
    assert memory.tally == stored.tally == each.tally and each.tally.divided > 0
    starts = np.arange(0, 150, every)
    for run in (memory, stored):
        np.testing.assert_array_equal(run.iterations, np.add.reduceat(each.iterations, starts))
        for name in STEPS[1:]:
            np.testing.assert_array_equal(getattr(run, name), np.maximum.reduceat(getattr(each, name), starts))


@pytest.mark.parametrize("control", [None, np.full(5, 0.1), np.sin(np.arange(2500.0)).reshape(500, 5), step_law,
                                     numba.njit(step_law)], ids=["none", "held", "array", "python", "compiled"])
def test_any_moment_can_be_made_again(path, control):
    options = {"control": control, "dt": 2e-3}
    memory, stored = pair(path, record_every=11, checkpoint_every=100, **options)
    every_node = la.simulate(la.library.chain(5), steps=500, **options)
    again = la.open(path, control=control if callable(control) else None)
    for k in (0, 1, 99, 100, 101, 204, 451, 500):
        for run in (memory, stored, again):
            node = run.at(k * 2e-3)
            assert node.t == every_node.t[k] and node.energy == every_node.energy[k]
            for name in ("q", "v", "p", "momentum"):
                np.testing.assert_array_equal(getattr(node, name), getattr(every_node, name)[k])


def test_the_nearest_checkpoint_is_taken(path):
    _, stored = pair(path, record_every=500, checkpoint_every=100)
    assert [stored._nearest(k).steps for k in (0, 99, 100, 350, 500)] == [0, 0, 100, 300, 500]


def test_at_refuses_what_it_cannot_know(path):
    pair(path, record_every=11, control=step_law, dt=2e-3)
    with pytest.raises(ValueError, match="Functions cannot be stored"):
        la.open(path).at(2e-3)
    with pytest.raises(ValueError, match="within the run, from 0 to 1 s"):
        la.open(path).at(1.1)
    with pytest.raises(ValueError, match="give no wrench"):
        la.open(path, wrench=step_law)


def test_wrenches_and_everything_in_a_tree(path):
    model = la.library.ragdoll()
    wrench = 0.1 * np.random.default_rng(0).normal(size=(100, model.nb, 6))
    memory, stored = pair(path, model, wrench=wrench, steps=100, dt=1e-3, record_every=3)
    same(memory, stored, NODES)
    whole = la.simulate(model, wrench=wrench, steps=100, dt=1e-3)
    np.testing.assert_array_equal(la.open(path).at(0.05).q, whole.q[50])


def test_resume_with_the_function_given_again(path, tmp_path):
    broken_off(path)
    part = la.open(path)
    assert part.steps == 301 and not part.finished   # everything up to the error is there
    with pytest.raises(ValueError, match="give it again"):
        la.resume(path)
    resumed = la.resume(path, control=step_law)
    whole = la.simulate(la.library.chain(5), steps=500, dt=2e-3, record_every=7, control=step_law,
                        out=tmp_path / "straight.h5")
    same(resumed, whole, NODES + STEPS + RANGES)
    assert resumed.tally == whole.tally and la.resume(path).finished


def test_checkpoint_and_restore(tmp_path):
    for integrator in (la.Variational(order=4), la.RungeKutta4(), la.DormandPrince8()):
        sim = la.Simulator(la.library.ragdoll(), dt=2e-3, integrator=integrator)
        sim.step(50, wrench=np.full((sim.model.nb, 6), 0.1))
        other = la.Simulator.restore(sim.checkpoint(tmp_path / "state.h5"))
        for it in (sim, other):
            it.step(20)
        assert (sim.steps, sim.energy, sim.t) == (other.steps, other.energy, other.t)
        for name in ("q", "v", "p", "momentum"):
            np.testing.assert_array_equal(getattr(sim, name), getattr(other, name))
        np.testing.assert_array_equal(sim._engine.state.extremes, other._engine.state.extremes)
    with pytest.raises(la.FileError, match="is a checkpoint, not a run"):
        la.open(tmp_path / "state.h5")


def test_simulator_of_a_run_knows_its_last_node(path):
    memory, _ = pair(path, record_every=11)
    last, sim = memory.at(1.0), la.Simulator.restore(path)
    assert sim.steps == 500 and sim.energy == last.energy
    np.testing.assert_array_equal(sim.v, last.v)
    np.testing.assert_array_equal(sim.p, last.p)


def test_nothing_is_read_before_it_is_asked(path):
    _, stored = pair(path)
    assert "q" not in vars(stored)
    assert stored.q.flags.aligned and not stored.q.flags.owndata and stored.q is stored.q
    with pytest.raises(ValueError, match="read-only"):
        stored.q[0] = 1.0


def test_no_steps_at_all(path):
    memory, stored = pair(path, steps=0)
    same(memory, stored, NODES + STEPS)


@pytest.mark.parametrize("every", [1, 7])
def test_a_run_made_longer(path, tmp_path, every):
    options = {"dt": 2e-3, "record_every": every, "control": np.full(5, 0.01), "checkpoint_every": 90}
    short = la.simulate(la.library.chain(5), steps=500, out=path, **options)
    longer = la.resume(path, duration=2.0)
    whole = la.simulate(la.library.chain(5), steps=1000, out=tmp_path / "whole.h5", **options)
    same(longer, whole, NODES + STEPS + RANGES)
    assert longer.tally == whole.tally and longer._nearest(999).steps == 990 and longer._nearest(100).steps == 90
    assert len(short.q) == 500 // every + 1   # what is in use stays as it was
    with pytest.raises(ValueError, match="planned to have 1000 steps: it can be extended, not shortened to 700"):
        la.resume(path, steps=700)


def test_forces_for_each_step_end_with_it(path):
    la.simulate(la.library.chain(5), steps=500, control=np.zeros((500, 5)), out=path)
    with pytest.raises(ValueError, match="was given forces for 500 steps"):
        la.resume(path, steps=600)


def test_forces_between_bodies(path, tmp_path):
    """In the file as in memory, resumed after a break and restored from a checkpoint, bit for bit."""
    from reference.forces import everything

    model = everything()
    whole = la.simulate(model, dt=1e-3, steps=400, record_every=20)
    la.simulate(model, dt=1e-3, steps=150, record_every=20, out=path)
    stored = la.resume(path, steps=400)
    assert stored.model == model
    same(whole, stored, NODES)
    sim = la.Simulator(model, dt=1e-3)
    sim.step(150)
    other = la.Simulator.restore(sim.checkpoint(tmp_path / "state.h5"))
    other.step(250)
    np.testing.assert_array_equal(other.q, whole.q[-1])
    np.testing.assert_array_equal(la.open(path).at(0.123).q, la.simulate(model, dt=1e-3, steps=123).q[-1])


def test_file_with_a_force_that_is_not_known_here(path, monkeypatch):
    from dataclasses import dataclass

    from leastaction.model import FORCE_KINDS
    from reference.forces import two_bodies, with_all_kinds

    @dataclass(frozen=True, eq=False)
    class Bungee(la.Spring):
        """A spring by another name."""

    model, kind = with_all_kinds(two_bodies()), f"{Bungee.__module__}.{Bungee.__qualname__}"
    model.add_force("jump", Bungee("body0", None, stiffness=3.0))
    la.simulate(model, dt=1e-3, steps=10, out=path)
    assert la.open(path).model == model
    monkeypatch.delitem(FORCE_KINDS, kind)
    for attempt in (la.open, la.resume, la.Simulator.restore):
        with pytest.raises(la.FileError, match=rf"cannot be read here: force 'jump' is of the class {kind}, "):
            attempt(path)
