"""The integrator as the paper has it: its retraction is the exponential on SE(3), which is not our default."""

from typing import Any

import leastaction as la


def as_in_the_paper(**options: Any) -> la.Variational:
    """Return Variational(**options) with the paper's retraction; the residual "svi" has none."""
    if options.get("residual") != "svi":
        options["retraction"] = "exp"
    return la.Variational(**options)
