"""A progress bar for long runs, and the number of steps between two updates of it."""

import sys
import time

PATIENCE = 2.0  # seconds that a run may take without a bar
GLANCE = 0.1  # seconds between two updates


class Progress:
    """Counts steps; shows a tqdm bar when asked to, or when a run at a terminal turns out to be long.

    Parameters
    ----------
    steps : of the whole run
    show : True, False, or None to decide by the length of the run
    done : steps made before
    unit : what is counted
    """

    def __init__(self, steps: int, show: bool | None, done: int = 0, unit: str = "step") -> None:
        self.steps, self.show, self.done, self.unit = steps, show, done, unit
        self.chunk = 16
        self.bar = None
        self.began = self.glanced = time.perf_counter()

    def __enter__(self) -> "Progress":
        if self.show:
            self._open()
        return self

    def __exit__(self, *_exception: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def update(self, steps: int) -> None:
        """Note that so many steps were made."""
        now = time.perf_counter()
        self.done += steps
        took, self.glanced = now - self.glanced, now
        self.chunk = max(1, min(int(self.chunk * min(4.0, GLANCE / max(took, 1e-9))), 1_000_000))
        if self.bar is not None:
            self.bar.update(steps)
        elif self.show is None:
            spent = now - self.began
            if spent > 0.2 and spent * self.steps / self.done > PATIENCE and sys.stderr.isatty():
                self._open()

    def _open(self) -> None:
        try:
            from tqdm import tqdm
        except ImportError:
            self.show = False
            return
        self.bar = tqdm(total=self.steps, initial=self.done, unit=self.unit, unit_scale=True, leave=False)
