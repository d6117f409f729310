"""Equality constraints of a compiled MuJoCo model, as loops and couplings. MuJoCo's are soft; ours are exact."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from leastaction.formats.findings import Findings
from leastaction.model import Ball, Fixed, Model

CONNECT, WELD, JOINT, TENDON = range(4)  # mjtEq; what comes after is of deformable bodies
SITE = 6  # mjtObj
POWERS = 5
SOLREF, SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)  # MuJoCo's defaults
STANDING = np.array([1.0, 0.0, 0.0, 0.0])


def add_equalities(
    mj: Any, model: Model, findings: Findings, shift: np.ndarray, bodies: Sequence[str], carried: Sequence[str],
    laid_flat: bool,
) -> None:
    """Add the equality constraints that are active.

    Parameters
    ----------
    mj : mujoco.MjModel
    model : that has its bodies
    findings : takes what does not act
    shift : (nbody, 3) from MuJoCo's body frames to ours, body axes, m
    bodies : names of the bodies; the first is the world
    carried : name of the body that each joint carries
    laid_flat : whether mj has another tree than the file, so that anchors it has worked out are wrong
    """
    taken: set[str] = set()
    for i in np.flatnonzero(mj.eq_active0).tolist():
        kind, data, name = int(mj.eq_type[i]), mj.eq_data[i], mj.equality(i).name or f"equality{i}"
        while name in taken:
            name += "_"
        taken.add(name)
        if kind not in (CONNECT, WELD, JOINT):
            findings.note("tendon" if kind == TENDON else "flex", f"equality '{name}'")
            continue
        if "equality" in findings.ignore:
            findings.note("equality", f"'{name}'")
            continue
        if not (np.allclose(mj.eq_solref[i], SOLREF) and np.allclose(mj.eq_solimp[i], SOLIMP)):
            findings.note("softness", f"'{name}'")
        if kind == JOINT:
            _couple(mj, model, i, name, carried)
            continue
        first, second = (int(ids[i]) for ids in (mj.eq_obj1id, mj.eq_obj2id))
        if mj.eq_objtype[i] == SITE:
            ends = [(int(mj.site_bodyid[s]), mj.site_pos[s], mj.site_quat[s]) for s in (first, second)]
        else:
            if laid_flat:
                findings.fault(None, f"equality '{name}' of bodies is not read in a file that is nested so deep; name "
                                     "sites")
                continue
            at, there = (data[3:6], data[:3]) if kind == WELD else (data[:3], data[3:6])
            turn = data[6:10] / np.linalg.norm(data[6:10]) if kind == WELD else STANDING
            ends = [(first, at, turn), (second, there, STANDING)]
        if kind == WELD and data[10] not in (0.0, 1.0):
            findings.note("softness", f"torquescale of '{name}'")
        swapped = ends[0][0] == 0  # the world is no body of ours
        (body, at, turn), (other, there, other_turn) = ends[::-1] if swapped else ends
        model.add_loop(
            name, bodies[body], bodies[other] if other else None,
            joint=Fixed() if kind == WELD and data[10] else Ball(), position=at - shift[body], quaternion=turn,
            other_position=there - shift[other], other_quaternion=other_turn)


def _couple(mj: Any, model: Model, i: int, name: str, carried: Sequence[str]) -> None:
    """Add a polynomial in q − qpos0 of two joints, or the place of one."""
    first, second = int(mj.eq_obj1id[i]), int(mj.eq_obj2id[i])
    own = float(mj.qpos0[mj.jnt_qposadr[first]])
    if second < 0:
        model.add_coupling(name, carried[first], None, mj.eq_data[i][:1], (own, 0.0))
        return
    reference = own, float(mj.qpos0[mj.jnt_qposadr[second]])
    model.add_coupling(name, carried[first], carried[second], mj.eq_data[i][:POWERS], reference)


def inert_tendons(mj: Any) -> np.ndarray:
    """Tell which tendons (ntendon,) exert no force of their own: no spring, damper, limit, friction or inertia."""
    acting = np.zeros(mj.ntendon, dtype=bool)
    for field in ("stiffness", "damping", "frictionloss", "armature", "limited", "stiffnesspoly", "dampingpoly"):
        values = np.asarray(getattr(mj, f"tendon_{field}", np.zeros(mj.ntendon)))
        acting |= values.reshape(mj.ntendon, -1).any(axis=1) if mj.ntendon else False
    return ~acting
