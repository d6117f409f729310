"""A straight line through a series, with a confidence interval that allows for correlated neighbours."""

from dataclasses import dataclass

import numpy as np

Array = np.ndarray

BLOCKS = 20
HUGE = 1e100  # beyond this a series has exploded: its trend means nothing, and its squares overflow
STUDENT = 2.101  # 97.5 % of Student's t with BLOCKS - 2 degrees of freedom


@dataclass(frozen=True)
class Trend:
    """The slope of a series and how well it is known.

    Attributes
    ----------
    slope : per second, in the unit of the series
    interval : (low, high) 95 % confidence interval of the slope
    change : slope times the duration
    scatter : rms of the block means about the line
    """

    slope: float
    interval: tuple[float, float]
    change: float
    scatter: float

    @property
    def found(self) -> bool:
        """Whether the interval excludes zero."""
        return self.interval[0] > 0 or self.interval[1] < 0

    @property
    def uncertainty(self) -> float:
        """Half the width of the interval, per second."""
        return 0.5 * (self.interval[1] - self.interval[0])


def trend(t: Array, y: Array) -> Trend | None:
    """Fit a line to the means of 20 blocks of a series; None if it is too short for that, or exploded.

    Oscillations faster than a block average out. The correlation of the residuals of neighbouring blocks measures how
    much memory is left, and widens the interval accordingly.

    Parameters
    ----------
    t : (N,) evenly spaced times, s
    y : (N,) the series
    """
    size = len(t) // BLOCKS
    if size < 2 or np.abs(y).max() > HUGE:
        return None
    n = size * BLOCKS
    time, mean = (np.asarray(x[-n:]).reshape(BLOCKS, size).mean(axis=1) for x in (t, y))
    centred = time - time.mean()
    spread = float(centred @ centred)
    slope = float(centred @ mean) / spread
    rest = mean - mean.mean() - slope * centred
    variance = float(rest @ rest) / (BLOCKS - 2)
    half = STUDENT * float(np.sqrt(variance * _memory(rest) / spread))
    duration = float(t[-1] - t[0])
    return Trend(slope, (slope - half, slope + half), slope * duration, float(np.sqrt(np.mean(rest**2))))


def _memory(rest: Array) -> float:
    """The factor by which the correlation of neighbouring residuals (BLOCKS,) enlarges the variance of a slope."""
    square = float(rest @ rest)
    if square == 0.0:
        return 1.0
    seen = float(rest[1:] @ rest[:-1]) / square
    # Kendall's correction: residuals of so short a series look less correlated than they are.
    correlation = min(max((seen + 2.0 / BLOCKS) / (1.0 - 4.0 / BLOCKS), 0.0), 0.95)
    return (1.0 + correlation) / (1.0 - correlation)
