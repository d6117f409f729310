"""Throughput of many simulations at once, against the number of threads."""

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import leastaction as la


class Batch(NamedTuple):
    """How many body-steps a second, wall-clock: one simulation after the other (threads = 0), or by so many threads."""

    threads: int
    rate: float


def batches(members: int, n: int, steps: int, repeats: int) -> list[Batch]:
    """Time a batch of chains from slightly different states; empty where the library cannot run batches.

    Parameters
    ----------
    members : number of simulations
    n : bodies of each
    steps : of each
    repeats : how often; the fastest counts
    """
    many = getattr(la, "simulate_many", None)
    if many is None:
        return []
    model = la.library.chain(n)
    q = model.q0 + np.random.default_rng(0).uniform(-0.1, 0.1, (members, model.nq))
    v = np.zeros((members, model.nv))
    options: dict[str, Any] = {"dt": 1e-3, "steps": steps, "record_every": steps}

    def one_by_one() -> None:
        for k in range(members):
            la.simulate(model, q[k], v[k], **options)

    work = members * n * steps
    found = [Batch(0, work / _fastest(one_by_one, repeats))]
    for threads in range(1, (os.cpu_count() or 1) + 1):
        found.append(Batch(threads, work / _fastest(partial(many, model, q, v, threads=threads, **options), repeats)))
    return found


def _fastest(run: Callable[[], object], repeats: int) -> float:
    """Least wall-clock time, s, of several runs after one that compiles."""
    seconds = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    return min(seconds[1:])
