"""What a model has and the dynamics do not honour: one rule, whether a file or a script described the model."""

import math
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from leastaction.errors import ModelWarning, warn_user
from leastaction.model.joint import Joint

if TYPE_CHECKING:
    from leastaction.model.body import Body
    from leastaction.model.model import Model

DO_NOT_ACT = {
    "limits": "joint limits",
    "effort": "limits of effort or velocity",
    "friction": "dry friction",
    "collision": "collision geometry",
    "actuators": "actuators",
    "mocap": "mocap bodies, which stand still",
    "inert": "tendons that exert no force of their own",
    "softness": "softness of equality constraints, which are exact here",
    "extensions": "elements of other programs",
    "mesh": "meshes that cannot be drawn",
}
CHANGE_THE_MODEL = {
    "mimic": "mimic joints",
    "equality": "equality constraints",
    "tendon": "tendons",
    "fluid": "forces of a fluid",
    "gravcomp": "gravity compensation",
    "nonlinear": "nonlinear springs and dampers",
    "transmission": "armature and damping of actuators",
    "flex": "deformable bodies",
    "plugin": "plugins",
}
WORDS = {**DO_NOT_ACT, **CHANGE_THE_MODEL}
DAMPING = "damping"  # silences the warning of damping.py; a word for simulations, not for files
STIFFNESS = "stiffness"  # runs what oscillation.py would refuse; likewise
COMMAND = "command"  # silences that actuators are given no command; likewise
KNOWN = DAMPING, STIFFNESS, COMMAND  # of a run that has started before
NAMED = 8  # actuators named in a sentence
PICTURES = "mesh"  # concerns what is drawn, not what moves
LIMITS, EFFORT, FRICTION = "limits", "effort", "friction"
SWITCHES = frozenset((LIMITS, FRICTION))  # what acts unless it is ignored

Found = dict[str, tuple[str, ...]]


def unhonoured(
    bodies: Iterable["Body"], notes: Mapping[str, Iterable[str]], off: frozenset[str], driven: Container[str] = ()
) -> Found:
    """List what does not act: a word of WORDS to the names of the elements it concerns.

    Limits and friction are read from the joints. Collision shapes are those that the file names; without a file, those
    in the geometry of the bodies that are not visual.

    Parameters
    ----------
    bodies : of the model
    notes : what its file has that bodies cannot hold, by word
    off : words of what is switched off
    driven : names of the bodies whose joints have actuators, on which effort limits act
    """
    found: dict[str, list[str]] = {LIMITS: [], EFFORT: [], FRICTION: [], "collision": []}
    for body in bodies:
        joint = body.joint
        if isinstance(joint, Joint):
            name = joint.name or body.name
            drive = [kind for kind in limited(joint) if kind != "position"
                     and (kind != "effort" or body.name not in driven)]
            if drive:
                found[EFFORT].append(f"'{name}' ({', '.join(drive)})")
            found[LIMITS] += [f"'{name}'"] * (has_limits(joint) and (LIMITS in off or not joint.limits_act))
            found[FRICTION] += [f"'{name}'"] * (has_friction(joint) and (FRICTION in off or not joint.friction_acts))
        found["collision"] += [f"'{body.name}'"] * sum(not shape.visual for shape in body.geometry)
    merged = {**found, **{word: names for word, names in notes.items() if word not in (LIMITS, EFFORT, FRICTION)}}
    return {word: tuple(merged[word]) for word in [*WORDS, *(merged.keys() - WORDS.keys())] if merged.get(word)}


def has_limits(joint: Joint) -> bool:
    """Tell whether the joint has a finite limit of its position."""
    return "position" in limited(joint)


def has_friction(joint: Joint) -> bool:
    """Tell whether the joint has dry friction."""
    return _any(joint.friction, lambda value: value != 0)


def has_damping(joint: Joint) -> bool:
    """Tell whether the joint has damping."""
    return _any(joint.damping, lambda value: value != 0)


def limited(joint: Joint) -> list[str]:
    """Name what the joint has a finite limit of: "position", "effort", "velocity"."""
    given = {"position": joint.limits, "effort": joint.effort_limit, "velocity": joint.velocity_limit}
    return [kind for kind, value in given.items() if value is not None and _any(value, math.isfinite)]


def accepted(ignore: str | Iterable[str], known: Iterable[str] = (*WORDS, DAMPING, STIFFNESS, COMMAND)) -> set[str]:
    """Return the words given for `ignore=`, or raise a ValueError that names the unknown ones."""
    words = {ignore} if isinstance(ignore, str) else set(ignore)
    unknown = sorted(map(str, words - set(known)))
    if unknown:
        raise ValueError(f"ignore= does not know {', '.join(map(repr, unknown))}; choose from {', '.join(known)}")
    return words


def acting(bodies: Iterable["Body"], ignore: str | Iterable[str]) -> set[str]:
    """Tell which of "limits" and "friction" are among the words of `ignore=`, and act in some joint of the bodies."""
    words = accepted(ignore) & SWITCHES
    joints = [body.joint for body in bodies if isinstance(body.joint, Joint)]
    found = {LIMITS: any(joint.limits_act and has_limits(joint) for joint in joints),
             FRICTION: any(joint.friction_acts and has_friction(joint) for joint in joints)}
    return {word for word in words if found[word]}


def counted(found: Mapping[str, tuple[str, ...]]) -> str:
    """Say in a line what was found: "joint limits (12), collision geometry (27)"."""
    return ", ".join(f"{WORDS.get(word, word)} ({len(names)})" for word, names in found.items())


def not_acting(found: Found, ignore: set[str]) -> str:
    """Return the sentence that names what does not act and was not accepted; empty if there is nothing."""
    silent = ignore | {EFFORT} if LIMITS in ignore else ignore
    still = {word: names for word, names in found.items() if word not in silent}
    if not still:
        return ""
    words = ", ".join(map(repr, still)) + ("," if len(still) == 1 else "")
    return f"kept but not acting: {counted(still)}; model.ignored names them, ignore=({words}) silences this"


def tell(model: "Model", ignore: str | Iterable[str]) -> None:
    """Warn of what does not act, once for a model; what was said when it was loaded is not said again.

    Parameters
    ----------
    model : that is about to be simulated
    ignore : words that silence the warning
    """
    words = accepted(ignore)
    if model.revision in model._told:
        return
    # What makes it another model was accepted when it was loaded, and pictures do not move.
    text = not_acting(model.ignored, words | CHANGE_THE_MODEL.keys() | {PICTURES})
    if text and _content(model) not in model._told:
        warn_user(f"{model.name}: {text}", ModelWarning)
    settled(model)


def settled(model: "Model") -> None:
    """Note that the user knows what of this model does not act."""
    model._told.update((model.revision, _content(model)))


def warn_once(model: "Model", key: object, text: str) -> None:
    """Warn of a model, unless that was done before under this key."""
    if key not in model._warned:
        warn_user(f"{model.name}: {text}", ModelWarning)
        model._warned.add(key)


def tell_command(model: "Model") -> None:
    """Warn, once for a model, that its actuators are given no command."""
    names = list(map(repr, model.actuators))
    listed = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    held = "model.command0" if model.command0.any() else "zero"
    warn_once(model, (COMMAND, model.revision), f"no command is given, so {held} is held by the actuators {listed}; "
              f"command=... drives them, ignore=('{COMMAND}',) silences this")


def _content(model: "Model") -> frozenset[tuple[str, str]]:
    return frozenset((word, name) for word, names in model.ignored.items() for name in names)


def _any(value: Any, test: Any) -> bool:
    """Tell whether a number, or one in nested tuples of numbers, passes a test; what is no number does not."""
    if isinstance(value, tuple):
        return any(_any(entry, test) for entry in value)
    return isinstance(value, float) and bool(test(value))
