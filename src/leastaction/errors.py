"""What the library raises and warns with; every message names the element and the way out."""

import sys
import warnings
from collections.abc import Iterable

import numpy as np


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest line that is not of this package, so that users see their own call."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "leastaction":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class ModelError(ValueError):
    """A model that cannot be simulated.

    Attributes
    ----------
    faults : list of str
        Everything that is wrong, one sentence each.
    """

    def __init__(self, faults: str | Iterable[str]) -> None:
        self.faults = [faults] if isinstance(faults, str) else list(faults)
        if len(self.faults) == 1:
            message = self.faults[0]
        else:
            bullets = [f"- {fault}" for fault in self.faults]
            message = "\n".join([f"{len(bullets)} faults in the model:", *bullets])
        super().__init__(message)


class NotDefinedError(ModelError):
    """Plain data of a class of somebody else, which has not been defined or imported here."""


class AssemblyError(ModelError):
    """Loops that cannot be closed from a configuration, or not at a velocity.

    Attributes
    ----------
    loop : name of the worst loop
    distance : how far it stays open, m; or how fast it opens, m/s
    """

    def __init__(self, message: str, loop: str = "", distance: float = 0.0) -> None:
        super().__init__(message)
        self.loop, self.distance = loop, distance

    def __reduce__(self) -> tuple[type["AssemblyError"], tuple[str, str, float]]:
        return AssemblyError, (str(self), self.loop, self.distance)


class ModelWarning(UserWarning):
    """A model that can be simulated, but not as its description says: something in it is doubtful or does not act."""


class AccuracyWarning(UserWarning):
    """A run whose energy wanders: its step is too long, or its method does not bound the error."""


class StepError(RuntimeError):
    """A step that could not be taken; it carries the last good state.

    Attributes
    ----------
    status : what went wrong
    step : index of the step that failed
    time : time at its start, s
    residual : the solver's last residual, in the units of its stopping rule
    joint : name of the body whose joint has the largest residual; empty if a control failed, or the method
        has no search
    q : (nq,) last good configuration
    v : (nv,) last good velocity
    p : (nv,) last good momentum
    hint : what may be the cause, where that is known; may be empty
    """

    def __init__(
        self,
        status: str,
        step: int,
        time: float,
        residual: float,
        joint: str,
        q: np.ndarray,
        v: np.ndarray,
        p: np.ndarray,
        hint: str = "",
    ) -> None:
        # All fields go to `args`, so that the error survives pickling between processes.
        super().__init__(status, step, time, residual, joint, q, v, p, hint)
        self.status, self.step, self.time, self.residual, self.joint = status, step, time, residual, joint
        self.q, self.v, self.p, self.hint = q, v, p, hint

    def __str__(self) -> str:
        failed = f"step {self.step} at t = {self.time:.6g} s failed: {self.status}"
        if self.joint:
            failed += f"; residual {self.residual:.3g}, worst at the joint of '{self.joint}'"
        if self.joint:
            advice = "Try a smaller dt or a looser tolerance; the"
        else:  # a control has no residual, and no step cures it
            advice = "The" if np.isnan(self.residual) else "Try a smaller dt; the"
        sentences = (f"{failed}.", self.hint, f"{advice} last good state is in q, v and p of this error.")
        return " ".join(filter(None, sentences))


class FileError(OSError):
    """A file of results that cannot be written or read; the message names it and the way out."""
