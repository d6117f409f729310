"""What a simulation gives back.

The file is long, as a `Trajectory` is one class of many short methods, each with its docstring; what it takes to draw,
examine or save one is in the modules that they import.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leastaction import dynamics
from leastaction.errors import StepError
from leastaction.integrators import Integrator, Status
from leastaction.model import Model, losses
from leastaction.simulation.judgement import Judgement, Looks, judge_energy
from leastaction.simulation.simulator import Simulator

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes

    from leastaction.analysis import Accuracy, Certificate, Multipliers
    from leastaction.viewers import Viewer

Array = np.ndarray
NO_EVENTS: Array = np.zeros(0, dtype=np.int64)
Control = Callable[[float, Array, Array], ArrayLike] | ArrayLike | None


class Origin(NamedTuple):
    """What else a run depended on: what it takes to make it again.

    control, wrench, command : as given to `simulate`, arrays copied, with a row a step if they change
    control_every : steps between two calls of functions for control and command
    revision : of the model at the time
    """

    control: Control
    wrench: Control
    command: Control
    control_every: int
    revision: int


class Tally(NamedTuple):
    """What the steps of a run needed, all in all.

    steps : number of steps made
    evaluations, most : residual evaluations of all steps, and of the dearest one
    divided : steps that had to be made in parts
    statuses : how often each Status came
    """

    steps: int
    evaluations: int
    most: int
    divided: int
    statuses: dict[Status, int]


class Node(NamedTuple):
    """One moment of a run.

    t : time, s
    q : (nq,) configuration, rad, m, unit quaternions
    v : (nv,) velocity, body axes for ball and free joints, rad/s, m/s
    p : (nv,) momentum conjugate to v, kg m²/s, kg m/s
    energy : total energy, J
    momentum : (6,) total spatial momentum about the world's origin, angular then linear, world axes
    """

    t: float
    q: Array
    v: Array
    p: Array
    energy: float
    momentum: Array


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The nodes that were kept, and how the steps between them went.

    K steps were made, and every ``record_every``-th node was kept: N of them, the start included. How the steps went is
    summed up in as many rows, S = K / record_every rounded up, so that memory grows with what is kept; with
    record_every = 1 each row is one step. ``tally`` counts every step.

    Attributes
    ----------
    model, integrator, dt, record_every : what produced it; dt in s
    t : (N,) times of the kept nodes, s
    q : (N, nq) configurations, rad, m, unit quaternions
    v : (N, nv) velocities, body axes for ball and free joints, rad/s, m/s
    p : (N, nv) momenta conjugate to v, kg m²/s, kg m/s
    energy : (N,) total energy, from the momentum: ½ pᵀM⁻¹p + potential, J
    momentum : (N, 6) total spatial momentum about the world's origin, angular then linear, world axes, kg m²/s, kg m/s
    ledger : (N, 6) what `dissipated` gives by name, J; (N, 0) where nothing takes or gives energy
    impulse : (N, 2 nv) impulses of limits, then of dry friction, since the kept node before, N m s, N s; (N, 0) where
        the model has neither
    iterations : (S,) residual evaluations from one kept node to the next, in total
    residual : (S,) greatest residual left there, in the units of the stopping rule
    status : (S,) the most that a step needed there, see Status; 0 converged, 1 at the round-off floor, more where more
        was needed
    substeps : (S,) into how many parts a step was divided at most, as the last resort; 1 for plain steps
    energy_range : (2,) least and greatest energy, J: over the kept nodes, every eighth step, and all steps in which
        some link turns by more than 0.05 rad
    momentum_range : (2, 6) least and greatest total momentum, likewise
    peak_kinetic_energy : greatest kinetic energy, J, at those steps
    looks : energies at evenly spaced steps of the run, by which it is judged; they do not depend on record_every
    tally : what all steps needed; it does not depend on record_every
    failure : the StepError that ended the run early, with the last good state, kept or not; None if it went to its end
    origin : what else it takes to make the run again; None if that is not known
    events : steps at which the number of redundant rows of loops changed, as kernels/constraints/step.py notes them;
        empty without loops
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
    energy_range: Array
    momentum_range: Array
    peak_kinetic_energy: float
    looks: Looks
    tally: Tally
    failure: StepError | None = None
    origin: Origin | None = None
    events: Array = field(default_factory=NO_EVENTS.copy)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return (
            f"<Trajectory of '{self.model.name}': {self.steps} steps of {self.dt:g} s, {len(self)} kept, "
            f"energy {'change' if self.judgement.reason or self.loses_energy else 'error'} within "
            f"{self.max_energy_error:.2g}"
            f"{', cut short' if self.failure else ''}>"
        )

    def _repr_html_(self) -> str:
        """Play the run in a notebook; see `leastaction.viewers.cell`."""
        from leastaction import viewers

        return viewers.cell(self)

    def _repr_png_(self) -> bytes:
        """Draw one moment of the run, for notebooks that become paper."""
        from leastaction import viewers

        return viewers.picture(self)

    @property
    def steps(self) -> int:
        """Number of steps made."""
        return self.tally.steps

    @property
    def dissipated(self) -> dict[str, Array]:
        """Where the energy went: (N,) energy that has left the mechanism since the start, J, by what took it.

        The keys are "damping", "actuators", "control", "dry_friction", "limits" and "recovery" (of joints that started
        beyond a limit). Each is the work of its own forces and impulses, none a remainder; what gives energy is
        negative. Explicit methods and the paper's peers keep no such account: where there is work, it is NaN.
        """
        if self.ledger.shape[1]:
            return {name: self.ledger[:, k] for k, name in enumerate(losses.ENTRIES)}
        unknown = not self.integrator.keeps_ledger and bool(self.judgement.reason)
        return {name: np.full(len(self), np.nan if unknown else 0.0) for name in losses.ENTRIES}

    @property
    def balance(self) -> Array:
        """(N,) energy, plus all that has left the mechanism, less the energy at the start, J: the step's own error.

        Of forces that nobody has noted, external wrenches and forces between bodies that do work such as thrusters, it
        has the work as well.
        """
        balance: Array = self.energy + self.ledger.sum(axis=1) - self.energy[0]
        return balance

    @property
    def loses_energy(self) -> bool:
        """Whether anything has taken energy from the mechanism, or given it some, by the ledger."""
        return bool(self.ledger.any())

    @property
    def max_balance_error(self) -> float:
        """Greatest size of the balance at a kept node, of the peak kinetic energy of the run."""
        return float(np.abs(self.balance).max() / self.energy_scale)

    @property
    def limit_force(self) -> Array:
        """(N − 1, nv) mean forces of joint limits from each kept node to the next, N m and N, impacts included."""
        return self._mean_force(0)

    @property
    def dry_friction(self) -> Array:
        """(N − 1, nv) mean forces of dry friction from each kept node to the next, N m and N."""
        return self._mean_force(1)

    def _mean_force(self, which: int) -> Array:
        nv = self.model.nv
        if not self.impulse.shape[1]:
            return np.zeros((len(self) - 1, nv))
        force: Array = self.impulse[1:, which * nv : (which + 1) * nv] / (self.dt * self.record_every)
        return force

    @property
    def energy_error(self) -> Array:
        """(N,) (E − E₀) / peak kinetic energy of the run."""
        error: Array = (self.energy - self.energy[0]) / self.energy_scale
        return error

    @property
    def max_energy_error(self) -> float:
        """Greatest size of `energy_error`, over all steps that `energy_range` is over."""
        return float(np.abs(self.energy_range - self.energy[0]).max() / self.energy_scale)

    @property
    def energy_scale(self) -> float:
        """What energy errors are relative to: the peak kinetic energy, J, or 1 J where nothing moved."""
        return self.peak_kinetic_energy or 1.0

    @cached_property
    def judgement(self) -> Judgement:
        """Whether the energy was kept: not how large its greatest error is, but whether it wanders."""
        return judge_energy(self)

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

    @cached_property
    def closure(self) -> Array:
        """(N,) how far the worst row of a loop is from closed at the kept nodes, m; zeros without loops."""
        from leastaction import analysis

        return analysis.reactions.openings(self)[0]

    @cached_property
    def multipliers(self) -> "Multipliers":
        """Impulses of the rows of loops and couplings in the discrete equations of the kept nodes, N s: Multipliers.

        They are not kept but found by making the run again, bit for bit, as `at` does. What loops carry at an instant,
        at every order, `reaction` gives.
        """
        from leastaction import analysis

        return analysis.multipliers(self)

    @cached_property
    def _row_forces(self) -> Array:
        """(N, m) forces of all rows at the kept nodes, N, of which `reaction` is made."""
        from leastaction import analysis

        return analysis.reactions.row_forces(self)

    @cached_property
    def flags(self) -> Array:
        """(N,) what was peculiar about the kept nodes, and the steps since the one before, see Flag; 0 for nothing."""
        from leastaction import analysis

        return analysis.singular.flags(self, analysis.singular.redundant_rows(self))

    def reaction(self, name: str) -> Array:
        """Give what a loop does to its body at the kept nodes.

        Parameters
        ----------
        name : of the loop, or of a coupling

        Returns
        -------
        (N, 6) wrench on ``body``: moment about its marker, then force, world axes, N m and N; of a coupling (N, 2):
        the forces on ``joint`` and on ``to``, N m or N
        """
        from leastaction import analysis

        return analysis.reactions.reaction(self, name)

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
        tally, found = self.tally, self.judgement
        lines = [
            f"{self.model.name}: {tally.steps} steps of {self.dt:g} s with {type(self.integrator).__name__}",
            f"  energy {'change' if found.reason or self.loses_energy else 'error '}    {self.max_energy_error:.3g} of "
            f"the peak kinetic energy at most, {self.energy_error[-1]:+.3g} at the end",
            *(f"    {name.replace('_', ' '):14} {lost[-1]:.4g} J" for name, lost in self.dissipated.items()
              if lost[-1] and self.loses_energy),
            *([f"  energy balance   {self.max_balance_error:.3g} of the peak kinetic energy at most, "
               f"{self.balance[-1] / self.energy_scale:+.3g} at the end",
               *(f"    not in it      {what}" for what in found.unnoted)]
              if self.loses_energy else []),
            *(f"                   {text}" for text in (found.text, found.remedy) if text),
        ]
        if tally.evaluations:
            lines.append(f"  evaluations      {tally.evaluations / tally.steps:.2f} a step, {tally.most} at most")
            for status, count in sorted(tally.statuses.items(), reverse=True):
                lines.append(f"  {count:7d} steps    {status.meaning}")
        if self.failure:
            lines.append(f"  cut short: {self.failure}")
        return "\n".join(lines)

    def at(self, t: float) -> Node:
        """Give the node nearest to a time, kept or not: what was left out is computed again, bit for bit.

        Parameters
        ----------
        t : time within the run, s
        """
        from leastaction.simulation import again

        return again.node_at(self, t)

    def _nearest(self, _step: int) -> Simulator:
        """Make a simulator at the latest node not after a step from which it is known how to go on."""
        return Simulator._at(self.model, self.dt, self.integrator, self.q[0], self.v[0])

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write the trajectory to an HDF5 file, which `leastaction.open` reads; see docs/files.md."""
        from leastaction import files

        return files.save(self, Path(path), overwrite)

    def to_csv(self, path: str | Path) -> Path:
        """Write t, q, v, p, energy and momentum of the kept nodes as a table with a header, numbers exact."""
        from leastaction import files

        return files.to_csv(self, Path(path))

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the kept nodes as a pandas table by t, s, with the columns of `to_csv`.

        Columns are named by kind and body, ``q link1``, ``v link1``, ``p link1``, or ``q trunk[0]`` and so on where a
        joint has several numbers; then ``energy`` and ``angular x`` to ``linear z`` of the total momentum.
        """
        from leastaction import files

        return files.to_pandas(self)

    def to_xarray(self) -> "xarray.Dataset":
        """Return the kept nodes as an xarray Dataset with named joints and units."""
        from leastaction import files

        return files.to_xarray(self)

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

        return viewers.view(self, port=port, block=block)
