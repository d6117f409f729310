"""How the displacement ΔT of a link over a step becomes its mean velocity x/h, and the derivative of that map.

The discrete Lagrangian of a link is xᵀG x/2h, with x = τ⁻¹(ΔT) (equations 9 and 10). A retraction is three functions:

- ``inverse(T, c)``: x (6,) for the displacement T (4, 4);
- ``dinverse(x, c)``: the matrix (6, 6) that gives the change of x when T becomes exp(ζ)T, per unit of ζ;
- ``ddinverse(x, dx, c)``: the change of that matrix when x changes by dx.

All is in the frame of the link at t_k; c (3,) is its centre of mass there, which only "split" asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from .lie import Array, dlog, dlog3, dlog3_derivative, dlog_derivative, hat, log, quat_log, quat_of

Option = TypeVar("Option")


class Retraction(NamedTuple):
    """The three functions described above."""

    inverse: Callable[[Array, Array], Array]
    dinverse: Callable[[Array, Array], Array]
    ddinverse: Callable[[Array, Array, Array], Array]


def split_inverse(T: Array, c: Array) -> Array:
    """The link turns by the rotation vector w, and its centre of mass moves by e along a straight line.

    x = (w, e − w × c) is the twist about the link's origin, so that xᵀG x = wᵀI w + m eᵀe with I about the centre.
    """
    R, p = T[:3, :3], T[:3, 3]
    w, e = quat_log(quat_of(R)), R @ c + p - c
    return np.concatenate([w, e - np.cross(w, c)])


def split_dinverse(x: Array, c: Array) -> Array:
    """δw = dlog_w z and δe = y + z × (c + e), for ζ = (z, y)."""
    e = x[3:] + np.cross(x[:3], c)
    dw, de = dlog3(x[:3]), -hat(c + e)
    return np.block([[dw, np.zeros((3, 3))], [de + hat(c) @ dw, np.eye(3)]])


def split_ddinverse(x: Array, dx: Array, c: Array) -> Array:
    """Differentiate `split_dinverse`."""
    ddw, dde = dlog3_derivative(x[:3], dx[:3]), -hat(dx[3:] + np.cross(dx[:3], c))
    return np.block([[ddw, np.zeros((3, 3))], [dde + hat(c) @ ddw, np.zeros((3, 3))]])


def chosen(options: dict[str, Option], name: str, what: str) -> Option:
    """Return the option of this name, or raise a ValueError that lists all of them."""
    if name not in options:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, options))}, not {name!r}")
    return options[name]


RETRACTIONS = {
    "exp": Retraction(lambda T, c: log(T), lambda x, c: dlog(x), lambda x, dx, c: dlog_derivative(x, dx)),  # the paper
    "split": Retraction(split_inverse, split_dinverse, split_ddinverse),  # the default of the library
}
