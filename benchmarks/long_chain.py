"""A very long chain: seconds a step and peak memory, in a process that does nothing else."""

import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

import leastaction as la
from benchmarks.fresh import run_fresh


class LongChain(NamedTuple):
    """A chain of n bodies: mean CPU time of a step, s, and peak memory of the whole process, bytes."""

    n: int
    step: float
    memory: float


def long_chain(n: int, steps: int) -> LongChain:
    """Make and step a chain of n bodies in a process of its own.

    Parameters
    ----------
    n : number of bodies
    steps : how many to average over, the first one, which has no history to extrapolate, included
    """
    call = "from benchmarks import long_chain as module; print(module.child({}, {}))"
    run_fresh(call.format(2, 1))  # compiles what is not compiled yet: neither its time nor its memory is the chain's
    printed, _ = run_fresh(call.format(n, steps))
    return LongChain(n, **json.loads(printed))


def child(n: int, steps: int) -> str:
    """What the process measures of itself, as JSON."""
    la.Simulator(la.library.chain(2)).step()  # loads the compiled kernels
    sim = la.Simulator(la.library.chain(n))
    began = time.process_time()
    sim.step(steps)
    return json.dumps({"step": (time.process_time() - began) / steps, "memory": peak_memory()})


def peak_memory() -> float:
    """Peak resident memory of this process, bytes; NaN where the system does not tell."""
    # Linux starts a process's ru_maxrss at its parent's peak, so the process's own record is looked up first.
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmHWM:"):
            return 1024.0 * int(line.split()[1])
    try:
        import resource
    except ImportError:
        return float("nan")
    unit = 1.0 if sys.platform == "darwin" else 1024.0
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
