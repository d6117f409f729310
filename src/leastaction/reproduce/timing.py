"""The methods of the paper's Fig. 3 under its settings, and how they are timed."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

import numpy as np

import leastaction as la
from leastaction.integrators import Integrator
from leastaction.integrators.root_finders import RootFinder
from leastaction.reproduce.method import Residual, as_published

DT = 1e-3  # s, the paper's step in all experiments
RESIDUALS: dict[Residual, str] = {"svi": "SVI", "drnea": "DRNEA"}
FINDERS: dict[str, type[RootFinder]] = {
    "Newton": la.peers.DenseNewton, "Broyden": la.peers.Broyden, "RIQN": la.RIQN}
Pair = tuple[Residual, str]  # residual, and name of the root finder
PAIRS: list[Pair] = [(residual, finder) for residual in RESIDUALS for finder in FINDERS]
MOST_ITERATIONS = 50
Key = TypeVar("Key")  # of a job among those that are timed in turn


def label(pair: Pair) -> str:
    """Name a method."""
    return f"{RESIDUALS[pair[0]]} + {pair[1]}"


def method(pair: Pair, n: int) -> Integrator:
    """Set up a method as the authors did: ‖f‖ ≤ 1e-9 n, guess IG3; a step that does not converge is not accepted."""
    finder = FINDERS[pair[1]](tol=la.peers.Absolute(1e-9 * n), max_iterations=MOST_ITERATIONS)
    return as_published(finder, "dynamics", pair[0])


def chain(n: int, calm: float = 1.0, seed: int = 0) -> la.Model:
    """Make the paper's chain without gravity, angles random in ±π/2, and rates too, times ``calm``."""
    model = la.library.paper_chain(n, seed)
    model.gravity = (0.0, 0.0, 0.0)
    model.v0 = calm * model.v0
    return model


class Timing(NamedTuple):
    """CPU time of a frame, s; residual evaluations of a frame; frames made before the run ended or failed."""

    seconds: float
    evaluations: float
    frames: int


def timed(model: la.Model, integrator: Integrator, frames: int) -> Timing:
    """Time frames from the model's default state: one call of compiled code, without what comes before and after."""
    sim = la.Simulator(model, dt=DT, integrator=integrator)
    out = sim._engine.record(frames, every=frames, first=0)
    began = time.process_time()
    with suppress(la.StepError):
        sim._advance(frames, sim._engine.nothing, out, first=0, every=frames)
    seconds = time.process_time() - began
    made = max(sim.steps, 1)
    return Timing(seconds / made, float(out.iterations[:made].mean()), sim.steps)


def affordable(model: la.Model, integrator: Integrator, frames: int, budget: float, probe: int = 20) -> int:
    """Number of frames, at most ``frames``, that fit into the budget (s); whatever must be compiled is compiled."""
    timed(model, integrator, 2)
    one = timed(model, integrator, probe).seconds
    return int(np.clip(budget / one, probe, frames))


def repeated(jobs: Mapping[Key, tuple[la.Model, Integrator, int]], repeats: int) -> dict[Key, list[Timing]]:
    """Time every job (model, integrator, frames) in turn, several times over, so that a busy moment hits all alike."""
    found: dict[Key, list[Timing]] = {key: [] for key in jobs}
    for _ in range(repeats):
        for key, job in jobs.items():
            found[key].append(timed(*job))
    return found


# 97.5 % quantiles of Student's t for 1, 2, … degrees of freedom
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
_WORTH = np.linspace(0.0, 50.0, 501)  # evaluations that what is done once a frame may be worth


class Growth(NamedTuple):
    """Exponent of a power law, and half the width of its 95 % confidence interval."""

    exponent: float
    half_width: float

    def __str__(self) -> str:
        return f"{self.exponent:.2f} ± {self.half_width:.2f}"


def growth(n: Sequence[int], seconds: Sequence[float] | np.ndarray, spent: int = 1) -> Growth:
    """Fit seconds ~ nᵏ by least squares on logarithmic axes, so many parameters being ``spent`` besides a factor."""
    slope, left = _fit(n, seconds)
    freedom = len(n) - 1 - spent
    error = np.sqrt(left / freedom / (len(n) * np.var(np.log(n))))
    return Growth(slope, _STUDENT[min(freedom, len(_STUDENT)) - 1] * float(error))


def growth_of_evaluation(
    n: Sequence[int], seconds: Sequence[float], evaluations: Sequence[float]
) -> tuple[Growth, float]:
    """Fit the time of a frame ~ nᵏ (evaluations + c), and give k and c; of three points, with c = 0.

    What is done once a frame, such as factoring the mass matrix, is worth c evaluations: so sizes whose frames need few
    of them can be compared with others.
    """
    e = np.array(evaluations)
    if len(n) < 4:
        return growth(n, seconds / e), 0.0
    worth = min(_WORTH, key=lambda c: _fit(n, seconds / (e + c))[1])
    return growth(n, seconds / (e + worth), spent=2), float(worth)


def _fit(n: Sequence[int], seconds: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Exponent of the power law that fits best, and the sum of squares that it leaves of log(seconds)."""
    x, y = np.log(n), np.log(seconds)
    law = np.polyfit(x, y, 1)
    return float(law[0]), float(np.sum((y - np.polyval(law, x)) ** 2))
