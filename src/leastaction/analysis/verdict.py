"""A verdict in words on a certificate's numbers."""

from typing import TYPE_CHECKING

from leastaction.integrators import Status, Variational

if TYPE_CHECKING:
    from leastaction.analysis.certificate import Certificate

COARSE = 1e-2  # energy error, of the peak kinetic energy, above which a step is too long to be trusted
DRIFT = 1e-6  # change of the energy along the trend, of the peak kinetic energy, that no use of a run will notice
SWING = 0.25  # part of the greatest error below which such a change is only the error's own swing
MOMENTUM = 1e-9
FORM = 1e-8  # what differences resolve, with room to spare
RETURN = 1e-8
RIGHT = 1e-2  # rad or m: an error of the motion worth a warning


def judge(c: "Certificate") -> tuple[bool, list[str]]:
    """Tell whether physics was kept, and why, a sentence each; the first sums up."""
    findings = [_energy(c), _momentum(c), _step(c), _solver(c)]
    kept = all(good for good, _ in findings) and c.run.failure is None
    head = "Physics is kept." if kept else "Physics is not kept."
    sentences = [head, *(text for _, text in findings if text)]
    if c.run.failure:
        sentences.append(f"The run ended early: {c.run.failure}")
    return kept, [*sentences, *_motion(c)]


def _energy(c: "Certificate") -> tuple[bool, str]:
    if c.energy_reason:
        return True, f"The energy is not meant to be constant: {c.energy_reason}."
    most, line = c.run.max_energy_error, c.energy_trend
    drifts = line is not None and line.found and abs(line.change) > SWING * most
    if line is not None and drifts and abs(line.change) > DRIFT:
        if most <= COARSE and _symplectic(c):
            # Such a step keeps an energy nearby for very long; a short run sees only a part of a swing about it.
            return True, (f"The energy moved by {line.change:+.1e} of the peak kinetic energy along a line over the "
                          "run; with a symplectic step that is part of a swing about its true value.")
        return False, f"The energy drifts, by {line.change:+.1e} of the peak kinetic energy over the run."
    if most > COARSE:
        return False, (f"The energy shows no clear trend, but is off by up to {100 * most:.3g} % of the peak kinetic "
                       "energy: take a smaller step or a higher order.")
    within = f"The energy stays within {most:.1e} of the peak kinetic energy"
    if line is None:
        return True, f"{within}; the run is too short to tell a trend."
    return True, f"{within}, drifting too slowly to matter." if drifts else f"{within}, without a trend."


def _symplectic(c: "Certificate") -> bool:
    form, back = c.symplecticity, c.irreversibility
    return isinstance(c.run.integrator, Variational) and form is not None and form < FORM and back is not None \
        and back < RETURN


def _momentum(c: "Certificate") -> tuple[bool, str]:
    worst = c.momentum_error
    if worst is None:
        return True, f"No momentum should be conserved: {c.momentum_reason}."
    if worst > MOMENTUM:
        return False, f"Momentum that should be conserved is not: it changes by {worst:.1e} of the largest possible."
    return True, "Momentum is conserved where it should be."


def _step(c: "Certificate") -> tuple[bool, str]:
    form, back = c.symplecticity, c.irreversibility
    words: list[str] = []
    faults: list[str] = []
    if form is not None:
        (words if form < FORM else faults).append("symplectic")
    if back is not None:
        (words if back < RETURN else faults).append("reversible")
    if not isinstance(c.run.integrator, Variational) and not faults:
        # A good explicit method may look so at a gentle state, without being it.
        return True, "At the states examined the step cannot be told from a symplectic one." if words else ""
    if faults:
        return False, f"The step is not {' and not '.join(faults)}."
    return True, f"The step is {' and '.join(words)}." if words else ""


def _solver(c: "Certificate") -> tuple[bool, str]:
    if not c.evaluations:
        return True, ""
    plain = sum(count for status, count in c.statuses.items() if status <= Status.FLOOR)
    others = sum(c.statuses.values()) - plain
    return True, "Every step converged." if not others else f"Every step converged, {others} of them with help."


def _motion(c: "Certificate") -> list[str]:
    if c.accuracy is None:
        return []
    most, end = c.accuracy.max_error, float(c.accuracy.t[-1])
    if most < RIGHT:
        return [f"The motion itself is right to about {most:.1e} rad or m."]
    doubling = c.accuracy.doubling_time
    chaos = "" if doubling is None else f" It is chaotic, any error doubling in about {doubling:.2g} s."
    until = c.accuracy.good_until(RIGHT)
    return [f"The motion itself is right to {RIGHT:g} rad or m until {until:.3g} s of {end:.4g} s;"
            f" beyond that, trust its statistics, not its path.{chaos}"]
