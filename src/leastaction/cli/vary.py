"""What varies between the members of an ensemble, as the command takes it: 'mass:*=5%'."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

import leastaction as la

Vary = Annotated[list[str], typer.Option(metavar="NAME=VALUE", help=(
    "What differs between members; may be repeated. NAME is q, v, gravity, or what and which, as in mass:*, com:link2, "
    "q:elbow, damping:elbow. VALUE is 5% (normal, relative to the model's own), 2±0.1 or 2+-0.1 (normal: mean and "
    "standard deviation; ±0.1 about the model's own), or -1..1 (uniform). Several numbers as 0,0,-9.8±0,0,0.1."))]
SIGNS = ("±", "+/-", "+-")
WAYS = "5% (of the model's value), 2±0.1 or 2+-0.1 (mean and standard deviation), ±0.1, or -1..1 (from … to …)"


def read_vary(entries: Iterable[str]) -> dict[str, la.Normal | la.Uniform]:
    """Read what varies, by name, from the texts of --vary; a ValueError says which part cannot be read."""
    found: dict[str, la.Normal | la.Uniform] = {}
    for entry in entries:
        name, equals, value = (part.strip() for part in entry.rpartition("="))
        if not (equals and name and value):
            raise ValueError(f"cannot take --vary '{entry}': write it as NAME=VALUE, for example 'mass:*=5%'")
        if name in found:
            raise ValueError(f"--vary has '{name}' twice: give it once")
        try:
            found[name] = _distribution(value)
        except ValueError as error:
            raise ValueError(f"cannot take --vary '{entry}': {error}") from None
    return found


def _distribution(value: str) -> la.Normal | la.Uniform:
    sign = next((sign for sign in SIGNS if sign in value), None)
    if sign is not None:
        mean, _, std = value.partition(sign)
        if std.endswith("%"):
            raise ValueError("a deviation in percent is one of the model's own value, and stands alone, as in "
                             "'mass:*=5%'")
        return la.Normal(_numbers(mean) if mean else None, _numbers(std))
    if value.endswith("%"):
        return la.Normal(relative=[part / 100 for part in _numbers(value[:-1])])
    if ".." in value:
        low, _, high = value.partition("..")
        return la.Uniform(_numbers(low), _numbers(high))
    zeros = ",".join("0" for _ in _numbers(value))
    raise ValueError(f"it says one value, and not how it varies. Write {WAYS}; or {value}±{zeros} for the same for all "
                     "members")


def _numbers(text: str) -> list[float]:
    """Read numbers between commas."""
    found = []
    for part in map(str.strip, text.split(",")):
        try:
            found.append(float(part))
        except ValueError:
            said = f"'{part}' is no number" if part else "a number is missing"
            raise ValueError(f"{said}. Write {WAYS}") from None
    return found
