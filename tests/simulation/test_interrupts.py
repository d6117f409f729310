"""Ctrl-C acts within a second wherever steps are made, leaves a valid state, and cutting the work changes no bit."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import leastaction as la

HEAD = """
import os, signal, sys, threading, time
import numpy as np, leastaction as la
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores the signal
model = la.library.chain(10)
{first}
pressed = []
def press():
    time.sleep(0.5)
    pressed.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
try:
    {work}
except KeyboardInterrupt:
    print("late", time.perf_counter() - pressed[0])
    {after}
else:
    print("not interrupted")
"""
FIRST = "la.Simulator(model, dt=1e-3).step(5)"  # compiles the loop, which cannot be interrupted
SIMULATOR = (FIRST, "sim = la.Simulator(model, dt=1e-3); sim.step(10**9)",
             "n = sim.steps; other = la.Simulator(model, dt=1e-3); other.step(n)\n"
             "    print('same', n > 100 and np.array_equal(sim.q, other.q) and np.array_equal(sim.p, other.p)"
             " and sim.energy == other.energy); sim.step(10)")
CHOSEN_STEPS = tuple(part.replace("dt=1e-3", "dt=1e-2, integrator='dop853'") for part in SIMULATOR)
LANES = "la.simulate_many(model, [model.q0] * 4, dt=1e-3, steps=2 * 10**7, record_every=10**5, threads={threads})"
LAW = ("import numba; la.simulate_many(model, [model.q0] * 2, dt=1e-3, steps=10**7, record_every=10**5, threads=2, "
       "control=numba.njit(lambda t, q, v: 0.0 * v))")


def few_steps(work):
    """The same with five steps, and the work."""
    return re.sub(r"\bsteps=[^,]*", "steps=5", work), work, "pass"


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
@pytest.mark.parametrize(("first", "work", "after"), [
    SIMULATOR, CHOSEN_STEPS, few_steps(LANES.format(threads=1)), few_steps(LANES.format(threads=2)), few_steps(LAW),
], ids=["Simulator.step", "by DOP853", "simulate_many on one thread", "on two", "controlled members"])
def test_ctrl_c_acts_within_a_second(first, work, after):
    code = HEAD.format(first=first, work=work, after=after)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    late = [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("late")]
    # A fraction of a second where the machine is idle; the whole work would take a minute
    assert len(late) == 1 and late[0] < 15.0, done.stdout
    assert "same False" not in done.stdout and ("Simulator" not in work or "same True" in done.stdout)


def test_results_do_not_depend_on_how_steps_are_cut():
    one, many = (la.Simulator(la.library.chain(10), dt=1e-3) for _ in range(2))
    one.step(3000)
    for n in (1, 15, 1, 983, 2000):
        many.step(n)
    for name in ("q", "v", "p", "energy", "momentum", "steps", "status"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name), name)


def test_a_handler_of_ones_own_is_called_and_restored():
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(time.perf_counter()))
    try:
        sim = la.Simulator(la.library.chain(3))
        sim.step(10)
        signal.raise_signal(signal.SIGINT)
        assert len(pressed) == 1
    finally:
        signal.signal(signal.SIGINT, before)
