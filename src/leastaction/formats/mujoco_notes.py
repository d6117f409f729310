"""What a compiled MuJoCo model has and our dynamics do not honour."""

from typing import Any

import numpy as np

from leastaction.formats.findings import Findings
from leastaction.formats.mujoco_equality import inert_tendons


def note_all(mj: Any, findings: Findings) -> None:
    """Note every element that does not act, or whose lack changes the model; except what joints and actuators say."""
    _note(mj, findings, "collision", "geom", (mj.geom_contype | mj.geom_conaffinity) != 0)
    _note(mj, findings, "mocap", "body", mj.body_mocapid >= 0)
    inert = inert_tendons(mj)
    _note(mj, findings, "inert", "tendon", inert)
    _note(mj, findings, "tendon", "tendon", ~inert)
    _note(mj, findings, "gravcomp", "body", mj.body_gravcomp != 0)
    _note(mj, findings, "flex", "flex", np.ones(mj.nflex, dtype=bool))
    if mj.nplugin:
        findings.note("plugin", f"{mj.nplugin} instances")
    for name in ("density", "viscosity"):
        value = getattr(mj.opt, name)
        if value:
            findings.note("fluid", f"{name} {value:g}")
    # Fields that only newer versions of MuJoCo have.
    poly = _any_dof(mj, _field(mj, "dof_dampingpoly", mj.nv)) | _field(mj, "jnt_stiffnesspoly", mj.njnt)
    _note(mj, findings, "nonlinear", "joint", poly | _field(mj, "jnt_springyield", mj.njnt))
    count = len(mj.actuator_trntype)
    geared = _field(mj, "actuator_armature", count) | _field(mj, "actuator_damping", count)
    _note(mj, findings, "transmission", "actuator", geared | _field(mj, "actuator_dampingpoly", count))


def _note(mj: Any, findings: Findings, word: str, kind: str, which: np.ndarray) -> None:
    """Note the elements of a kind whose entry in `which` is not zero."""
    for i in np.flatnonzero(which):
        name = getattr(mj, kind)(int(i)).name if kind != "flex" else ""
        findings.note(word, f"'{name}'" if name else f"{kind} {i}")


def _field(mj: Any, name: str, rows: int) -> np.ndarray:
    """Tell which rows (rows,) of a field are not zero; none of a field that this version does not have."""
    values = np.asarray(getattr(mj, name, np.zeros(rows)))
    return np.array([row.any() for row in values.reshape(rows, values.size // max(rows, 1))], dtype=bool)


def _any_dof(mj: Any, values: np.ndarray) -> np.ndarray:
    """Tell which joints (njnt,) have a degree of freedom whose value (nv,) is not zero."""
    found = np.zeros(mj.njnt, dtype=bool)
    found[mj.dof_jntid[np.flatnonzero(values)]] = True
    return found
