"""What a batch of simulations gives back: stacked arrays, and trajectories that are views of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from leastaction.errors import StepError
from leastaction.integrators import Integrator
from leastaction.model import Model
from leastaction.simulation.run import NODE, STEP
from leastaction.trajectory import Trajectory

if TYPE_CHECKING:
    import pandas
    import xarray

Array = np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Trajectories(Sequence[Trajectory]):
    """B runs of one model as stacked arrays, and as a sequence of B `Trajectory` whose arrays are views of them.

    K steps were asked for, and every ``record_every``-th node was kept: N = K // record_every + 1 of them, the start
    included. How the steps between two of them went is summed up, in S = K / record_every rows, rounded up. A member
    that failed made fewer steps: its own trajectory, ``many[b]``, ends early, and its rows of the stacked arrays after
    that repeat its last kept node, so that every number is finite. A slice, ``many[2:5]``, is again such
    an object, with views of the same arrays.

    Attributes
    ----------
    model : the system, as given; ``many[b].model`` has the gravity and the masses of member b
    integrator, dt, record_every : what all members have in common; dt in s
    t : (N,) times of the kept nodes, s
    q : (B, N, nq) configurations, rad, m, unit quaternions
    v : (B, N, nv) velocities, body axes for ball and free joints, rad/s, m/s
    p : (B, N, nv) momenta conjugate to v, kg m²/s, kg m/s
    energy : (B, N) total energy, J
    momentum : (B, N, 6) total spatial momentum about the world's origin, angular then linear, world axes, kg m²/s,
        kg m/s
    ledger : (B, N, 6) energy that has left each mechanism so far, J, in the order of `Trajectory.dissipated`; (B, N, 0)
        where nothing takes or gives energy
    impulse : (B, N, 2 nv) impulses of limits, then of dry friction, since the kept node before; (B, N, 0) if the model
        has neither
    iterations : (B, S) residual evaluations from one kept node to the next, in total; 0 where no step was made
    residual : (B, S) greatest residual left there, in the units of the stopping rule; 0 where no step was made
    status : (B, S) the most that a step needed there, see Status; where no step was made the negative one that says why
    substeps : (B, S) into how many parts a step was divided there at most; 1 for plain steps, and where none was made
    members : the B trajectories
    """

    model: Model
    integrator: Integrator
    dt: float
    record_every: int
    t: Array
    q: Array
    v: Array
    p: Array
    energy: Array
    momentum: Array
    ledger: Array
    impulse: Array
    iterations: Array
    residual: Array
    status: Array
    substeps: Array
    members: tuple[Trajectory, ...]

    def __len__(self) -> int:
        return len(self.members)

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...

    @overload
    def __getitem__(self, index: slice) -> "Trajectories": ...

    def __getitem__(self, index: int | slice) -> "Trajectory | Trajectories":
        if isinstance(index, slice):
            arrays: dict[str, Any] = {name: getattr(self, name)[index] for name in NODE + STEP}
            return replace(self, members=self.members[index], **arrays)
        return self.members[index]

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.members)

    def __repr__(self) -> str:
        failed = int(self.failed.sum())
        return (
            f"<Trajectories of '{self.model.name}': {len(self)} members, {int(self.steps.max(initial=0))} steps of "
            f"{self.dt:g} s, {len(self.t)} kept{f', {failed} cut short' if failed else ''}>"
        )

    @cached_property
    def steps(self) -> Array:
        """(B,) number of steps that each member made."""
        return np.array([member.steps for member in self.members], dtype=np.int64)

    @cached_property
    def failed(self) -> Array:
        """(B,) whether a member ended early."""
        return np.array([member.failure is not None for member in self.members], dtype=bool)

    @cached_property
    def failures(self) -> dict[int, StepError]:
        """The StepError of each member that ended early, by its number; it has the last good state, kept or not."""
        return {b: member.failure for b, member in enumerate(self.members) if member.failure is not None}

    @property
    def energy_error(self) -> Array:
        """(B, N) (E − E₀) / peak kinetic energy of each member's run."""
        peaks = np.array([member.peak_kinetic_energy or 1.0 for member in self.members])
        error: Array = (self.energy - self.energy[:, :1]) / peaks[:, None]
        return error

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the kept nodes as a table by member and t, with the columns of `Trajectory.to_pandas`.

        A member that failed has as many rows as it kept nodes.
        """
        from leastaction import files

        return files.to_pandas(self)

    def to_xarray(self) -> "xarray.Dataset":
        """Return the stacked arrays as an xarray Dataset over member and t, with named joints and units, and steps."""
        from leastaction import files

        return files.to_xarray(self)
