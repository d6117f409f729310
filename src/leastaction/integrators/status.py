"""What became of a step, and what was peculiar about a node."""

from enum import IntEnum, IntFlag

from leastaction.kernels import settings


class Status(IntEnum):
    """What became of a step: the most that it needed, or, negative, why it was not made."""

    CONVERGED = settings.CONVERGED
    FLOOR = settings.FLOOR
    STRUGGLED = settings.STRUGGLED
    BACKTRACKED = settings.BACKTRACKED
    LOWERED = settings.LOWERED
    CONTINUED = settings.CONTINUED
    SUBSTEPPED = settings.SUBSTEPPED
    EXHAUSTED = settings.EXHAUSTED
    ROTATION = settings.ROTATION
    NOT_FINITE = settings.NOT_FINITE
    BAD_CONTROL = settings.BAD_CONTROL
    WRONG_ROOT = settings.WRONG_ROOT
    UNRESOLVED = settings.UNRESOLVED
    TOO_SHORT = settings.TOO_SHORT
    TOO_MANY = settings.TOO_MANY
    SINGULAR = settings.SINGULAR
    CROWDED = settings.CROWDED

    @property
    def meaning(self) -> str:
        """The status in words."""
        return _MEANING[self]


class Flag(IntFlag):
    """What was peculiar about a node of a run."""

    # Loops have another number of redundant rows than at the start, or it changed since the kept node before: they came
    # through a singular configuration
    RANK_CHANGED = 1


_MEANING = {
    Status.CONVERGED: "converged to the tolerance",
    Status.FLOOR: "converged to the round-off floor, which is above the tolerance",
    Status.STRUGGLED: "converged slowly",
    Status.BACKTRACKED: "converged with Newton steps cut short",
    Status.LOWERED: "converged from a safer guess",
    Status.CONTINUED: "converged by continuation in the step size",
    Status.SUBSTEPPED: "made in smaller steps",
    Status.EXHAUSTED: "no convergence",
    Status.ROTATION: "a body would turn by nearly half a turn or more within one step",
    Status.NOT_FINITE: "the step left the range of finite numbers",
    Status.BAD_CONTROL: "the control raised an exception, or did not return nv finite joint forces",
    Status.WRONG_ROOT: "the search left the branch of roots on which the motion lies",
    Status.UNRESOLVED: "the motion is too fast to be followed with this step",
    Status.TOO_SHORT: "the tolerance asks for internal steps that are lost in round-off",
    Status.TOO_MANY: "the tolerance asks for more than 10,000 internal steps before the next node",
    Status.SINGULAR: "the closed loops are in a configuration in which their rows cannot be told apart",
    Status.CROWDED: "more happened at joint limits, or by dry friction, than could be followed; they were not all kept",
}
