"""Engines that make the chunks: threads, processes of our own, an executor of the user, or Dask, by one protocol.

A worker is sent the path of the folder and the number of a chunk, and returns a small summary. An engine takes numbers
as it has room for them, so that a million chunks are never queued at once.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from itertools import islice
from threading import Event
from time import monotonic
from typing import Any, NamedTuple, Protocol

from leastaction.arguments import shown, whole
from leastaction.ensemble.chunk import make_chunk
from leastaction.ensemble.functions import packed
from leastaction.ensemble.index import Summary
from leastaction.ensemble.pool import Pool

RETRIES = 2  # of a chunk that raised, by Dask
GIVEN_UP = 3  # times that Dask may give a chunk up before this does
AHEAD = 4  # chunks that wait for each thread of a Dask cluster
LOOK = 2.0  # s after which the number of its threads is asked for again


class Task(NamedTuple):
    """What is to be made: the folder, and the functions of the plan by name."""

    path: str
    functions: dict[str, Any]


class Engine(Protocol):
    """Makes chunks.

    Attributes
    ----------
    workers : how many chunks are made at the same time
    threads : how many threads make one chunk
    """

    workers: int
    threads: int

    def make(self, task: Task, numbers: Iterator[int]) -> Iterator[Summary]:
        """Make the chunks with these numbers, and yield the summary of each as soon as it is made.

        When this generator is closed, chunks that were not begun are not made.
        """
        ...


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def engine_of(executor: Any, threads: int | None) -> Engine:
    """Return the engine for what a user gives as ``executor``.

    Parameters
    ----------
    executor : None for threads in this process, a number of processes, a concurrent.futures Executor, or a Dask Client
    threads : of each worker; None for what there is, divided among them
    """
    if threads is not None:
        threads = whole("threads", threads, 1)
    if executor is None:
        return Threads(threads or cores())
    if isinstance(executor, int) and not isinstance(executor, bool):
        count = whole("executor", executor, 1, 4096)
        return Processes(count, threads or max(1, cores() // count))
    if isinstance(executor, Executor):
        count = getattr(executor, "_max_workers", None) or cores()
        return Futures(executor, count, threads or max(1, cores() // count))
    if hasattr(executor, "submit") and hasattr(executor, "scheduler_info"):
        return Dask(executor, threads or 1)
    raise ValueError("executor must be None, a number of processes, a concurrent.futures.Executor or a "
                     f"dask.distributed.Client, not {shown(executor)}")


def in_flight(submit: Callable[[int], "Future[Summary]"], numbers: Iterator[int], most: int) -> Iterator[Summary]:
    """Keep at most ``most`` tasks submitted, and yield results as they come; at an error, cancel what has not begun."""
    waiting = {submit(number) for number in islice(numbers, most)}
    try:
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                waiting.update(map(submit, islice(numbers, 1)))
                yield future.result()
    finally:
        for future in waiting:
            future.cancel()


class Threads:
    """Threads of this process: each makes chunks by itself, or several make one if there are few chunks left."""

    def __init__(self, count: int) -> None:
        self.workers, self.threads = count, 1

    def make(self, task: Task, numbers: Iterator[int]) -> Iterator[Summary]:
        """Make chunks; when this is closed, those that are being made end within a few steps."""
        stop, ahead = Event(), list(islice(numbers, self.workers))
        threads = max(1, self.workers // max(1, len(ahead)))

        def submit(number: int) -> "Future[Summary]":
            return pool.submit(make_chunk, task.path, number, task.functions, threads, stop)

        with ThreadPoolExecutor(self.workers, thread_name_prefix="ensemble") as pool:
            try:
                yield from in_flight(submit, _chained(ahead, numbers), self.workers)
            finally:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)


class Processes:
    """Processes of our own; one that dies is replaced, and its chunk made again."""

    def __init__(self, count: int, threads: int) -> None:
        self.workers, self.threads = count, threads

    def make(self, task: Task, numbers: Iterator[int]) -> Iterator[Summary]:
        """Make chunks; when this is closed, the processes are ended."""
        with Pool(self.workers, task.path, packed(task.functions), self.threads) as pool:
            yield from in_flight(pool.submit, numbers, 2 * self.workers)


class Futures:
    """An executor of the user: what it raises is raised."""

    def __init__(self, executor: Executor, workers: int, threads: int) -> None:
        self.executor, self.workers, self.threads = executor, workers, threads

    def make(self, task: Task, numbers: Iterator[int]) -> Iterator[Summary]:
        """Make chunks; when this is closed, those that are being made go on to their end."""
        functions = packed(task.functions)

        def submit(number: int) -> "Future[Summary]":
            return self.executor.submit(make_chunk, task.path, number, functions, self.threads)

        yield from in_flight(submit, numbers, 2 * self.workers)


class Dask:
    """A cluster of dask.distributed: chunks of workers that die are made by others."""

    def __init__(self, client: Any, threads: int) -> None:
        if getattr(client, "asynchronous", False):
            raise ValueError("executor is an asynchronous dask Client: give one made with asynchronous=False")
        self.client, self.threads = client, threads
        self.workers = max(1, sum(client.nthreads().values()))

    def make(self, task: Task, numbers: Iterator[int]) -> Iterator[Summary]:
        """Make chunks, a few for each thread being queued; when this is closed, those that wait are cancelled."""
        import distributed

        as_completed: Any = distributed.as_completed  # it has no types
        functions, path = packed(task.functions), os.path.abspath(task.path)

        def submit(number: int) -> Any:
            return self.client.submit(make_chunk, path, number, functions, self.threads, pure=False, retries=RETRIES,
                                      key=f"leastaction-chunk-{number}-{os.urandom(8).hex()}")

        waiting = {submit(number): number for number in islice(numbers, AHEAD * self.workers)}
        ready = as_completed(list(waiting), loop=self.client.loop)  # else of the default client, if there is one
        given_up, looked = Counter[int](), monotonic()
        try:
            for future in ready:
                number = waiting.pop(future)
                if monotonic() - looked > LOOK:  # workers may have come: a batch system starts them one by one
                    self.workers, looked = max(1, sum(self.client.nthreads().values())), monotonic()
                try:
                    summary = future.result()
                    following = list(islice(numbers, max(0, AHEAD * self.workers - len(waiting))))
                except distributed.KilledWorker:  # Dask gives a task up when a few workers died that had it waiting
                    given_up[number] += 1
                    if given_up[number] > GIVEN_UP:
                        raise
                    summary, following = None, [number]
                for one in following:
                    waiting[more := submit(one)] = one
                    ready.add(more)
                if summary is not None:
                    yield summary
        finally:
            self.client.cancel(list(waiting))


def _chained(first: list[int], rest: Iterator[int]) -> Iterator[int]:
    yield from first
    yield from rest
