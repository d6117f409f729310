"""A verdict in words on a certificate's numbers."""

from typing import TYPE_CHECKING

from leastaction.integrators import Status

if TYPE_CHECKING:
    from leastaction.analysis.certificate import Certificate

MOMENTUM = 1e-9
RIGHT = 1e-2  # rad or m: an error of the motion worth a warning


def judge(c: "Certificate") -> tuple[bool, list[str]]:
    """Tell whether physics was kept, and why, a sentence each; the first sums up.

    The conserved quantities decide. Spot checks examine the step at three states only: the verdict mentions them, but
    they do not overrule the whole run.
    """
    found = c.run.judgement
    moment, about_momentum = _momentum(c)
    closed = c.loops is None or c.loops.kept
    kept = found.kept and moment and closed and c.run.failure is None
    sentences = [c.left_out.head(kept), *c.left_out.sentences(kept), found.text, found.remedy, about_momentum,
                 *(c.loops.sentences() if c.loops else []), _step(c), _solver(c)]
    if c.run.failure:
        sentences.append(f"The run ended early: {c.run.failure}")
    return kept, [text for text in [*sentences, *_motion(c)] if text]


def _momentum(c: "Certificate") -> tuple[bool, str]:
    worst = c.momentum_error
    if worst is None:
        return True, f"No momentum should be conserved: {c.momentum_reason}."
    if worst > MOMENTUM:
        return False, f"Momentum that should be conserved is not: it changes by {worst:.1e} of the largest possible."
    return True, "Momentum is conserved where it should be."


def _step(c: "Certificate") -> str:
    words = {"symplectic": c.symplecticity, "reversible": c.irreversibility}
    good = [word for word, spot in words.items() if spot is not None and spot.passed]
    bad = [word for word, spot in words.items() if spot is not None and not spot.passed]
    if bad and c.run.integrator.symplectic:
        return f"At a state of the run a spot check found the step not {' and not '.join(bad)}: it may be too long."
    if bad:
        return f"The step is not {' and not '.join(bad)}."
    if not c.run.integrator.symplectic:
        # At a gentle state a good explicit method may look symplectic without being so.
        return "At the states examined the step cannot be told from a symplectic one." if good else ""
    return f"The step is {' and '.join(good)}." if good else ""


def _solver(c: "Certificate") -> str:
    if not c.evaluations:
        return ""
    plain = sum(count for status, count in c.statuses.items() if status <= Status.FLOOR)
    others = sum(c.statuses.values()) - plain
    return "Every step converged." if not others else f"Every step converged, {others} of them with help."


def _motion(c: "Certificate") -> list[str]:
    if c.accuracy is None:
        return []
    most, end = c.accuracy.max_error, float(c.accuracy.t[-1])
    if most < RIGHT:
        return [f"The motion itself is right to about {most:.1e} rad or m."]
    doubling = c.accuracy.doubling_time
    chaos = "" if doubling is None else f" It is chaotic, any error doubling in about {doubling:.2g} s."
    until = c.accuracy.good_until(RIGHT)
    if until == 0.0:
        first = float(c.accuracy.t[1])
        return [f"The motion itself is off by more than {RIGHT:g} rad or m within the first {first:.3g} s of "
                f"{end:.4g} s: trust its statistics, not its path.{chaos}"]
    return [f"The motion itself is right to {RIGHT:g} rad or m until {until:.3g} s of {end:.4g} s;"
            f" beyond that, trust its statistics, not its path.{chaos}"]
