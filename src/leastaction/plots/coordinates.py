"""Names and units of a joint's coordinates, for the legends and axes of plots."""

from leastaction.model import BALL, FREE, Joint

Coordinate = tuple[str, str]  # name within the joint, empty if it has only one; and unit

QUATERNION = "unit quaternion"


def coordinates(joint: Joint) -> tuple[list[Coordinate], list[Coordinate]]:
    """Name the numbers of a joint's q, then those of its v, each with its unit; a joint of screws by its parts."""
    parts = joint.parts()
    if parts and parts[0].kind == FREE:
        return ([(name, "m") for name in ("x", "y", "z")] + [(name, QUATERNION) for name in ("qw", "qx", "qy", "qz")],
                [(name, "rad/s") for name in ("ωx", "ωy", "ωz")] + [(name, "m/s") for name in ("vx", "vy", "vz")])
    if parts and parts[0].kind == BALL:
        return [(name, QUATERNION) for name in ("w", "x", "y", "z")], [(name, "rad/s") for name in ("ωx", "ωy", "ωz")]
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
