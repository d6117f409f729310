"""Worker processes that make chunks. If one dies, only its chunk is lost, and another worker makes it again.

They are started with the Python of this process and are sent their work through pipes, so a script needs no
``if __name__ == "__main__"`` for them, and they end whenever this process ends.
"""

import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any, Self

from leastaction.ensemble.index import Summary

DEATHS = 3  # deaths of workers after which a chunk is not tried again
SERVE = "from leastaction.ensemble.pool import serve; serve()"
LENGTH = struct.Struct("<Q")


class Pool:
    """Worker processes.

    Parameters
    ----------
    count : how many
    path : of the folder of the ensemble
    functions : of the plan, packed
    threads : of each worker
    """

    def __init__(self, count: int, path: str, functions: bytes | None, threads: int) -> None:
        self.given = os.path.abspath(path), functions, threads
        self.idle: queue.LifoQueue[Worker | None] = queue.LifoQueue()
        for _ in range(count):
            self.idle.put(None)  # started when needed
        self.workers: set[Worker] = set()
        self.lock, self.closed = threading.Lock(), False
        self.feeders = ThreadPoolExecutor(count, thread_name_prefix="ensemble")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        with self.lock:
            self.closed = True
            for worker in self.workers:
                worker.process.kill()  # a thread that waits for it then gets an EOFError
        self.feeders.shutdown(cancel_futures=True)
        for worker in self.workers:
            worker.end()

    def submit(self, number: int) -> "Future[Summary]":
        """Make a chunk in the background."""
        return self.feeders.submit(self._make, number)

    def _make(self, number: int) -> Summary:
        """Let a worker make a chunk, and wait for it; if the worker dies, another one makes it."""
        worker = self.idle.get()
        codes: list[str] = []
        try:
            while len(codes) < DEATHS:
                worker = worker or self._start()
                try:
                    return worker.make(number)
                except EOFError:
                    codes.append(worker.end())
                    with self.lock:
                        self.workers.discard(worker)
                    worker = None
        finally:
            self.idle.put(worker)
        raise RuntimeError(f"chunk {number} ended {DEATHS} worker processes ({', '.join(codes)}), so it is not tried "
                           "again. Too little memory for its members may be the cause: give a smaller chunk in another "
                           "folder, or run without an executor to see what happens")

    def _start(self) -> "Worker":
        with self.lock:
            if self.closed:
                raise KeyboardInterrupt
            worker = Worker(*self.given)
            self.workers.add(worker)
            return worker


class Worker:
    """A process, and the pipes to it."""

    def __init__(self, path: str, functions: bytes | None, threads: int) -> None:
        places = os.pathsep.join(place or os.getcwd() for place in sys.path)
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": places})
        self.first: tuple[Any, ...] | None = (path, functions, threads)

    def make(self, number: int) -> Summary:
        """Make a chunk; an EOFError says that the process is gone."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            if self.first is not None:
                _send(self.process.stdin, self.first)
                self.first = None
            _send(self.process.stdin, number)
            made, result = _receive(self.process.stdout)
        except OSError:
            raise EOFError from None
        if made:
            summary: Summary = result
            return summary
        raise result

    def end(self) -> str:
        """End the process, and say how it ended."""
        self.process.kill()
        code = self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # what it had not read is lost with it
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def _send(pipe: IO[bytes], thing: Any) -> None:
    data = pickle.dumps(thing)
    pipe.write(LENGTH.pack(len(data)) + data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    """Read what `_send` wrote; an EOFError if the other side is gone."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    data = pipe.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


def serve() -> None:
    """Make chunks as a worker process, until there are no more or the other side is gone."""
    import signal
    import warnings

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one handles Ctrl-C, and ends this one
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what functions print goes to stderr, as stdout carries the replies
    warnings.simplefilter("ignore")  # the process that started this one has warned already
    from leastaction.ensemble.chunk import make_chunk

    try:
        path, functions, threads = _receive(sys.stdin.buffer)
        while True:
            number = _receive(sys.stdin.buffer)
            reply: tuple[bool, Any]
            try:
                reply = True, make_chunk(path, number, functions, threads)
            except Exception as error:
                reply = False, _picklable(error)
            _send(replies, reply)
    except (EOFError, OSError):
        return


def _picklable(error: Exception) -> Exception:
    """Return the error if it can be pickled, else a RuntimeError with its text."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
