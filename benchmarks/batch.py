"""Throughput of many simulations at once, against the number of threads."""

import os
import time
from collections.abc import Callable, Sequence
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

    counts = range(1, (os.cpu_count() or 1) + 1)
    batched = [partial(many, model, q, v, threads=threads, **options) for threads in counts]
    work = members * n * steps
    seconds = _fastest([one_by_one, *batched], repeats)
    return [Batch(threads, work / least) for threads, least in zip([0, *counts], seconds, strict=True)]


def _fastest(runs: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Least wall-clock time, s, of each run after one that compiles; in turns, so that all see the same machine."""
    seconds: list[list[float]] = [[] for _ in runs]
    for _ in range(repeats + 1):
        for run, spent in zip(runs, seconds, strict=True):
            began = time.perf_counter()
            run()
            spent.append(time.perf_counter() - began)
    return [min(spent[1:]) for spent in seconds]
