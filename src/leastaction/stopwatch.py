"""The time of a piece of work, without the time in which Numba compiles kernels or loads them from the cache."""

import time
from typing import Any, Self

from numba.core import event


class Stopwatch(event.Listener):
    """Times what is done inside ``with Stopwatch() as watch:``.

    Numba takes one lock whenever it compiles a kernel or loads one from its cache, and tells when it takes the lock and
    when it lets go; that time does not count.

    Attributes
    ----------
    seconds : wall-clock time, s
    cpu_seconds : CPU time of this thread, s
    """

    def __init__(self) -> None:
        self.seconds = self.cpu_seconds = 0.0
        self._depth = 0  # the thread that holds the lock may take it again

    def on_start(self, _event: Any) -> None:
        """Stop the watch: Numba begins to compile."""
        if self._depth == 0:
            self._count(+1)
        self._depth += 1

    def on_end(self, _event: Any) -> None:
        """Go on: Numba has compiled."""
        self._depth -= 1
        if self._depth == 0:
            self._count(-1)

    def __enter__(self) -> Self:
        event.register("numba:compiler_lock", self)
        self._count(-1)
        return self

    def __exit__(self, *_error: object) -> None:
        self._count(+1)
        event.unregister("numba:compiler_lock", self)

    def _count(self, sign: int) -> None:
        self.seconds += sign * time.perf_counter()
        self.cpu_seconds += sign * time.thread_time()
