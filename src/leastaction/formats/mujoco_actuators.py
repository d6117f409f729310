"""Actuators of a compiled MuJoCo model that act here: motors, and servos of position or rate, on hinges and slides.

MuJoCo's force is clip(gain × ctrl + b₀ + b₁ gear q + b₂ gear v, forcerange), and the joint feels gear times that. With
b₀ = 0 and no dynamics of its own that is a `Motor`, a `Velocity` or a `PD`, whose gains are those at the joint; its
``gear`` makes the command the number that MuJoCo takes.
"""

from typing import Any

import numpy as np

from leastaction.formats.convert import mujoco_names
from leastaction.formats.findings import Findings
from leastaction.model import PD, Actuator, Model, Motor, Velocity
from leastaction.model.drives import conflict

JOINT, JOINT_IN_PARENT = 0, 1  # mjtTrn
NONE, FIXED, AFFINE = 0, 0, 1  # mjtDyn and mjtBias, mjtGain, mjtBias
TWISTS = (0, 1)  # mjtJoint: free, ball
TRANSMISSIONS = ("joint", "joint", "slider-crank", "tendon", "site", "body")
SWITCHED_OFF = "switched off in the file"


def add_actuators(mj: Any, model: Model, findings: Findings, joints: list[str], wanted: bool) -> list[int]:
    """Add those actuators that act here to a model, and note the others. Gives where the commands of the former are.

    Parameters
    ----------
    mj : mujoco.MjModel
    model : with all bodies
    findings : takes what does not act
    joints : names of the joints
    wanted : whether any is to act
    """
    if not wanted:
        findings.ignore.add("actuators")  # nobody need be told
    body_of = {body.joint.name: body.name for body in model.bodies if body.joint.name}
    names = mujoco_names(mj, "actuator")
    found: dict[int, Actuator] = {}
    left_out: dict[int, str] = {}
    for a in range(len(mj.actuator_trntype)):  # nu counts commands, of which an actuator may have several
        why = _unlike(mj, a, joints, body_of) if wanted else "not wanted"
        if why:
            left_out[a] = why
        else:
            found[a] = _read(mj, a, body_of[joints[mj.actuator_trnid[a, 0]]])
    for joint in sorted({one.joint for one in found.values()}):
        group = {a: one for a, one in found.items() if one.joint == joint}
        if any(conflict(model, {names[a]: one for a, one in group.items()})):
            for a in group:
                del found[a]
                left_out[a] = "bounded beside another on the same joint"
    for a, why in sorted(left_out.items()):
        name = f"'{names[a]}'" if mj.actuator(a).name else f"actuator {a}"
        findings.note("actuators", f"{name} ({why})")
    for a, one in found.items():
        model.add_actuator(names[a], one)
    return [_command(mj, a) for a in found]


def _unlike(mj: Any, a: int, joints: list[str], body_of: dict[str, str]) -> str:
    """Say why an actuator cannot act here; nothing if it can."""
    kind, bias = int(mj.actuator_trntype[a]), mj.actuator_biasprm[a]
    if kind not in (JOINT, JOINT_IN_PARENT):
        return f"on a {TRANSMISSIONS[kind]}" if kind < len(TRANSMISSIONS) else "on no joint"
    j = mj.actuator_trnid[a, 0]
    if mj.jnt_type[j] in TWISTS:
        return "on a ball or free joint"
    if joints[j] not in body_of:
        return "on a joint that is welded"
    if mj.actuator_dyntype[a] != NONE:
        return "with dynamics of its own"
    if getattr(mj, "actuator_delay", np.zeros(a + 1))[a]:  # newer versions of MuJoCo have it
        return "with a delay"
    affine = mj.actuator_biastype[a] == AFFINE
    if mj.actuator_gaintype[a] != FIXED or mj.actuator_biastype[a] not in (NONE, AFFINE) or mj.actuator_plugin[a] >= 0:
        return "of a kind that is no servo"
    if affine and (bias[0] or bias[1] > 0 or bias[2] > 0):
        return "with a bias that is no servo's"
    if not mj.actuator_gear[a, 0] or not mj.actuator_gainprm[a, 0]:
        return "with no gain"
    if mj.actuator_forcelimited[a] and not _symmetric(mj.actuator_forcerange[a]):
        return "with a range of forces that is not symmetric"
    if mj.jnt_actfrclimited[j] and not _symmetric(mj.jnt_actfrcrange[j]):
        return "on a joint with a range of forces that is not symmetric"
    return SWITCHED_OFF if _off(mj, a) else ""


def _read(mj: Any, a: int, body: str) -> Actuator:
    """Read an actuator that acts here."""
    j, gear, gain = mj.actuator_trnid[a, 0], float(mj.actuator_gear[a, 0]), float(mj.actuator_gainprm[a, 0])
    affine = mj.actuator_biastype[a] == AFFINE
    kp, kd = (0.0 - gear * gear * mj.actuator_biasprm[a, 1:3] if affine else np.zeros(2)).tolist()  # no −0
    said: dict[str, Any] = {}
    if mj.actuator_ctrllimited[_command(mj, a)] and _clamps(mj):
        said["command_range"] = tuple(mj.actuator_ctrlrange[_command(mj, a)].tolist())
    if mj.actuator_forcelimited[a]:
        said["effort"] = abs(gear) * float(mj.actuator_forcerange[a, 1])
        if mj.jnt_actfrclimited[j]:
            said["effort"] = min(said["effort"], float(mj.jnt_actfrcrange[j, 1]))
    if kp:
        return PD(body, kp=kp, kd=kd, gear=kp / (gain * gear), **said)
    if kd:
        return Velocity(body, kd=kd, gear=kd / (gain * gear), **said)
    return Motor(body, gear=gain * gear, **said)


def _command(mj: Any, a: int) -> int:
    """Return the place of an actuator's command; in newer versions of MuJoCo one may have several."""
    return int(getattr(mj, "actuator_ctrladr", np.arange(a + 1))[a])


def _symmetric(ends: np.ndarray) -> bool:
    return bool(-ends[0] == ends[1] > 0)


def _off(mj: Any, a: int) -> bool:
    """Tell whether the file switches an actuator off, or all of them."""
    from mujoco import mjtDisableBit

    group = int(mj.actuator_group[a])
    return bool(mj.opt.disableflags & int(mjtDisableBit.mjDSBL_ACTUATION)
                or (0 <= group < 31 and mj.opt.disableactuator >> group & 1))


def _clamps(mj: Any) -> bool:
    from mujoco import mjtDisableBit

    return not mj.opt.disableflags & int(mjtDisableBit.mjDSBL_CLAMPCTRL)
