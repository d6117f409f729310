"""Joint limits and dry friction of a model, as the kernels take them."""

from typing import Any

import numpy as np

from leastaction.compiled import Compiled
from leastaction.integrators import Integrator
from leastaction.kernels import methods
from leastaction.kernels.layout import LINK as LINK_TABLE
from leastaction.kernels.layout import SCREW
from leastaction.kernels.limits.recovery import RATE
from leastaction.kernels.limits.step import Limited
from leastaction.kernels.limits.table import Limits
from leastaction.kernels.machine.scratch import scratch_size
from leastaction.model import Model
from leastaction.model.unhonoured import warn_once

Array = np.ndarray
NEAR = 1e-13  # of a coordinate, or rad or m, by which it may be beyond a limit unnoticed


def scratch(c: Compiled) -> Array:
    """Return scratch memory for the kernels; none where no limits or dry friction act."""
    return np.zeros(scratch_size(c.tree.n, c.nq, c.nv, len(c.limits)) if len(c.limits) else 0)


def columns(c: Compiled) -> Limits:
    """Return the table of limits and dry friction by columns."""
    link, *others = np.ascontiguousarray(c.limits.T)
    return Limits(link.astype(np.int64), *others)


def around(base: Any, c: Compiled, scratch: Array) -> Any:
    """Return a method that keeps the limits, and is ``base`` between them; that itself where there are none."""
    if len(c.limits) == 0:
        return base
    rows = columns(c)
    return methods.known(Limited(base, len(rows.link), int(np.count_nonzero(rows.friction)), rows, scratch))


def require_known(model: Model, c: Compiled, integrator: Integrator) -> None:
    """Raise a ValueError if the integrator does not know what acts in the joints of a model."""
    if len(c.limits) == 0:
        return
    rubbing = columns(c).friction > 0.0
    words = [word for word, acts in (("limits", has_limits(c).any()), ("friction", rubbing.any())) if acts]
    if not integrator.takes_limits:
        raise ValueError(f"{integrator!r} knows neither joint limits nor dry friction, and {model.name} has "
                         f"{' and '.join(_titles(words))} (body '{_first(model, c)}'): take la.Variational(), or give "
                         f"ignore={tuple(words)!r} to simulate without")
    if rubbing.any() and integrator.order > 2:
        raise ValueError(f"dry friction is of order 2, and the integrator of order {integrator.order} (body "
                         f"'{_first(model, c, rubbing)}' has friction): take order=2, or give ignore=('friction',) to "
                         "simulate without")


def tell_beyond(model: Model, c: Compiled, q: Array) -> None:
    """Warn, once for a model, of joints that start beyond their limits: they come back slowly."""
    found = []
    for i, low, high, *_ in zip(*columns(c), strict=True):
        x = _coordinate(c, q, i)
        excess = max(low - x, x - high)
        if excess > NEAR * (1.0 + abs(x)):
            body = model.bodies[c.body_of_link[i]]
            slides = c.tree.kind[i] == SCREW and not c.constants[i, LINK_TABLE.rows("turn")].any()
            unit = "m" if slides else "rad"
            found.append((excess, f"'{body.joint.name or body.name}' starts {excess:.3g} {unit} beyond"))
    if found:
        found.sort(reverse=True)
        more = f" (and {len(found) - 1} more beyond theirs)" if len(found) > 1 else ""
        warn_once(model, ("beyond", model.revision), f"joint {found[0][1]} its limit{more}: it comes back at "
                  f"{RATE:g} rad/s or m/s, and the energy that this gives is dissipated['recovery'] of the run")


def _coordinate(c: Compiled, q: Array, i: int) -> float:
    """Return what the limits of link i bound: its coordinate, rad or m, or the angle of a ball joint."""
    at = c.tree.iq[i]
    if c.tree.kind[i] == SCREW:
        return float(q[at])
    return float(2.0 * np.arctan2(np.linalg.norm(q[at + 1 : at + 4]), abs(q[at])))


def has_limits(c: Compiled) -> Array:
    """Tell of each row whether it has a limit."""
    rows = columns(c)
    limited: Array = np.isfinite(rows.low) | np.isfinite(rows.high)
    return limited


def _titles(words: list[str]) -> list[str]:
    return [{"limits": "joint limits", "friction": "dry friction"}[word] for word in words]


def _first(model: Model, c: Compiled, which: Array | None = None) -> str:
    """Name the body of the first row, or of the first of some."""
    links = columns(c).link if which is None else columns(c).link[which]
    return str(model.names[c.body_of_link[links[0]]])
