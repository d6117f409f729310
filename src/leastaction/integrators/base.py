"""What an integrator is: a frozen description with a few attributes, and the method that the kernels read.

A new one is a class derived from `Integrator`, in a file of its own inside this package or outside; docs/extending.md
writes one. Nothing outside of this folder asks for the class of an integrator: it asks for what stands here.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from leastaction.compiled import Compiled
from leastaction.integrators.status import Status
from leastaction.model import Model, losses

kinds: dict[tuple[str, str], type["Integrator"]] = {}  # all that there are, by the module and the name of the class
PACKAGE = "leastaction"


def home(kind: type) -> str:
    """Tell the module of a class; empty if it is part of this library, whose modules may be renamed."""
    return "" if kind.__module__.partition(".")[0] == PACKAGE else kind.__module__


class Integrator(ABC):
    """What all integrators have in common; derive a frozen dataclass from it, with the options as fields.

    Attributes
    ----------
    order : of the error after a given time, in the step
    symplectic : whether it is a symplectic map, so that the error of the energy stays bounded
    chooses_steps : whether dt is the distance of nodes only, and steps follow from a tolerance
    takes_wrenches : whether it knows external wrenches
    takes_forces : whether it knows forces between bodies
    stable : greatest dt ω at which it follows an oscillation, of the longest part of a step
    """

    order: int
    symplectic: ClassVar[bool] = False
    chooses_steps: ClassVar[bool] = False
    takes_wrenches: ClassVar[bool] = True
    takes_forces: ClassVar[bool] = True
    stable: ClassVar[float] = 2.0

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kinds[home(cls), cls.__name__] = cls

    @abstractmethod
    def method(self, c: Compiled) -> Any:
        """Return what the kernels read, for a model: a NamedTuple that `kernels.methods.method` knows."""

    @property
    def label(self) -> str:
        """The integrator in words, for tables and curves."""
        return type(self).__name__

    @property
    def longest(self) -> float:
        """The longest part of a step, in parts of dt: below 1 if it is made of shorter ones, 0 if they are chosen."""
        return 0.0 if self.chooses_steps else 1.0

    @property
    def first_chunk(self) -> int:
        """How many steps to make before the first look at the clock, so that Ctrl-C need not wait."""
        return 1 if self.chooses_steps else 16

    @property
    def takes_limits(self) -> bool:
        """Whether it knows joint limits and dry friction."""
        return False

    @property
    def keeps_ledger(self) -> bool:
        """Whether it notes the work of damping, actuators, control, limits and dry friction (Trajectory.dissipated)."""
        return False

    def ledger(self, model: Model, controlled: bool) -> int:
        """Return how many columns the ledger of a run has, with a control or not: none if it is not kept."""
        return losses.ledger(model, controlled) if self.keeps_ledger else 0

    @property
    def in_lanes(self) -> bool:
        """Whether four simulations can be made side by side, in the lanes of SIMD."""
        return False

    @property
    def takes_loops(self) -> bool:
        """Whether it knows closed loops and couplings."""
        return False

    def check(self, model: Model, c: Compiled) -> None:
        """Raise a ValueError if the model has what the integrator does not know."""
        if model.forces and not self.takes_forces:
            name, force = next(iter(model.forces.items()))
            raise ValueError(f"{self!r} knows no forces between bodies, and the model has the {force.kind} '{name}': "
                             "take la.Variational()")
        if not self.takes_loops:
            model._refuse_loops(f"{self!r}", "take la.Variational() with its root finder la.Newton(), "
                                "la.RungeKutta4() or la.DormandPrince8()")

    def lane_method(self, c: Compiled) -> Any:
        """Return what the kernels read for four simulations in lanes."""
        return self.method(c)

    def finer(self) -> Self:
        """Return the integrator whose error, at half the step, is smaller by 2^order."""
        return self

    def higher(self) -> Self | None:
        """Return the same integrator with the next order; None if there is none."""
        return None

    def advice(self, status: Status) -> str:
        """Say what to do about a step that was not made, beyond a smaller dt and a looser tolerance; may be empty."""
        return ""

    def remedy(self, dt: float) -> str:
        """Say what to do about an energy that is not kept, the step having been dt, s."""
        return "Take a smaller step, or la.Variational(), which bounds its error."
