"""Values that a user may give for an argument, each with what it means; None where it can mean nothing."""

import random
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

NAN, INF = float("nan"), float("inf")
EXTREME = 1e3  # beyond this a step may fail, and says so


class Given(NamedTuple):
    """What is given, and the floats that it means."""

    value: Any
    meant: Any


def numbers(rng: random.Random, size: int) -> list[float]:
    """Draw numbers of a sensible size, now and then zero or extreme."""
    scale = rng.choice((1.0, 1.0, 1.0, 0.0, 1e-9, 1e3, 1e9, 1e100, 1e160, 1e200, 1e308))
    return [scale * rng.uniform(-1, 1) for _ in range(size)]


def vector(rng: random.Random, size: int) -> Given:
    """Draw a vector: most of them right, in one of the forms that people write."""
    meant = numbers(rng, size)
    whole = [float(rng.randrange(-3, 4)) for _ in range(size)]
    array = np.array(meant)
    strided = np.empty(2 * size)
    strided[::2] = meant
    backwards = np.array(meant[::-1])[::-1]
    right = [
        Given(meant, meant), Given(tuple(meant), meant), Given(array, meant), Given(strided[::2], meant),
        Given(backwards, meant), Given(array.astype(">f8"), meant), Given(np.array(whole, dtype=np.int8), whole),
        Given(np.array(whole, dtype=np.float32), whole), Given([int(x) for x in whole], whole),
        Given([Fraction(x) for x in meant], meant), Given(np.array(meant, dtype=object), meant),
        Given(array.astype(np.longdouble), meant), Given(np.array(whole) > 0, [float(x > 0) for x in whole]),
    ]
    wrong: list[Any] = [
        meant[:-1], [*meant, 0.0], [meant], array[:, None], [*meant[:-1], NAN], [*meant[:-1], INF], [*meant[:-1], None],
        [*meant[:-1], "1"], array + 0j, [*meant[:-1], 1j], np.ma.masked_array(meant, mask=[True] * size),
        [*meant[:-1], np.ma.masked], np.zeros(size, dtype="datetime64[s]"), np.zeros(size, dtype="timedelta64[s]"),
        np.full(size, "1"), b"1" * size, "x" * size, {}, {0: 1.0}, object(), lambda: meant, [[]], [10**400] * size,
        np.zeros(size, dtype=[("a", float)]), range, NAN, np.zeros((7, size)), [Decimal("NaN")] * size, datetime.now(),
        [[1.0] * k for k in range(1, size + 2)], slice(None), np.full(size, NAN), iter(meant), np.float64,
    ]
    return rng.choice(right) if rng.random() < 0.8 else Given(rng.choice(wrong), None)


def seconds(rng: random.Random) -> Given:
    """Draw a time step."""
    dt = rng.choice((1e-3, 1e-3, 1e-2, 1e-4))
    right = [Given(dt, dt), Given(np.float32(2**-10), 2**-10), Given(np.array(dt), dt), Given(Fraction(1, 1000), 1e-3)]
    wrong = [0, -dt, NAN, INF, "x", str(dt), None, 1j, [dt], (dt, dt), np.array([dt]), True, 10**400, {},
             Decimal("0.001"), np.datetime64("2026"), np.timedelta64(1, "s"), lambda: dt, object(), np.ma.masked, b"1"]
    return rng.choice(right) if rng.random() < 0.8 else Given(rng.choice(wrong), None)


def count(rng: random.Random, least: int, usual: int) -> Given:
    """Draw a whole number of at least ``least``."""
    right = [Given(usual, usual), Given(np.int64(usual), usual), Given(np.uint8(usual), usual), Given(least, least)]
    wrong = [least - 1, -(2**63), 2**63, 2**64, 1e3, 1.5, "3", None, True, NAN, [usual], np.array([usual]), 1j,
             Fraction(3), Decimal(3), object(), np.float64(usual), b"3", 10**40]
    return rng.choice(right) if rng.random() < 0.8 else Given(rng.choice(wrong), None)
