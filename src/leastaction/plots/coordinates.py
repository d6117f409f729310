"""Names and units of a joint's coordinates, for the legends and axes of plots."""

from leastaction.model import SCREW, Joint
from leastaction.model.joint import Coordinate


def coordinates(joint: Joint) -> tuple[list[Coordinate], list[Coordinate]]:
    """Name the numbers of a joint's q, then those of its v, each with its unit; a joint of screws by its parts."""
    if joint.coordinates is not None:
        of_q, of_v = joint.coordinates
        return list(of_q), list(of_v)
    parts = joint.parts()
    if any(part.kind != SCREW for part in parts):
        return [(str(k + 1), "") for k in range(joint.nq)], [(str(k + 1), "") for k in range(joint.nv)]
    turns = [bool(part.turn.any()) for part in parts]
    q = [(name, "rad" if turn else "m") for name, turn in zip(_names(turns), turns, strict=True)]
    return q, [(name, f"{unit}/s") for name, unit in q]


def _names(turns: list[bool]) -> list[str]:
    """Name screws by whether they turn: 1, 2 if all do the same, and else "turn" and "along", numbered if several."""
    if len(turns) == 1:
        return [""]
    if len(set(turns)) == 1:
        return [str(k + 1) for k in range(len(turns))]
    names = []
    for k, turn in enumerate(turns):
        number = str(turns[: k + 1].count(turn)) if turns.count(turn) > 1 else ""
        names.append(f"turn{number}" if turn else number or "along")
    return names
