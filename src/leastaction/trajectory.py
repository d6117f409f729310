"""What a simulation gives back."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leastaction import dynamics
from leastaction.errors import StepError
from leastaction.integrators import Integrator, Status
from leastaction.model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from leastaction.analysis import Accuracy, Certificate
    from leastaction.viewers import Viewer

Array = np.ndarray
Control = Callable[[float, Array, Array], ArrayLike] | ArrayLike | None


class Origin(NamedTuple):
    """What else a run depended on: what it takes to make it again.

    control, wrench : as given to `simulate`, arrays copied
    revision : of the model at the time
    """

    control: Control
    wrench: Control
    revision: int


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The nodes that were kept, and how each step went.

    K steps were made, and every ``record_every``-th node was kept: N of them, the start included.

    Attributes
    ----------
    model, integrator, dt, record_every : what produced it; dt in s
    t : (N,) times of the kept nodes, s
    q : (N, nq) configurations, rad, m, unit quaternions
    v : (N, nv) velocities, body axes for ball and free joints, rad/s, m/s
    p : (N, nv) momenta conjugate to v, kg m²/s, kg m/s
    energy : (N,) total energy, from the momentum: ½ pᵀM⁻¹p + potential, J
    momentum : (N, 6) total spatial momentum about the world's origin, angular then linear, world axes, kg m²/s, kg m/s
    iterations : (K,) residual evaluations of each step
    residual : (K,) residual left, in the units of the stopping rule
    status : (K,) see Status; 0 converged, 1 at the round-off floor, more where more was needed
    substeps : (K,) into how many parts each step was divided, as the last resort; 1 for a plain step
    energy_range : (2,) least and greatest energy over every step, kept or not, J
    momentum_range : (2, 6) least and greatest total momentum over every step
    peak_kinetic_energy : greatest kinetic energy over every step, J
    failure : the StepError that ended the run early, with the last good state, kept or not; None if it went to its end
    origin : what else it takes to make the run again; None if that is not known
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
    iterations: Array
    residual: Array
    status: Array
    substeps: Array
    energy_range: Array
    momentum_range: Array
    peak_kinetic_energy: float
    failure: StepError | None = None
    origin: Origin | None = None

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return (
            f"<Trajectory of '{self.model.name}': {len(self.iterations)} steps of {self.dt:g} s, {len(self)} kept, "
            f"energy error within {self.max_energy_error:.2g}{', cut short' if self.failure else ''}>"
        )

    @property
    def energy_error(self) -> Array:
        """(N,) (E − E₀) / peak kinetic energy of the run."""
        return (self.energy - self.energy[0]) / self._scale

    @property
    def max_energy_error(self) -> float:
        """Greatest |E − E₀| / peak kinetic energy, over every step, kept or not."""
        return float(np.abs(self.energy_range - self.energy[0]).max() / self._scale)

    @property
    def _scale(self) -> float:
        return self.peak_kinetic_energy or 1.0

    def poses(self, body: str | None = None, steps: slice | Array = slice(None)) -> Array:
        """World poses of one body, or of all, at the kept nodes.

        Parameters
        ----------
        body : name of a body; all bodies if None
        steps : which of the kept nodes

        Returns
        -------
        (N, 4, 4) for one body, (N, nb, 4, 4) for all: homogeneous matrices, body frame to world, m
        """
        chosen = slice(None) if body is None else self.model.body_index(body)
        return np.array([dynamics.poses(self.model, q)[chosen] for q in self.q[steps]])

    def accuracy(self, method: Literal["step", "order"] = "step") -> "Accuracy":
        """Estimate the error of the motion by a better run from the same start: conserved energy alone proves little.

        Parameters
        ----------
        method : "step", the same integrator at half the step; or "order", the next order at the same step

        Returns
        -------
        Accuracy: the estimated error at the kept nodes, until when it is small, and how it grows
        """
        from leastaction import analysis

        return analysis.accuracy(self, method)

    def audit(self) -> "Certificate":
        """Examine what the run kept of physics; see `leastaction.audit`."""
        from leastaction import analysis

        return analysis.audit(self)

    def report(self) -> str:
        """Say in a few lines how well physics was kept and what the steps needed."""
        counts = Counter(Status(s) for s in self.status.tolist())
        lines = [
            f"{self.model.name}: {len(self.iterations)} steps of {self.dt:g} s with {type(self.integrator).__name__}",
            f"  energy error     {self.max_energy_error:.3g} of the peak kinetic energy at most, "
            f"{self.energy_error[-1]:+.3g} at the end",
        ]
        if len(self.iterations) and self.iterations.any():
            lines.append(f"  evaluations      {self.iterations.mean():.2f} a step, {self.iterations.max()} at most")
            for status, count in sorted(counts.items(), reverse=True):
                lines.append(f"  {count:7d} steps    {status.meaning}")
        if self.failure:
            lines.append(f"  cut short: {self.failure}")
        return "\n".join(lines)

    def plot_energy(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw the energy error against time; see `leastaction.plots.energy`."""
        from leastaction import plots

        return plots.energy(self, ax=ax, **style)

    def plot_momentum(self, ax: "tuple[Axes, Axes] | None" = None, **style: Any) -> "tuple[Axes, Axes]":
        """Draw the total momentum against time; see `leastaction.plots.momentum`."""
        from leastaction import plots

        return plots.momentum(self, ax=ax, **style)

    def plot_state(self, ax: "tuple[Axes, Axes] | None" = None, **style: Any) -> "tuple[Axes, Axes]":
        """Draw the configuration against time; see `leastaction.plots.state`."""
        from leastaction import plots

        return plots.state(self, ax=ax, **style)

    def animate(self, path: str | Path = "run.gif", **options: Any) -> Path:
        """Draw a moving stick figure to a GIF; see `leastaction.plots.animate`."""
        from leastaction import plots

        return plots.animate(self, path, **options)

    def to_html(self, path: str | Path = "run.html", fps: float = 60.0) -> Path:
        """Write one HTML file that plays the run offline; see `leastaction.viewers.write_html`."""
        from leastaction import viewers

        return viewers.write_html(self, path, fps)

    def view(self, port: int = 8080, block: bool | None = None) -> "Viewer":
        """Show the run in the browser, on this machine only; see `leastaction.view`."""
        from leastaction import viewers

        return viewers.view(self, port, block)
